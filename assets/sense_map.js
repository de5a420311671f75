// The view "Map": all layers' points are here at once; the layer moves them, without the server. A click makes a query.
(() => {
  const explorer = (window.explorer = window.explorer || {});
  const NARROW_PIXELS = 500, LOW_PIXELS = 340, SMALL_PIXELS = 6;
  const MOVE_MS = 400, STEP_MS = 1100, LINE_PIXELS = 21, LABEL_PIXELS = 13;
  const SPOTS = [-3, -2, -1, 0, 1, 2, 3].flatMap(lines => [-1, -0.5, 0, 0.5, 1].map(aside => [aside, lines])); // for a label
  const PIXELS_PER_POINT = 25; // so far a label may stand from the middle of its group, for each point less that it covers
  const AXES = ['x', 'y', 'z'];
  const ruler = document.createElement('canvas').getContext('2d'); // fonts differ: what a label takes is measured
  const plotOf = () => document.querySelector('#sense-map .js-plotly-plot');
  const slider = () => document.querySelector('#vector-layer input[type="range"]');
  const isStill = () => matchMedia('(prefers-reduced-motion: reduce)').matches;
  const ease = share => (share < 0.5 ? 2 * share * share : 1 - (2 - 2 * share) ** 2 / 2);

  explorer.senseMap = (element, props, watch) => {
    let data = null;
    let place = 0; // of the layer in sight, among the layers
    let at = null; // where each point is just now
    let moving = 0;
    let moves = 0; // so far; the newest alone arrives, as a press and the slider that follows it both move
    let playing = 0;
    let hidden = new Set();

    const root = () => element.firstElementChild ?? element;
    const below = () => document.getElementById('sense-map-says');
    const wanted = () => {
      const found = data.layers.indexOf(Number(slider()?.value));
      return found < 0 ? data.points.length - 1 : found;
    };
    const typed = () => (document.querySelector('#near-query textarea')?.value ?? new URLSearchParams(location.search).get('query') ?? '').trim();
    const query = () => Number(document.querySelector('#neighbours-use input')?.value || 0);

    // Labels that cover no other one, and few points, the largest groups first; on a phone none: they would cover all.
    const readable = (centres, plot) => {
      const {xaxis, yaxis} = plot._fullLayout;
      const names = plot.data[data.groups.length + 1].text.map(text => text.replace(/<[^>]*>/g, ''));
      const none = centres.map(() => [null, null]);
      if (plot.clientWidth < NARROW_PIXELS) return none;
      const within = (value, half, most) => Math.min(Math.max(value, half), Math.max(half, most - half));
      const marks = data.groups.flatMap((group, index) => (hidden.has(index) ? [] : group))
        .map(point => data.points[place][point]).map(([x, y]) => [xaxis.l2p(x), yaxis.l2p(y)]);
      const kept = [];
      ruler.font = `${LABEL_PIXELS}px ${plot._fullLayout.font.family}`;
      const order = centres.map((_, index) => index).filter(index => !hidden.has(index));
      order.sort((one, other) => data.groups[other].length - data.groups[one].length);
      order.forEach(index => {
        const half = ruler.measureText(names[index]).width / 2 + 4; // its mark may come from a wider font
        const [x, y] = [xaxis.l2p(centres[index][0]), yaxis.l2p(centres[index][1])];
        if (x < 0 || x > xaxis._length || y < 0 || y > yaxis._length) return; // the visitor has zoomed in elsewhere
        let best = null;
        SPOTS.forEach(([aside, lines]) => {
          const box = {x: within(x + aside * half, half, xaxis._length), y: within(y + lines * LINE_PIXELS, 8, yaxis._length), half};
          if (kept.some(one => Math.abs(one.y - box.y) < LINE_PIXELS && Math.abs(one.x - box.x) < one.half + half)) return;
          const covered = marks.filter(([px, py]) => Math.abs(px - box.x) < half + 4 && Math.abs(py - box.y) < LINE_PIXELS / 2);
          const cost = covered.length + Math.hypot(aside * half, lines * LINE_PIXELS) / PIXELS_PER_POINT;
          if (!best || cost < best.cost) best = {...box, cost};
        });
        if (!best) return;
        kept.push(best);
        none[index] = [xaxis.p2l(best.x), yaxis.p2l(best.y)];
      });
      return none;
    };
    const label = () => {
      const plot = plotOf();
      if (!data.centres || plot?.layout.meta !== data.key) return Promise.resolve();
      const at = readable(data.centres[place], plot);
      root().dataset.labels = at.filter(([x]) => x !== null).length;
      return window.Plotly.restyle(plot, {x: [at.map(([x]) => x)], y: [at.map(([, y]) => y)]}, [data.groups.length + 1])
        .then(() => plot.classList.remove('is-moving'));
    };

    // In a cloud other points may stand before the ring; what points to it stands before them all.
    const pointer = ([x, y, z]) => ({x, y, z, text: '', showarrow: true, arrowhead: 2, arrowwidth: 2, arrowcolor: data.ink, standoff: 9, ax: 0, ay: -44});
    const put = (points, milliseconds = 0) => {
      const use = query() < data.uses ? query() : 0;
      const queries = points.filter((_, index) => index % data.uses === use); // of two models each
      const axes = AXES.slice(0, data.dimensions);
      const traces = [...data.groups.map(group => group.map(index => points[index])), queries];
      const columns = traces.map(rows => Object.fromEntries(axes.map((name, axis) => [name, rows.map(row => row[axis])])));
      const numbers = traces.map((_, index) => index);
      at = points;
      if (!milliseconds) {
        const update = Object.fromEntries(axes.map(name => [name, columns.map(column => column[name])]));
        return window.Plotly.update(plotOf(), update, data.dimensions === 3 ? {'scene.annotations': queries.map(pointer)} : {}, numbers);
      }
      return window.Plotly.animate(plotOf(), {data: columns, traces: numbers}, {
        mode: 'immediate', frame: {duration: milliseconds, redraw: false}, transition: {duration: milliseconds, easing: 'cubic-in-out'},
      }).catch(() => {}); // another move has begun
    };

    const lerp = (from, to, share) => from.map((one, index) => one.map((number, axis) => number + (to[index][axis] - number) * share));
    const move = (next, isAtOnce) => {
      const plot = plotOf();
      if (!plot || plot.layout.meta !== data.key) return;
      cancelAnimationFrame(moving);
      const [from, to] = [at, data.points[next]];
      const mine = ++moves;
      place = next;
      delete root().dataset.layer;
      tell();
      const arrived = () => mine === moves && label().then(() => {
        if (mine === moves) root().dataset.layer = String(data.layers[next] ?? '');
      });
      if (isAtOnce || isStill()) return put(to).then(arrived);
      plot.classList.add('is-moving'); // labels stay behind
      if (data.glides) return put(to, MOVE_MS).then(arrived);
      const began = performance.now();
      const step = now => { // WebGL knows no transitions
        const share = Math.min(1, (now - began) / MOVE_MS);
        const points = share === 1 ? to : lerp(from, to, ease(share));
        put(points).then(() => {
          if (mine !== moves) return;
          share < 1 ? (moving = requestAnimationFrame(step)) : arrived();
        });
      };
      moving = requestAnimationFrame(step);
    };

    // What stands around the figure: layers to press, marks to press, how far the map may be believed.
    const draw = () => {
      const make = explorer.make;
      root().textContent = '';
      const bar = make('div', 'map-layers', '', {role: 'group', 'aria-label': 'Layer'});
      if (data.layers.length > 1) {
        bar.append(make('span', 'kind', 'Layer'), ...data.layers.map(layer =>
          make('button', '', String(layer), {type: 'button', 'data-layer': layer, title: layer ? `Layer ${layer}` : 'Input embeddings'})));
        bar.append(make('button', 'map-play', 'Run through layers', {type: 'button', title: 'Go through all layers, one after the other'}));
      }
      const legend = make('div', 'map-legend');
      legend.innerHTML = data.legend; // escaped where it was made
      root().append(bar);
      below().replaceChildren(legend, make('p', 'note map-pressed', '', {'aria-live': 'polite'}), make('p', 'note map-says'));
    };
    const tell = () => {
      root().querySelectorAll('[data-layer]').forEach(button =>
        button.setAttribute('aria-pressed', String(Number(button.dataset.layer) === data.layers[place])));
      below().querySelector('.map-says').innerHTML = data.says[place];
      const use = query() < data.uses ? query() : 0;
      const group = data.groups.findIndex(points => points.includes(use));
      const words = plotOf().data[group].text[data.groups[group].indexOf(use)].replace('<br><i>', ' · <i>').replaceAll('<br>', ' '); // escaped there
      const isPair = data.points[place].length > data.uses, where = data.dimensions === 3 ? 'Where the arrow points' : 'In the ring';
      const lists = typed() ? 'The sentence that was typed in the view “Neighbours” is no point of this map.' : 'The view “Neighbours” lists what is nearest to it.';
      below().querySelector('.map-pressed').innerHTML = `${where}${isPair ? ', once by each model' : ''}: ` +
        `<bdi>${isPair ? words.replace(/( · |<i>)[^·>]*(<\/i>)$/, (_, mark, end) => (mark === '<i>' ? mark + end : end)) : words}</bdi> · ${lists}`;
      document.querySelectorAll('button[data-action="png"][data-file^="map"]').forEach(button =>
        Object.assign(button.dataset, {title: data.titles[place], legend: data.legend ? 'shown' : ''}));
    };
    const choose = layer => {
      const box = document.querySelector('#vector-layer input[type="number"]') || slider();
      if (!box || box.value === String(layer)) return;
      box.value = String(layer);
      box.dispatchEvent(new Event('input', {bubbles: true}));
      if (slider()) slider().value = String(layer);
    };
    const stop = () => {
      clearInterval(playing);
      playing = 0;
      delete root().dataset.playing;
      const button = root().querySelector('.map-play');
      if (button) button.textContent = 'Run through layers';
    };
    const play = () => {
      if (playing) return stop();
      root().querySelector('.map-play').textContent = 'Pause';
      root().dataset.playing = 'true'; // what the server says of each layer comes later; the map is of it already
      let next = place === data.points.length - 1 ? 0 : place + 1;
      const go = () => {
        if (next >= data.points.length) return stop();
        choose(data.layers[next]);
        move(next);
        next += 1;
      };
      go();
      playing = setInterval(go, STEP_MS);
    };

    document.addEventListener('click', event => {
      const button = event.target.closest?.('#sense-map-around button, #sense-map-says button');
      if (!button || !data) return;
      if (button.dataset.layer) {
        stop();
        choose(Number(button.dataset.layer));
        move(data.layers.indexOf(Number(button.dataset.layer)));
      }
      if (button.classList.contains('map-play')) play();
      if (button.dataset.group) {
        const group = Number(button.dataset.group);
        hidden.has(group) ? hidden.delete(group) : hidden.add(group);
        button.setAttribute('aria-pressed', String(!hidden.has(group)));
        window.Plotly.restyle(plotOf(), {visible: !hidden.has(group)}, [group]).then(() => move(place, true));
      }
    });
    document.addEventListener('input', event => {
      if (event.target.closest?.('#near-query') && below()?.querySelector('.map-pressed') && plotOf()) tell();
      if (!data || !plotOf() || !event.target.closest?.('#vector-layer, #neighbours-use')) return;
      if (event.target.closest('#vector-layer')) {
        const found = data.layers.indexOf(Number(event.target.value));
        if (found >= 0 && found !== place) move(found);
      } else move(place, true);
    });

    // The figure comes by a way of its own, and may be there before or after this.
    let value = null;
    const meet = () => {
      const plot = plotOf();
      if (!below() || !plot?.on || !window.Plotly || plot.layout?.meta !== data.key || !plot._fullLayout?._size) {
        if (element.isConnected) requestAnimationFrame(meet);
        return;
      }
      place = data.points.length - 1;
      at = data.points[place];
      draw();
      plot.on('plotly_click', ({points: [point]}) => {
        if (point?.customdata === undefined) return;
        explorer.neighbours.choose(point.customdata);
        move(place, true);
      });
      plot.on('plotly_afterplot', () => data.ink !== ink() && paint(plot));
      paint(plot);
      data.glides = plot.data[0].type === 'scatter';
      plot.on('plotly_relayout', () => label());
      const narrow = plot.clientWidth < NARROW_PIXELS;
      const small = narrow && data.dimensions === 2 ? {'marker.size': SMALL_PIXELS} : {};
      const groups = data.groups.map((_, index) => index);
      const fitted = narrow ? window.Plotly.update(plot, small, {height: LOW_PIXELS}, groups) : Promise.resolve();
      fitted.then(() => move(wanted(), true));
      root().dataset.key = data.key;
    };
    const ink = () => getComputedStyle(document.body).color;
    const paint = plot => {
      data.ink = ink();
      const ring = data.groups.length;
      window.Plotly.restyle(plot, {'marker.color': data.ink}, [ring]);
    };
    const renew = () => {
      if (!props.value || props.value === value) return;
      value = props.value;
      data = JSON.parse(value);
      hidden = new Set();
      if (playing) stop();
      delete root().dataset.key;
      meet();
    };
    watch('value', renew);
    renew();
  };
})();
