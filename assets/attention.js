// Which head is in sight, how it is drawn, and its weights: fetched when looked at, the neighbours ahead.
(() => {
  const explorer = (window.explorer = window.explorer || {});
  const MOST_KEPT_BYTES = 48 * 2 ** 20; // of heads in the browser, in full precision
  const AHEAD_CELLS = 300 * 300; // the neighbours of a larger head are not fetched before they are wanted
  const MOST_FRAMES = 120; // waited for a view to come into sight
  const HIGHEST_PIXELS = 8000; // of a frame: bertviz draws 48 tokens at most
  const REST_MS = 500; // the address follows when the arrow keys rest

  // "encoder-3-5": layer 3, head 5, counted from 1; "encoder-3-mean", "encoder-mean-5", "encoder-mean"; "encoder-3-rollout"
  // goes up to layer 3, "encoder-rollout" through all.
  const read = word => {
    const [stack, ...parts] = String(word).split('-');
    const [layer, head] = parts.length === 1 ? ['mean', parts[0]] : parts.map(part => Number(part) || part);
    return {stack, layer, head};
  };
  const STACKS = {encoder: 'Encoder', decoder: 'Decoder', cross: 'Cross-attention'};
  const spell = ({stack, layer, head}) => (layer === 'mean' && head === 'mean' ? `${stack}-mean` : `${stack}-${layer}-${head}`);
  const words = which => {
    const {stack, layer, head} = read(which);
    const name = STACKS[stack].toLowerCase();
    if (head === 'rollout') return `${name}, rollout up to layer ${layer}`;
    if (layer === 'mean') return `${name}, mean of ${head === 'mean' ? 'all heads' : `the heads ${head} of all layers`}`;
    return `${name}, layer ${layer}, ${head === 'mean' ? 'mean of its heads' : `head ${head}`}`;
  };

  const THRESHOLDS = [0, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5];
  const PLAIN = {form: 'lines', words: false, pair: '', special: true, first: true, close: false, least: null, pin: null, key: null, upto: null, with: []};
  // Who looks at whom, of two texts.
  const PAIRS = [['', 'All'], ['00', 'First to first'], ['01', 'First to second'], ['10', 'Second to first'], ['11', 'Second to second']];
  const leastOf = look => look.least ?? (look.form === 'lines' ? 3 : 0);
  // "matrix.words.01.t5": only what differs from PLAIN.
  const readLook = text => {
    const look = {...PLAIN};
    String(text ?? '').split('.').forEach(part => {
      if (part === 'matrix' || part === 'table') look.form = part;
      if (part === 'words' || part === 'close') look[part] = true;
      if (part === 'nospecial') look.special = false;
      if (part === 'nofirst') look.first = false;
      if (/^[01][01]$/.test(part)) look.pair = part;
      if (/^t[0-9]$/.test(part)) look.least = Number(part[1]);
      if (/^u[0-9]{1,4}$/.test(part)) look.upto = Number(part.slice(1)); // so many tokens of a decoder are written
      if (/^h[0-9]{1,3}$/.test(part)) look.with = [...look.with, Number(part.slice(1))]; // of the lines, heads drawn over it
      if (/^p[0-9]{1,4}$/.test(part)) look.pin = Number(part.slice(1)); // the token that looks, of those framed: of the lines one, of a cell both
      if (/^k[0-9]{1,4}$/.test(part)) look.key = Number(part.slice(1)); // the token that is looked at
    });
    return look;
  };
  const spellLook = look => [
    look.form !== PLAIN.form && look.form, look.words && 'words', look.pair, !look.special && 'nospecial',
    !look.first && 'nofirst', look.close && 'close', look.least !== null && `t${look.least}`,
    look.pin !== null && `p${look.pin}`, look.key !== null && `k${look.key}`, look.upto !== null && `u${look.upto}`,
    ...look.with.map(head => `h${head}`),
  ].filter(Boolean).join('.');

  // The heads of one reading. What is asked for while another is on its way is fetched next, and only the latest.
  const store = (data, server) => {
    const kept = new Map(), coming = new Map();
    const most = data.stacks[0].most;
    let bytes = 0;
    const keep = (which, weights) => {
      if (kept.has(which)) return;
      kept.set(which, weights);
      bytes += weights.byteLength;
      for (const [oldest, held] of kept) {
        if (bytes <= MOST_KEPT_BYTES || oldest === which) break;
        kept.delete(oldest);
        bytes -= held.byteLength;
      }
    };
    keep(data.which, explorer.attentionMath.unpack(data.weights, most));
    data.weights = null;
    const get = which => {
      if (kept.has(which)) {
        const weights = kept.get(which);
        kept.delete(which); // to the end: the oldest leave first
        kept.set(which, weights);
        return Promise.resolve(weights);
      }
      if (!coming.has(which)) {
        coming.set(which, server.fetch_head({asked: data.asked, which}).then(answer => {
          if (!answer || answer.error) throw new Error(answer?.error ?? 'The server did not answer. Try again.');
          const weights = explorer.attentionMath.unpack(answer.weights, most);
          keep(which, weights);
          return weights;
        }).finally(() => coming.delete(which)));
      }
      return coming.get(which);
    };
    // Once somebody stays: all layers on the server, and of a short text the heads around this one here.
    let isAhead = false;
    const ahead = async (which, cells) => {
      const {stack, layer, head} = read(which);
      const {layers, heads} = data.stacks.find(one => one.name === stack);
      if (!isAhead) {
        const answer = await server.read_ahead({asked: data.asked, which}).catch(error => ({error: error.message}));
        if (answer?.error) return; // asked for again, it says what is wrong
        isAhead = true;
      }
      if (cells > AHEAD_CELLS || typeof layer !== 'number' || typeof head !== 'number') return;
      [[0, 1], [0, -1], [1, 0], [-1, 0]].map(([down, right]) => ({stack, layer: layer + down, head: head + right}))
        .filter(one => one.layer >= 1 && one.layer <= layers && one.head >= 1 && one.head <= heads)
        .forEach(one => get(spell(one)).catch(() => {})); // asked for again, it says what is wrong
    };
    return {get, ahead, has: which => kept.has(which), bytes: () => bytes};
  };

  const views = new Set(); // each has go(which) and dress(look)
  const all = (name, but = null) => value => views.forEach(view => view !== but && view[name](value));
  const follow = (name, id) => value => isNews(id, value) && all(name)(value);
  const {rest, stop} = explorer.resting(REST_MS);
  // Into the hidden boxes that links and the other views read. Gradio tells of it in its own time, when the visitor may
  // be further on: what was put there is no news then, and would take back what has been done since.
  const put = (id, text) => {
    const box = document.querySelector(`#${id} textarea, #${id} input`);
    if (!box || box.value === text) return false;
    untold(id).sent.push(text);
    box.value = text;
    box.dispatchEvent(new Event('input', {bubbles: true}));
    return true;
  };
  const boxes = new Map(); // what was put into each and not told of yet, and what was told of last
  const untold = id => boxes.get(id) ?? boxes.set(id, {sent: [], last: null}).get(id);
  const isNews = (id, text) => {
    const box = untold(id), place = box.sent.indexOf(text);
    const isKnown = place >= 0 || text === box.last;
    box.sent.splice(0, isKnown ? place + 1 : Infinity);
    box.last = text;
    return !isKnown;
  };
  const held = () => {
    const [which, look] = ['which', 'look'].map(name => document.querySelector(`#attention-${name} :is(textarea, input)`)?.value ?? '');
    return {which, look};
  };
  let opened = ''; // the look of the example that the page opens on, which no box holds
  const opensOn = look => (opened = look);
  // Args: the head and its look as words; the view that shows them so already. A plain look that took the place of
  // another is spelled, too: a link that named none would open on the example's.
  const note = (which, look, by) => {
    if (put('attention-which', which)) all('go', by)(which);
    if (spellLook(readLook(held().look || opened)) !== look && put('attention-look', look || 'lines')) all('dress', by)(look);
  };
  // Whatever stands for a head, in any view of the tab, opens it: <button data-open-head="encoder-3-5">.
  const open = which => {
    stop();
    put('attention-which', which);
    all('go')(which);
    setTimeout(() => {
      document.querySelector('.views [data-tab-id="head"]')?.click();
      enter();
    });
  };
  // The focus goes along, once the view is in sight: what had it is out of sight, and arrow keys walk on from there.
  const enter = (tries = MOST_FRAMES) => {
    const stage = document.querySelector('.attention-head .head-stage');
    stage?.focus({preventScroll: true});
    if (document.activeElement !== stage && tries) requestAnimationFrame(() => enter(tries - 1));
  };
  document.addEventListener('click', event => {
    const button = event.target.closest('[data-open-head]');
    if (button) open(button.dataset.openHead);
  });
  // bertviz draws in a frame of its own, which tells how high it is: the page scrolls, not the frame.
  addEventListener('message', event => {
    const frame = [...document.querySelectorAll('iframe.bertviz')].find(one => one.contentWindow === event.source);
    const height = Number(event.data?.bertviz);
    if (frame && height > 0) frame.style.height = `${Math.min(height, HIGHEST_PIXELS)}px`;
  });
  // A page that scrolls moves its figures under a pointer that rests: nothing was pointed at by that.
  let restedAt = '';
  const placeOf = ({clientX, clientY}) => `${clientX} ${clientY}`;
  const isMoved = event => placeOf(event) !== restedAt;
  // What moves is told of several times, in one task: it rests there only after that.
  const comeToRest = event => setTimeout(() => (restedAt = placeOf(event)));
  for (const kind of ['pointermove', 'pointerdown', 'pointerover']) document.addEventListener(kind, comeToRest);
  explorer.attention = {
    isMoved, read, spell, words, readLook, spellLook, leastOf, store, views, rest, note, held, open, THRESHOLDS, PAIRS, STACKS,
    opensOn, go: follow('go', 'attention-which'), dress: look => (opensOn(''), follow('dress', 'attention-look')(look)),
  };
})();
