// The view "Switch heads off": a map of switches. Which are off stands in a hidden box, which links and the server read.
(() => {
  const explorer = (window.explorer = window.explorer || {});
  const REST_MS = 180; // several presses become one question

  explorer.switches = (element, props, watch) => {
    let data = null;
    const {rest} = explorer.resting(REST_MS);
    const box = () => document.querySelector('#heads-off textarea, #heads-off input');
    const off = new Set();

    const put = () => {
      rest(() => {
        const text = all().filter(word => off.has(word)).join(',');
        if (!box() || box().value === text) return;
        box().value = text;
        box().dispatchEvent(new Event('input', {bubbles: true}));
      });
      show();
    };
    const all = () => data.stacks.flatMap(({name, layers, heads}) => Array.from(
      {length: layers * heads}, (_, at) => `${name}-${Math.floor(at / heads) + 1}-${(at % heads) + 1}`));
    const read = () => {
      off.clear();
      if (!data) return;
      const [{name: first}] = data.stacks; // which a link written by hand need not name: 3-5, or 3 for a whole layer
      const words = (box()?.value ?? '').split(/[\s,;]+/).filter(Boolean).flatMap(word => [word, `${first}-${word}`]);
      all().filter(head => words.some(word => head === word || head.startsWith(`${word}-`) && /\d$/.test(word)))
        .forEach(head => off.add(head));
      show();
    };
    const flip = (words, value) => {
      words.forEach(word => (value ? off.add(word) : off.delete(word)));
      put();
    };
    const flipAll = words => flip(words, !words.every(word => off.has(word)));

    const show = () => element.querySelectorAll('[data-cell]').forEach(cell => {
      const isOff = off.has(cell.dataset.cell);
      cell.setAttribute('aria-pressed', String(isOff));
      cell.textContent = isOff ? '✕' : '';
    });

    const draw = () => {
      const make = explorer.make;
      const root = make('div', 'off-map');
      const bar = make('div', 'off-bar');
      bar.append(...[['on', 'All on'], ['off', 'All off'], ['turn', 'Turn round: all but these']].map(
        ([name, label]) => make('button', '', label, {type: 'button', 'data-do': name})));
      root.append(bar);
      const most = Math.max(0, ...Object.values(data.effects).flat(2).filter(value => value !== null));
      data.stacks.forEach(({name, layers, heads}) => {
        if (data.stacks.length > 1) root.append(make('h3', '', explorer.attention.STACKS[name]));
        const grid = make('div', 'found-grid', '', {role: 'group', 'aria-label': `${explorer.attention.STACKS[name]}: layers down, heads across`});
        grid.style.setProperty('--heads', heads);
        grid.append(make('span', 'corner', 'Layer'));
        for (let head = 1; head <= heads; head += 1) grid.append(make('span', '', String(head)));
        for (let layer = 1; layer <= layers; layer += 1) {
          grid.append(make('button', 'whole-layer', String(layer), {type: 'button', 'data-layer': `${name}-${layer}`, title: `Switch all of layer ${layer}`}));
          for (let head = 1; head <= heads; head += 1) {
            const effect = data.effects[name]?.[layer - 1][head - 1] ?? null;
            const words = data.titles[name]?.[layer - 1][head - 1];
            const title = `Layer ${layer} head ${head}${words ? `; ${words}` : ''}`;
            const cell = make('button', '', '', {type: 'button', 'data-cell': `${name}-${layer}-${head}`, title, 'aria-label': title});
            if (effect !== null && most > 0) cell.style.setProperty('--c', Math.sqrt(effect / most).toFixed(3));
            grid.append(cell);
          }
        }
        const scroll = make('div', 'found-scroll');
        scroll.append(grid);
        root.append(scroll);
      });
      if (data.unit) {
        const legend = make('p', 'legend');
        const top = most < 0.1 ? Number(most.toPrecision(2)) : most.toFixed(2);
        const what = data.unit === 'bits' ? 'the answer' : 'the sentence embedding';
        legend.append(make('span', '', '0'), make('i', 'scale root'), make('span', '', `${top} (${data.unit}): how far ${what} moves without that head alone`));
        root.append(legend);
      }
      root.append(make('p', 'note', '✕ = off. Press a head, or the number of a layer.'));
      element.querySelector('.off-map')?.remove();
      (element.firstElementChild ?? element).append(root);
      read();
    };

    element.addEventListener('click', event => {
      const button = event.target.closest('button');
      if (!button || !data) return;
      const {cell, layer} = button.dataset;
      if (cell) flip([cell], !off.has(cell));
      if (layer) flipAll(all().filter(word => word.startsWith(`${layer}-`)));
      if (button.dataset.do === 'on') flip(all(), false);
      if (button.dataset.do === 'off') flip(all(), true);
      if (button.dataset.do === 'turn') {
        const before = new Set(off);
        all().forEach(word => (before.has(word) ? off.delete(word) : off.add(word)));
        put();
      }
    });

    let value = null;
    const renew = () => {
      if (!props.value || props.value === value) return;
      value = props.value;
      data = JSON.parse(value);
      draw();
    };
    watch('value', renew);
    renew();
  };
})();
