// The view "All heads": every head in little, layers down, heads across; a press opens one.
(() => {
  const explorer = (window.explorer = window.explorer || {});
  const TITLES = {encoder: 'Encoder', decoder: 'Decoder', cross: 'Decoder to encoder'};
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

    const mark = which => stage.querySelectorAll('.thumb').forEach(button => {
      const isHere = button.dataset.openHead === which;
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
      attention.note(attention.held().which, attention.spellLook(look)); // the server draws what is left
    });
    const sayHidden = () => {
      const parts = data.stacks.filter(({hidden: names}) => names.length).map(({name, hidden: names, absorbed}) =>
        `${names.slice(0, 3).join(', ')}${names.length > 3 ? ' …' : ''}, which took ${explorer.percent(absorbed)} of what the tokens shown gave${data.stacks.length > 1 ? ` (${TITLES[name]})` : ''}`);
      const said = parts.length ? `Hidden: ${parts.join('; ')}, on average over the heads. ` : '';
      const cut = data.stacks.some(({borders}) => Math.max(...borders)) ? 'Lines across a head: where the second text begins, or what was written.' : '';
      hidden.replaceChildren(make('bdi', '', said), cut);
    };
    const draw = () => {
      const hue = hueOf();
      bar.querySelector('.pair').hidden = !data.isPair;
      dress(data.look);
      sayHidden();
      const drawn = data.stacks.map(({name, shape: [layers, heads, rows, columns], cells: packed, borders: [row, column]}) => {
        const cells = explorer.attentionMath.bytes(packed);
        const grid = make('div', 'all-grid', '', {role: 'group', 'aria-label': `${TITLES[name]}: layers down, heads across`});
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
        if (data.stacks.length > 1) section.append(make('h3', '', TITLES[name]));
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
      button.tabIndex = -1;
      next.tabIndex = 0;
      next.focus();
    });
    numbers.addEventListener('click', () => explorer.attentionTake.table(explorer.attentionTake.fileOf('all-heads', data.model), data.rows));
    save.addEventListener('click', () => {
      const [edge, size] = [40, 72];
      const width = Math.max(...data.stacks.map(({shape}) => shape[1])) * size + edge + 20;
      const height = data.stacks.reduce((sum, {shape}) => sum + shape[0] * size + 60, 40);
      const canvas = make('canvas');
      [canvas.width, canvas.height] = [width, height];
      const pen = canvas.getContext('2d');
      pen.fillStyle = '#fff';
      pen.fillRect(0, 0, width, height);
      pen.fillStyle = '#1b1f24';
      pen.font = '14px system-ui, sans-serif';
      pen.fillText(`${data.model}: layers down, heads across`, 12, 24);
      pen.imageSmoothingEnabled = false;
      let top = 40;
      data.stacks.forEach(({name, shape: [layers, heads, rows, columns], cells: packed, borders: [row, column]}) => {
        const cells = explorer.attentionMath.bytes(packed);
        pen.fillText(TITLES[name], 12, top + 18);
        for (let layer = 0; layer < layers; layer += 1) {
          pen.fillText(String(layer + 1), 14, top + 30 + layer * size + size / 2);
          for (let head = 0; head < heads; head += 1) {
            const one = make('canvas');
            paint(one, cells, (layer * heads + head) * rows * columns, rows, columns, [0, 114, 178]);
            const [left, above] = [edge + head * size, top + 28 + layer * size];
            if (rows && columns) pen.drawImage(one, left, above, size - 6, size - 6);
            pen.fillStyle = '#d55e00';
            if (row) pen.fillRect(left, above + row * (size - 6), size - 6, 1);
            if (column) pen.fillRect(left + column * (size - 6), above, 1, size - 6);
            pen.fillStyle = '#1b1f24';
            pen.strokeStyle = '#c5cad1';
            pen.strokeRect(left + 0.5, above + 0.5, size - 7, size - 7);
          }
        }
        top += layers * size + 60;
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
    attention.views.add({go: mark, dress});
    watch('value', read);
    read();
  };
})();
