// A head as a matrix: one row for each token that looks, one column for each that is looked at.
(() => {
  const explorer = (window.explorer = window.explorer || {});
  const READABLE = 16, LARGEST = 34, LEFT = 96, TOP = 84, EDGE = 14, TALLEST = 560;

  // Args: the stage to draw in; onCell({query, key} or null); onPin({query, key}) of a press; onWalk: the same, of keys.
  explorer.attentionMatrix = (stage, {onCell, onPin, onWalk}) => {
    const {make} = explorer;
    const sheet = make('div', 'matrix-sheet', '', {tabindex: '0', role: 'application',
      'aria-label': 'Matrix of weights. Shift with arrow keys walks the cells.'});
    const canvas = make('canvas', 'matrix-canvas', '', {'aria-hidden': 'true'});
    sheet.append(canvas);
    let shown = null, size = 1, isClose = false, least = 0, at = null, picture = null, isAsked = false;

    const measure = () => {
      const [rows, columns] = [shown.rows.length, shown.columns.length];
      const fit = Math.min((stage.clientWidth - LEFT - EDGE) / columns, (TALLEST - TOP - 2 * EDGE) / rows);
      size = Math.min(LARGEST, isClose ? Math.max(READABLE, fit) : fit);
      sheet.style.width = `${LEFT + columns * size}px`;
      sheet.style.height = `${TOP + rows * size + EDGE}px`;
    };
    // One pixel a weight; the eye tells square roots apart better.
    const render = () => {
      const hue = getComputedStyle(stage).getPropertyValue('--fill').trim();
      const [red, green, blue] = [1, 3, 5].map(start => parseInt(hue.slice(start, start + 2), 16));
      const {rows, columns, values, largest} = shown;
      picture = make('canvas');
      [picture.width, picture.height] = [Math.max(columns.length, 1), Math.max(rows.length, 1)];
      const pen = picture.getContext('2d');
      const image = pen.createImageData(picture.width, picture.height);
      for (let place = 0; place < values.length; place += 1) {
        const share = values[place] >= least ? Math.sqrt(values[place] / (largest || 1)) : 0;
        image.data.set([red, green, blue, Math.round(255 * share)], 4 * place);
      }
      pen.putImageData(image, 0, 0);
    };
    const ink = pen => {
      const style = getComputedStyle(stage);
      pen.font = '12px system-ui, sans-serif';
      pen.fillStyle = style.color;
      return style.getPropertyValue('--line-solid') || style.color;
    };
    const clip = (pen, text, width) => {
      let shown = text;
      while (shown.length > 1 && pen.measureText(shown).width > width) shown = shown.slice(0, -2) + '…';
      return shown;
    };
    const draw = (pen, left, top, width, height) => {
      const {rows, columns} = shown;
      const [x0, y0] = [LEFT - left, TOP - top];
      pen.save();
      pen.beginPath();
      pen.rect(LEFT, TOP, width, height);
      pen.clip();
      pen.imageSmoothingEnabled = size < 1;
      pen.drawImage(picture, x0, y0, columns.length * size, rows.length * size);
      pen.restore();
      ink(pen);
      pen.globalAlpha = 0.25;
      pen.strokeStyle = pen.fillStyle;
      pen.strokeRect(Math.max(x0, LEFT) - 0.5, Math.max(y0, TOP) - 0.5, Math.min(columns.length * size, width - LEFT) + 1,
                     Math.min(rows.length * size, height - TOP) + 1);
      pen.globalAlpha = 1;
      const every = Math.max(1, Math.ceil(12 / size)); // labels that find room
      rows.forEach((unit, place) => {
        const y = y0 + (place + 0.5) * size;
        if ((place % every && place !== at?.query) || y < TOP - 4 || y > height + 8) return;
        pen.textAlign = 'right';
        pen.textBaseline = 'middle';
        pen.fillText(clip(pen, unit.text, LEFT - 12), LEFT - 6, y);
      });
      columns.forEach((unit, place) => {
        const x = x0 + (place + 0.5) * size;
        if ((place % every && place !== at?.key) || x < LEFT - 4 || x > width + 8) return;
        pen.save();
        pen.translate(x, TOP - 6);
        pen.rotate(-Math.PI / 3);
        pen.textAlign = 'left';
        pen.textBaseline = 'middle';
        pen.fillText(clip(pen, unit.text, TOP - 8), 0, 0);
        pen.restore();
      });
      if (!at) return;
      pen.strokeStyle = getComputedStyle(stage).getPropertyValue('--pointed') || '#d55e00';
      pen.lineWidth = 1.5;
      const edge = Math.max(size, 5);
      pen.strokeRect(x0 + (at.key + 0.5) * size - edge / 2, y0 + (at.query + 0.5) * size - edge / 2, edge, edge);
      pen.globalAlpha = 0.5;
      pen.beginPath();
      pen.moveTo(LEFT, y0 + (at.query + 0.5) * size);
      pen.lineTo(x0 + at.key * size, y0 + (at.query + 0.5) * size);
      pen.moveTo(x0 + (at.key + 0.5) * size, TOP);
      pen.lineTo(x0 + (at.key + 0.5) * size, y0 + at.query * size);
      pen.stroke();
      pen.globalAlpha = 1;
    };
    const paint = () => {
      isAsked = false;
      if (!shown || !stage.clientWidth || !sheet.isConnected) return;
      measure();
      const ratio = Math.min(window.devicePixelRatio || 1, 2);
      const [width, height] = [stage.clientWidth, stage.clientHeight];
      Object.assign(canvas.style, {width: `${width}px`, height: `${height}px`});
      [canvas.width, canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
      const pen = canvas.getContext('2d');
      pen.scale(ratio, ratio);
      draw(pen, stage.scrollLeft, stage.scrollTop, width, height);
    };
    const ask = () => {
      if (isAsked) return;
      isAsked = true;
      requestAnimationFrame(paint);
    };

    const cellAt = event => {
      const box = canvas.getBoundingClientRect();
      const key = Math.floor((event.clientX - box.left - LEFT + stage.scrollLeft) / size);
      const query = Math.floor((event.clientY - box.top - TOP + stage.scrollTop) / size);
      const isIn = shown && query >= 0 && key >= 0 && query < shown.rows.length && key < shown.columns.length;
      return isIn && event.clientX - box.left >= LEFT && event.clientY - box.top >= TOP ? {query, key} : null;
    };
    sheet.addEventListener('pointermove', event => explorer.attention.isMoved(event) && onCell(cellAt(event)));
    sheet.addEventListener('pointerleave', () => onCell(null));
    sheet.addEventListener('click', event => onPin(cellAt(event)));
    sheet.addEventListener('keydown', event => {
      const [down, right] = {ArrowDown: [1, 0], ArrowUp: [-1, 0], ArrowRight: [0, 1], ArrowLeft: [0, -1]}[event.key] ?? [];
      if (down === undefined || !event.shiftKey) return;
      event.preventDefault();
      event.stopPropagation();
      const clamp = (value, most) => Math.min(Math.max(value, 0), most - 1);
      onWalk({query: clamp((at?.query ?? 0) + down, shown.rows.length), key: clamp((at?.key ?? 0) + right, shown.columns.length)});
    });
    stage.addEventListener('scroll', () => sheet.isConnected && ask());

    return {
      sheet, draw,
      paint: ask,
      show: (selected, threshold, close) => {
        [shown, least, isClose] = [selected, threshold, close];
        render();
        paint();
        const found = selected.values.reduce((count, value) => count + (value >= threshold && value > 0), 0);
        return {found, capped: 0};
      },
      point: cell => {
        at = cell;
        ask();
      },
    };
  };
})();
