// What is drawn of a head, to take away: the numbers as CSV, the drawing as PNG.
(() => {
  const explorer = (window.explorer = window.explorer || {});
  const MOST_NAMED = 4; // heads in the name of a file
  const NUMBER_WIDTH = 46; // of a head's number, with its line beside it
  const LINE = 16; // of the sentence above a picture, in pixels
  const MOST_LINES_ROWS = 200; // a longer picture is a matrix

  const save = (name, href) => Object.assign(document.createElement('a'), {download: name, href}).click();
  const slug = name => name.slice(0, 40).replace(/[^A-Za-z0-9.]+/g, '-').replace(/^[-.]+|[-.]+$/g, ''); // as taking_away.py
  const fileOf = (which, model) => ['attention', which, slug(model)].filter(Boolean).join('-');
  // A spreadsheet runs what starts like this as a formula; an apostrophe makes it text (analysis/exporting.py).
  const cell = text => {
    const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
    return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };

  const table = (file, rows) => {
    const lines = rows.map(row => row.map(part => (typeof part === 'number' ? part : cell(part ?? ''))).join(','));
    const url = URL.createObjectURL(new Blob(['\ufeff' + lines.join('\r\n') + '\r\n'], {type: 'text/csv'}));
    save(`${file}.csv`, url);
    setTimeout(() => URL.revokeObjectURL(url), 10_000);
  };

  // One head, or those over each other.
  const drawnOf = ({several, values}, head) => several ?? [{head, values}];
  const nameOf = (which, {several}) => {
    if (!several) return which;
    return which.replace(/[0-9]+$/, several.length > MOST_NAMED ? `${several.length}-heads` : several.map(({head}) => head).join('-'));
  };

  const csv = ({data, which, look, selected}) => {
    const {stack, layer, head} = explorer.attention.read(which);
    const rows = [['model', 'stack', 'layer', 'head', 'level', 'query', 'query_token', 'key', 'key_token', 'weight']];
    drawnOf(selected, head).forEach(({head: number, values}) => {
      const about = [data.model, stack, layer, number, look.words ? 'words' : 'pieces'];
      selected.rows.forEach((row, at) => selected.columns.forEach((column, to) => {
        const weight = Number(values[at * selected.columns.length + to].toPrecision(7)); // of float32
        rows.push([...about, row.tokens[0] + 1, row.text, column.tokens[0] + 1, column.text, weight]);
      }));
    });
    table(fileOf(nameOf(which, selected), data.model), rows);
  };

  const MOST_LINES = 3, MOST_CHARACTERS = 1000; // of a text above a picture
  // A text in lines of so many pixels, broken at spaces where there are some; what is too long ends in dots.
  const linesOf = (pen, text, width) => {
    const lines = [];
    const rest = [...text.replace(/[^\S\u00a0]+/g, ' ').trim().slice(0, MOST_CHARACTERS)];
    while (rest.length) {
      let end = rest.length;
      while (end > 1 && pen.measureText(rest.slice(0, end).join('')).width > width) end -= 1;
      if (end === rest.length) return [...lines, rest.join('')];
      if (lines.length === MOST_LINES - 1) return [...lines, `${rest.slice(0, end - 2).join('').trimEnd()} …`];
      const space = rest.lastIndexOf(' ', end);
      lines.push(rest.splice(0, space > 0 ? space : end).join(''));
      if (rest[0] === ' ') rest.shift();
    }
    return lines;
  };

  // Which shade of a matrix is which weight; the caller's fill.
  const STEPS = 40, STEP = 2; // in pixels
  const paintScale = (pen, x, y, largest) => {
    const shade = pen.fillStyle;
    pen.textAlign = 'left';
    for (let step = 0; step < STEPS; step++) {
      pen.globalAlpha = Math.sqrt(step / (STEPS - 1));
      pen.fillRect(x + 24 + step * STEP, y - 5, STEP, 10);
    }
    pen.globalAlpha = 1;
    pen.fillStyle = '#1b1f24';
    pen.fillText('0 %', x, y);
    pen.fillText(explorer.percent(largest), x + 28 + STEPS * STEP, y);
    pen.fillStyle = shade;
  };

  // What is pinned in a matrix: a cell with the way to its names, or a row or column as a whole.
  const paintPinned = (pen, {query, key, side, place}, {left, top, size, rows, columns}) => {
    pen.globalAlpha = 1;
    pen.strokeStyle = '#d55e00';
    pen.lineWidth = 1.5;
    if (side === 'query') return pen.strokeRect(left, top + place * size, columns * size, size);
    if (side === 'key') return pen.strokeRect(left + place * size, top, size, rows * size);
    const [x, y, edge] = [left + (key + 0.5) * size, top + (query + 0.5) * size, Math.max(size, 5)];
    pen.strokeRect(x - edge / 2, y - edge / 2, edge, edge);
    pen.globalAlpha = 0.5;
    pen.beginPath();
    pen.moveTo(left, y);
    pen.lineTo(x - edge / 2, y);
    pen.moveTo(x, top);
    pen.lineTo(x, y - edge / 2);
    pen.stroke();
  };

  const png = ({data, which, look, selected, pinned}) => {
    const {make, attention, attentionMath} = explorer;
    const isMatrix = look.form === 'matrix' || selected.rows.length > MOST_LINES_ROWS;
    const several = isMatrix ? null : selected.several;
    const [rows, columns] = [selected.rows.length, selected.columns.length];
    const size = isMatrix ? Math.max(1, Math.min(24, Math.floor(900 / Math.max(rows, columns)))) : 22;
    const left = 150;
    const width = Math.max(560, isMatrix ? left + columns * size + 30 : Math.max(640, 24 + NUMBER_WIDTH * (several?.length ?? 0)));
    const canvas = make('canvas');
    const pen = canvas.getContext('2d');
    pen.font = '12px system-ui, sans-serif';
    const said = explorer.attentionSay({...selected, several}, pinned).map(part => part.textContent ?? part).join('');
    const hidden = selected.hidden.length ? ` · hidden tokens took ${explorer.percent(selected.absorbed)}` : '';
    const elsewhere = selected.elsewhere ? ` · the text left out took ${explorer.percent(selected.elsewhere)}` : '';
    const lines = linesOf(pen, said + hidden + elsewhere, width - 24);
    const under = 62 + LINE * (lines.length - 1); // what the colours are
    const top = under + (isMatrix ? 88 : several ? 22 : -2);
    const height = top + (isMatrix ? rows : Math.max(rows, columns)) * size + 20;
    const scale = height > 3000 ? 1 : 2;
    [canvas.width, canvas.height] = [width * scale, height * scale];
    pen.scale(scale, scale);
    pen.fillStyle = '#fff';
    pen.fillRect(0, 0, canvas.width, canvas.height);
    pen.fillStyle = '#1b1f24';
    pen.font = '14px system-ui, sans-serif';
    const words = attention.words(which);
    pen.fillText(`${data.model} · ${several ? words.replace(/head [0-9]+$/, 'heads by colour') : words}`, 12, 24);
    pen.font = '12px system-ui, sans-serif';
    lines.forEach((line, place) => pen.fillText(line, 12, 42 + LINE * place));
    const every = Math.ceil(12 / size);
    pen.textBaseline = 'middle';
    selected.rows.forEach((unit, place) => {
      if (place % every) return;
      pen.textAlign = 'right';
      pen.fillText(unit.text.slice(0, 22), isMatrix ? left - 6 : 214, top + (place + 0.5) * size);
    });
    selected.columns.forEach((unit, place) => {
      if (place % every) return;
      pen.save();
      if (isMatrix) {
        pen.translate(left + (place + 0.5) * size, top - 6);
        pen.rotate(-Math.PI / 3);
      } else pen.translate(426, top + (place + 0.5) * size);
      pen.textAlign = 'left';
      pen.fillText(unit.text.slice(0, 22), 0, 0);
      pen.restore();
    });
    pen.fillStyle = pen.strokeStyle = '#0072b2';
    const least = attention.THRESHOLDS[attention.leastOf(look)];
    if (isMatrix) {
      selected.values.forEach((weight, place) => {
        if (weight < least) return;
        pen.globalAlpha = Math.sqrt(weight / (selected.largest || 1));
        pen.fillRect(left + (place % columns) * size, top + Math.floor(place / columns) * size, size, size);
      });
      paintScale(pen, 12, under, selected.largest);
      pen.globalAlpha = 0.3;
      pen.strokeRect(left - 0.5, top - 0.5, columns * size + 1, rows * size + 1);
      if (pinned) paintPinned(pen, pinned, {left, top, size, rows, columns});
    } else {
      const isOf = place => {
        const [query, key] = [Math.floor(place / columns), place % columns];
        return !pinned || ('key' in pinned ? pinned.query === query && pinned.key === key : pinned.place === (pinned.side === 'query' ? query : key));
      };
      const style = getComputedStyle(document.querySelector('.attention-head')); // the colours on white
      let at = 12; // of the heads' numbers, in their colours
      drawnOf(selected).forEach(({head, values}, order, {length}) => {
        if (several) {
          pen.strokeStyle = pen.fillStyle = style.getPropertyValue(explorer.attentionSeveral.hueOf(head));
          pen.setLineDash(explorer.attentionSeveral.dashOf(head));
          pen.globalAlpha = 1;
          pen.textAlign = 'left';
          pen.lineWidth = 3;
          pen.fillText(String(head), at, under);
          pen.beginPath();
          pen.moveTo(at + 18, under);
          pen.lineTo(at + 38, under);
          pen.stroke();
          at += NUMBER_WIDTH;
        }
        const aside = (order - (length - 1) / 2) * explorer.attentionSeveral.apart(length);
        attentionMath.strongest(values.map((weight, place) => (isOf(place) ? weight : 0)), least, 6000).places.forEach(place => {
          const share = values[place] / (selected.largest || 1);
          const [from, to] = [top + aside + (Math.floor(place / columns) + 0.5) * size, top + aside + ((place % columns) + 0.5) * size];
          pen.globalAlpha = Math.max(0.06, share);
          pen.lineWidth = 0.6 + 3.2 * share;
          pen.beginPath();
          pen.moveTo(222, from);
          pen.bezierCurveTo(290, from, 350, to, 418, to);
          pen.stroke();
        });
      });
    }
    save(`${fileOf(isMatrix ? which : nameOf(which, selected), data.model)}.png`, canvas.toDataURL('image/png'));
  };

  // What view_attention (analysis/attention_view.py) takes for heads as they are drawn; it counts from 0.
  const viewOf = (which, look, several) => {
    const {stack, layer, head} = explorer.attention.read(which);
    const average = head === 'rollout' ? 'rollout' : {'11': 'both', '10': 'layers', '01': 'heads'}[`${+(layer === 'mean')}${+(head === 'mean')}`];
    return [
      `stack='${stack}'`,
      Number(layer) > 0 && `layer=${layer - 1}`,
      Number(head) > 0 && `head=${several ? 'head' : head - 1}`,
      average && `average='${average}'`,
      look.words && "level='words'",
      !look.special && 'hide_special=True',
    ].filter(Boolean).join(', ');
  };
  const code = ({data, which, look, selected: {several}}) => {
    const numbers = several?.map(({head}) => head - 1).join(', ');
    return data.code.replace(/^result = (view_attention\(.*)@view@\)$/m, (_, call) => {
      const one = `${call}${viewOf(which, look, several)})`;
      return `result = ${several ? `tuple(${one} for head in (${numbers}))` : one}`;
    });
  };

  explorer.attentionTake = {csv, png, code, save, slug, table, fileOf, linesOf};
})();
