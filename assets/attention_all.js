// The view "All heads": every head in little, layers down, heads across; a press opens one.
(() => {
  const explorer = (window.explorer = window.explorer || {});
  const LEAST_WIDTH = 560; // of the picture, in pixels
  const CONTROLS = `
    <label title="[CLS], [SEP] and their kin, which stand for no part of the text"><input type="checkbox" data-set="special"> Special tokens</label>
    <label title="Where heads of causal models rest when they have nothing to do"><input type="checkbox" data-set="first"> First token</label>
    <label title="A word's pieces together: weights to them summed, from them averaged"><input type="checkbox" data-set="words"> Whole words</label>
    <label class="pair">Texts <select data-set="pair"></select></label>`;

  explorer.attentionAll = (element, props, watch) => {
    const {make, attention} = explorer;
    element.classList.add('attention-all');
    const bar = make('div', 'head-bar');
    bar.innerHTML = CONTROLS;
    bar.querySelector('select').append(...attention.PAIRS.map(([key, words]) => make('option', '', words, {value: key})));
    const how = matchMedia('(hover: none)').matches ? 'Tap a head to open it.' : 'Point at a head, or walk them by arrow keys; Enter opens it.';
    const said = make('p', 'head-said', how, {role: 'status'});
    const stage = make('div', 'all-stage');
    const [save, numbers] = ['PNG', 'CSV of the heads'].map(words => make('button', '', words, {type: 'button'}));
    const take = make('div', 'take-away', '', {role: 'group', 'aria-label': 'Take it away'});
    const [link, code] = ['link', 'code'].map(what => make('button', '', `Copy ${what}`, {type: 'button', 'data-action': what}));
    take.append(numbers, save, link, code);
    const hidden = make('p', 'note');
    const hint = make('p', 'note', 'Rows: tokens that look, columns: what they look at, both in the order of the text. ' +
      'The stronger the colour, the more; each head is scaled by its strongest weight; of a long text, a cell is the largest weight of its block.');
    element.replaceChildren(bar, said, stage, hidden, hint, take);
    let value = null, data = null;

    const hueOf = () => {
      const hue = getComputedStyle(element).getPropertyValue('--fill').trim();
      return [1, 3, 5].map(start => parseInt(hue.slice(start, start + 2), 16));
    };
    const paint = (canvas, cells, start, rows, columns, [red, green, blue]) => {
      [canvas.width, canvas.height] = [columns, rows];
      const pen = canvas.getContext('2d');
      if (!rows || !columns) return; // all is hidden
      const image = pen.createImageData(columns, rows);
      let most = 1;
      for (let at = 0; at < rows * columns; at += 1) most = Math.max(most, cells[start + at]);
      for (let at = 0; at < rows * columns; at += 1) image.data.set([red, green, blue, Math.round(255 * cells[start + at] / most)], 4 * at);
      pen.putImageData(image, 0, 0);
    };

    const walkFrom = button => { // the grid is entered there by Tab
      button.parentElement.querySelectorAll('.thumb[tabindex="0"]').forEach(other => (other.tabIndex = -1));
      button.tabIndex = 0;
    };
    const mark = which => stage.querySelectorAll('.thumb').forEach(button => {
      const isHere = button.dataset.openHead === which;
      if (isHere) walkFrom(button);
      button.toggleAttribute('data-here', isHere);
      if (isHere) button.setAttribute('aria-current', 'true');
      else button.removeAttribute('aria-current');
    });
    const dress = text => {
      const look = attention.readLook(text);
      bar.querySelectorAll('[data-set]').forEach(control => (control.type === 'checkbox' ? (control.checked = look[control.dataset.set]) : (control.value = look.pair)));
    };
    bar.addEventListener('change', ({target}) => {
      const look = attention.readLook(attention.held().look);
      look[target.dataset.set] = target.type === 'checkbox' ? target.checked : target.value;
      attention.note(attention.held().which, attention.spellLook(look), view); // the server draws what is left
    });
    const sayHidden = () => {
      const parts = data.stacks.filter(({hidden: names}) => names.length).map(({name, hidden: names, absorbed}) =>
        `${names.slice(0, 3).join(', ')}${names.length > 3 ? ' …' : ''}, which took ${explorer.percent(absorbed)} of what the tokens shown gave${data.stacks.length > 1 ? ` (${explorer.attention.STACKS[name]})` : ''}`);
      const said = parts.length ? `Hidden: ${parts.join('; ')}, on average over the heads. ` : '';
      const cut = data.stacks.some(({borders}) => Math.max(...borders)) ? 'Lines across a head: where the second text begins, or what was written.' : '';
      const isBlind = data.isPair && attention.readLook(data.look).pair === '01' && data.stacks.some(({name}) => name === 'decoder');
      hidden.replaceChildren(make('bdi', '', said), isBlind ? `${explorer.attentionBlind} ` : '', cut);
    };
    const draw = () => {
      const hue = hueOf();
      bar.querySelector('.pair').hidden = !data.isPair;
      dress(data.look);
      sayHidden();
      const drawn = data.stacks.map(({name, shape: [layers, heads, rows, columns], cells: packed, borders: [row, column]}) => {
        const cells = explorer.attentionMath.bytes(packed);
        const grid = make('div', 'all-grid', '', {role: 'group', 'aria-label': `${explorer.attention.STACKS[name]}: layers down, heads across`});
        grid.style.setProperty('--heads', heads);
        Object.entries({row, column}).filter(([, share]) => share).forEach(([axis, share]) => {
          grid.classList.add(`has-${axis}`);
          grid.style.setProperty(`--${axis}`, `${100 * share}%`);
        });
        grid.append(make('span', 'corner', 'layer'), ...Array.from({length: heads}, (_, head) => make('span', 'across', String(head + 1))));
        for (let layer = 0; layer < layers; layer += 1) {
          grid.append(make('span', 'down', String(layer + 1)));
          for (let head = 0; head < heads; head += 1) {
            const which = attention.spell({stack: name, layer: layer + 1, head: head + 1});
            const button = make('button', 'thumb', '', {
              type: 'button', tabindex: layer + head ? '-1' : '0', 'data-open-head': which, 'aria-label': attention.words(which),
            });
            const canvas = make('canvas', '', '', {'aria-hidden': 'true'});
            paint(canvas, cells, (layer * heads + head) * rows * columns, rows, columns, hue);
            button.append(canvas);
            grid.append(button);
          }
        }
        const section = make('section');
        if (data.stacks.length > 1) section.append(make('h3', '', explorer.attention.STACKS[name]));
        section.append(grid);
        return section;
      });
      stage.replaceChildren(...drawn);
      mark(data.which);
      element.dataset.drawn = data.which;
    };

    const about = event => {
      const button = event.target.closest?.('.thumb');
      if (button) said.textContent = `${attention.words(button.dataset.openHead)}. A press opens it.`;
    };
    element.addEventListener('pointerover', about);
    element.addEventListener('focusin', about);
    element.addEventListener('keydown', event => {
      const button = event.target.closest('.thumb');
      if (!button) return;
      const all = [...button.parentElement.querySelectorAll('.thumb')];
      const heads = Number(button.parentElement.style.getPropertyValue('--heads'));
      const by = {ArrowLeft: -1, ArrowRight: 1, ArrowUp: -heads, ArrowDown: heads}[event.key];
      const next = all[all.indexOf(button) + by];
      if (!by) return;
      event.preventDefault();
      if (!next) return;
      walkFrom(next);
      next.focus();
    });
    numbers.addEventListener('click', () => explorer.attentionTake.table(explorer.attentionTake.fileOf('all-heads', data.model), data.rows));
    save.addEventListener('click', () => {
      const [left, right, line, room, cell] = [48, 12, 20, 6, 72]; // a cell with the room beside it
      const most = Math.max(...data.stacks.map(({shape}) => shape[1])); // heads of a layer
      const width = Math.max(LEAST_WIDTH, left + most * cell - room + right);
      const canvas = make('canvas');
      const pen = canvas.getContext('2d');
      const font = '14px system-ui, sans-serif';
      pen.font = font;
      const title = [...data.texts, `${data.model}: layers down, heads across`]
        .flatMap(text => explorer.attentionTake.linesOf(pen, text, width - 2 * right));
      const names = 2 * line + room; // of a stack and its heads, above them
      const stacks = data.stacks.reduce((sum, {shape}) => sum + names + shape[0] * cell + room, 0);
      const height = line * title.length + stacks + 2 * room;
      const scale = height > 3000 ? 1 : 2;
      [canvas.width, canvas.height] = [width * scale, height * scale];
      pen.scale(scale, scale);
      pen.fillStyle = '#fff';
      pen.fillRect(0, 0, width, height);
      pen.imageSmoothingEnabled = false;
      pen.fillStyle = '#1b1f24';
      pen.font = font; // a new size of the canvas forgets it
      title.forEach((words, place) => pen.fillText(words, right, line * (place + 1)));
      let top = line * title.length + room;
      data.stacks.forEach(({name, shape: [layers, heads, rows, columns], cells: packed, borders: [row, column]}) => {
        const cells = explorer.attentionMath.bytes(packed);
        const size = cell - room;
        pen.fillText(explorer.attention.STACKS[name], right, top + line);
        pen.textAlign = 'center';
        for (let head = 0; head < heads; head += 1) {
          pen.fillText(String(head + 1), left + head * cell + size / 2, top + 2 * line);
        }
        for (let layer = 0; layer < layers; layer += 1) {
          const above = top + names + layer * cell;
          pen.fillText(String(layer + 1), left / 2, above + size / 2 + 5);
          for (let head = 0; head < heads; head += 1) {
            const one = make('canvas');
            paint(one, cells, (layer * heads + head) * rows * columns, rows, columns, [0, 114, 178]);
            const before = left + head * cell;
            if (rows && columns) pen.drawImage(one, before, above, size, size);
            pen.fillStyle = '#d55e00';
            if (row) pen.fillRect(before, above + row * size, size, 1);
            if (column) pen.fillRect(before + column * size, above, 1, size);
            pen.fillStyle = '#1b1f24';
            pen.strokeStyle = '#c5cad1';
            pen.strokeRect(before + 0.5, above + 0.5, size - 1, size - 1);
          }
        }
        pen.textAlign = 'left';
        top += names + layers * cell + room;
      });
      explorer.attentionTake.save(`${explorer.attentionTake.fileOf('all-heads', data.model)}.png`, canvas.toDataURL('image/png'));
    });

    const read = () => {
      if (!props.value || props.value === value) return;
      value = props.value;
      data = JSON.parse(value);
      code.dataset.code = data.code;
      code.hidden = !data.code; // too long to travel with the page
      draw();
      element.explorer = data;
    };
    const view = {go: mark, dress};
    attention.views.add(view);
    watch('value', read);
    read();
  };
})();
