// What is drawn of a head, to take away: the numbers as CSV, the drawing as PNG.
(() => {
  const explorer = (window.explorer = window.explorer || {});
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

  const csv = ({data, which, look, selected}) => {
    const {stack, layer, head} = explorer.attention.read(which);
    const about = [data.model, stack, layer, head, look.words ? 'words' : 'pieces'];
    const rows = [['model', 'stack', 'layer', 'head', 'level', 'query', 'query_token', 'key', 'key_token', 'weight']];
    selected.rows.forEach((row, at) => selected.columns.forEach((column, to) => {
      const weight = Number(selected.values[at * selected.columns.length + to].toFixed(6));
      rows.push([...about, row.tokens[0] + 1, row.text, column.tokens[0] + 1, column.text, weight]);
    }));
    table(fileOf(which, data.model), rows);
  };

  const png = ({data, which, look, selected, pinned}) => {
    const {make, attention, attentionMath} = explorer;
    const isMatrix = look.form === 'matrix' || selected.rows.length > MOST_LINES_ROWS;
    const [rows, columns] = [selected.rows.length, selected.columns.length];
    const size = isMatrix ? Math.max(1, Math.min(24, Math.floor(900 / Math.max(rows, columns)))) : 22;
    const [left, top] = [150, isMatrix ? 150 : 60];
    const width = isMatrix ? left + columns * size + 30 : 640;
    const height = top + (isMatrix ? rows : Math.max(rows, columns)) * size + 20;
    const canvas = make('canvas');
    const scale = height > 3000 ? 1 : 2;
    [canvas.width, canvas.height] = [Math.max(width, 560) * scale, height * scale];
    const pen = canvas.getContext('2d');
    pen.scale(scale, scale);
    pen.fillStyle = '#fff';
    pen.fillRect(0, 0, canvas.width, canvas.height);
    pen.fillStyle = '#1b1f24';
    pen.font = '14px system-ui, sans-serif';
    pen.fillText(`${data.model} · ${attention.words(which)}`, 12, 24);
    pen.font = '12px system-ui, sans-serif';
    pen.fillText(`strongest: ${explorer.percent(selected.largest)}${selected.hidden.length ? ` · hidden tokens took ${explorer.percent(selected.absorbed)}` : ''}`, 12, 42);
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
      pen.globalAlpha = 0.3;
      pen.strokeRect(left - 0.5, top - 0.5, columns * size + 1, rows * size + 1);
    } else {
      const isOf = place => {
        const [query, key] = [Math.floor(place / columns), place % columns];
        return !pinned || ('key' in pinned ? pinned.query === query && pinned.key === key : pinned.place === (pinned.side === 'query' ? query : key));
      };
      attentionMath.strongest(selected.values.map((weight, place) => (isOf(place) ? weight : 0)), least, 6000).places.forEach(place => {
        const share = selected.values[place] / (selected.largest || 1);
        const [from, to] = [top + (Math.floor(place / columns) + 0.5) * size, top + ((place % columns) + 0.5) * size];
        pen.globalAlpha = Math.max(0.06, share);
        pen.lineWidth = 0.6 + 3.2 * share;
        pen.beginPath();
        pen.moveTo(222, from);
        pen.bezierCurveTo(290, from, 350, to, 418, to);
        pen.stroke();
      });
    }
    save(`${fileOf(which, data.model)}.png`, canvas.toDataURL('image/png'));
  };

  explorer.attentionTake = {csv, png, save, table, fileOf};
})();
