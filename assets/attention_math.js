// Attention as numbers: unpacked, by words or pieces, some tokens and texts left out. Nothing here touches the page.
(() => {
  const explorer = (window.explorer = window.explorer || {});

  // Square roots in 16 bits, row by row, as explorer/analysis/attention_packing.py writes them.
  const bytes = text => Uint8Array.from(atob(text), letter => letter.charCodeAt(0));
  const unpack = (text, most) => {
    const roots = new Uint16Array(bytes(text).buffer);
    const weights = new Float32Array(roots.length);
    for (let index = 0; index < roots.length; index += 1) weights[index] = (roots[index] / most) ** 2;
    return weights;
  };

  // A token arrives as [text, word, segment, is special, how it reads]. A unit is what is drawn: a token, or those of
  // one word.
  const units = (tokens, byWords) => {
    const made = [];
    tokens.forEach(([text, word, segment, special, surface], index) => {
      const last = made.at(-1);
      if (byWords && word !== null && last && last.word === word && last.segment === segment) {
        last.text += surface;
        last.tokens.push(index);
      } else {
        const shown = byWords && word !== null ? surface : text.replace(/^[Ġ▁]/, '␣');
        made.push({text: shown || text, word, segment, special: Boolean(special), tokens: [index]});
      }
    });
    made.forEach((unit, place) => (unit.place = place));
    return made;
  };

  // To the pieces of a word summed, from them averaged (Clark et al. 2019): each row still sums to 1.
  const gather = (weights, columns, rows, keys) => {
    const made = new Float32Array(rows.length * keys.length);
    const owner = new Int32Array(columns);
    keys.forEach((unit, place) => unit.tokens.forEach(token => (owner[token] = place)));
    rows.forEach((unit, place) => {
      const start = place * keys.length;
      unit.tokens.forEach(token => {
        for (let key = 0; key < columns; key += 1) made[start + owner[key]] += weights[token * columns + key] / unit.tokens.length;
      });
    });
    return made;
  };

  // What of a head is drawn, and what share of it went to what is hidden.
  const select = (weights, queries, keys, look, stack = 'encoder') => {
    const allRows = units(queries, look.words), allColumns = units(keys, look.words);
    const whole = look.words ? gather(weights, keys.length, allRows, allColumns) : weights;
    const hides = unit => (!look.special && unit.special) || (!look.first && unit.place === 0);
    const hasBoth = all => [0, 1].every(text => all.some(({segment}) => segment === text));
    const ofPair = look.pair && hasBoth(allRows) && hasBoth(allColumns); // the choice stays when the pair goes
    const [from, to] = ofPair ? [...look.pair].map(Number) : [null, null];
    const isWritten = unit => look.upto == null || unit.tokens.at(-1) < look.upto; // no row of a decoder changes later
    const rows = allRows.filter(unit => !hides(unit) && (from === null || unit.segment === from) && (stack === 'encoder' || isWritten(unit)));
    const columns = allColumns.filter(unit => !hides(unit) && (to === null || unit.segment === to) && (stack !== 'decoder' || isWritten(unit)));
    const hidden = allColumns.filter(hides);
    const apart = allColumns.filter(unit => !hides(unit) && to !== null && unit.segment !== to); // the text of a pair not looked at here
    const width = allColumns.length;
    const values = new Float32Array(rows.length * columns.length);
    let largest = 0, absorbed = 0, elsewhere = 0;
    rows.forEach((row, place) => {
      const start = row.place * width;
      columns.forEach((column, at) => {
        const value = whole[start + column.place];
        values[place * columns.length + at] = value;
        if (value > largest) largest = value;
      });
      hidden.forEach(unit => (absorbed += whole[start + unit.place]));
      apart.forEach(unit => (elsewhere += whole[start + unit.place]));
    });
    const names = [...new Set(hidden.map(unit => unit.text))];
    const isSeen = (row, column) => stack !== 'decoder' || column.tokens[0] <= row.tokens.at(-1); // a decoder sees nothing after a token
    const possible = rows.reduce((sum, row) => sum + columns.filter(column => isSeen(row, column)).length, 0);
    const [ofHidden, ofApart] = [absorbed, elsewhere].map(sum => (rows.length ? sum / rows.length : 0));
    return {rows, columns, values, possible, largest, hidden: names, absorbed: ofHidden, elsewhere: ofApart};
  };

  // The strongest weights from a least one on, as places in the values, strongest first, so many at most.
  const strongest = (values, least, most) => {
    let places = [];
    for (let place = 0; place < values.length; place += 1) if (values[place] >= least && values[place] > 0) places.push(place);
    const found = places.length;
    if (found > most) { // the bound that leaves about so many, by counting in 4,096 classes of the square root
      const counts = new Uint32Array(4097);
      places.forEach(place => (counts[Math.floor(Math.sqrt(values[place]) * 4096)] += 1));
      let bound = 4096;
      for (let sum = counts[bound]; bound > 0 && sum + counts[bound - 1] <= most; sum += counts[bound]) bound -= 1;
      places = places.filter(place => Math.floor(Math.sqrt(values[place]) * 4096) >= bound);
    }
    return {places: places.sort((one, other) => values[other] - values[one]), found};
  };

  explorer.attentionMath = {bytes, unpack, units, gather, select, strongest};
})();
