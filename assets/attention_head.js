// The view "Head": controls, the drawing, a sentence about what is pointed at, and the numbers to take away.
(() => {
  const explorer = (window.explorer = window.explorer || {});
  const STAY_MS = 350; // after which a head was not only passed
  const ABOVE_NONE = 'above 10⁻⁸ %'; // softmax gives no 0; 16 bits do
  const SKELETON = `
    <div class="head-bar">
      <label class="stack-choice" title="In cross-attention the decoder’s tokens look at the encoder’s; else at those of their own">Attention <select data-set="stack"></select></label>
      <span class="stepper"><button type="button" data-step="layer,-1" aria-label="Layer before (arrow up)">‹</button
        ><label>Layer <select data-set="layer"></select></label
        ><button type="button" data-step="layer,1" aria-label="Next layer (arrow down)">›</button></span>
      <span class="stepper"><button type="button" data-step="head,-1" aria-label="Head before (arrow left)">‹</button
        ><label>Head <select data-set="head"></select></label
        ><button type="button" data-step="head,1" aria-label="Next head (arrow right)">›</button></span>
      <span class="forms" role="radiogroup" aria-label="Drawn as"
        ><button type="button" role="radio" data-form="lines">Lines</button
        ><button type="button" role="radio" data-form="matrix">Matrix</button
        ><button type="button" role="radio" data-form="table">Table</button></span>
      <label class="least">Weights from <input type="range" min="0" max="9" step="1" data-set="least"><output></output></label>
      <label class="upto" title="What the model saw when it had written so much: its rows never change later">Written so far <input type="range" step="1" data-set="upto"><output></output></label>
      <details class="head-several"><summary>Several heads</summary><div class="head-chips" role="group" aria-label="Heads drawn over each other"></div></details>
      <details class="head-more"><summary>More options</summary><div>
        <label title="A word's pieces together: weights to them summed, from them averaged"><input type="checkbox" data-set="words"> Whole words</label>
        <label title="[CLS], [SEP] and their kin, which stand for no part of the text"><input type="checkbox" data-set="special"> Special tokens</label>
        <label title="Where heads of causal models rest when they have nothing to do"><input type="checkbox" data-set="first"> First token</label>
        <label class="close"><input type="checkbox" data-set="close"> Large cells</label>
        <label class="pair">Texts <select data-set="pair"></select></label></div></details>
    </div>
    <p class="head-said" role="status"></p>
    <div class="head-stage" tabindex="-1"></div>
    <p class="head-legend legend"></p>
    <div class="take-away" role="group" aria-label="Take it away"><button type="button" data-take="csv">CSV of this head</button
      ><button type="button" data-take="png">PNG</button><button type="button" data-action="link">Copy link</button
      ><button type="button" data-action="code">Copy code</button></div>`;

  explorer.attentionHead = (element, props, watch, server) => {
    const {make, percent, attention, attentionMath, attentionSeveral} = explorer;
    element.innerHTML = SKELETON;
    element.classList.add('attention-head');
    const part = name => element.querySelector(name);
    const [stage, said, legend] = ['.head-stage', '.head-said', '.head-legend'].map(part);
    const control = name => part(`[data-set="${name}"]`);
    let value = null, data = null, heads = null, which = '', wanted = '', look = attention.readLook('');
    let selected = null, drawn = null, pinned = null, pointed = null;

    const stackOf = name => data.stacks.find(one => one.name === name);
    const keysOf = stack => stack.keys ?? stack.queries;
    const drawings = {
      lines: explorer.attentionLines(stage, {onPoint: at => point(at), onPin: at => pin(at), onWalk: at => walk(at)}),
      matrix: explorer.attentionMatrix(stage, {onCell: at => point(at), onPin: at => pin(at), onWalk: at => walk(at)}),
      table: explorer.attentionTable(stage, {onCell: at => point(at), onPin: at => pin(at)}),
    };

    const say = () => said.replaceChildren(...explorer.attentionSay(selected, pointed ?? pinned)); // what is pinned stays
    const point = at => {
      if (JSON.stringify(at) === JSON.stringify(pointed)) return;
      pointed = at;
      drawings[look.form].point(at ?? pinned);
      say();
    };
    const pin = (at, isKept = false) => { // pressed again, it is let go
      pinned = !isKept && JSON.stringify(at) === JSON.stringify(pinned) ? null : at;
      const placeOf = side => (pinned?.side === side ? pinned.place : pinned?.[side]);
      [look.pin, look.key] = [selected.rows[placeOf('query')], selected.columns[placeOf('key')]].map(unit => unit?.tokens[0] ?? null);
      note();
      drawings[look.form].point(pointed ?? pinned);
      say();
    };
    const release = () => ((pointed = null), pin(pinned)), walk = at => ((pointed = null), pin(at, true));

    const leastOf = () => attention.THRESHOLDS[attention.leastOf(look)];
    const made = (at = attention.read(which)) => explorer.attentionMade(at, stackOf(at.stack));
    const explain = ({found, capped}) => {
      if (!selected.possible) return legend.replaceChildren(make('bdi', '', explorer.attentionUnseen(selected)));
      const least = leastOf();
      const {several} = selected;
      const all = ((several?.length ?? 1) * selected.possible).toLocaleString('en');
      const from = least ? `from ${percent(least)}` : ABOVE_NONE;
      const many = capped ? `the strongest ${capped.toLocaleString('en')} of ${found.toLocaleString('en')}` : found.toLocaleString('en');
      const scale = make('i', 'scale');
      const key = several ? attentionSeveral.legend(several) : [make('span', '', '0 %'), scale];
      legend.replaceChildren(...key, make('span', '', `${percent(selected.largest)}, the strongest here.`), make('span', 'made', made()),
        make('span', '', attentionSeveral.leftOut(attention.read(which), look, stackOf(attention.read(which).stack).heads)),
        make('span', '', `${look.form === 'table' ? 'Listed' : 'Drawn'}: ${many} of ${all} weights, those ${from}${look.form === 'lines' ? '; while a token is framed or pointed at, all of its own and no others' : ''}.`), make('bdi', '', explorer.attentionUnseen(selected)),
        make('span', '', selected.columns.some(({text}) => text.startsWith('␣')) ? '␣: a space before the token.' : ''));
    };

    const drawnOf = word => attentionSeveral.headsOf(attention.read(word), look, stackOf(attention.read(word).stack).heads);
    // The weights of all heads that are drawn, the named one first.
    const collect = async word => {
      const drawn = drawnOf(word);
      return {word, drawn, weights: await Promise.all(drawn.map(head => heads.get(attention.spell({...attention.read(word), head}))))};
    };
    const draw = ({word, drawn: numbers, weights}) => {
      if (word !== which || String(numbers) !== String(drawnOf(which))) return; // a later one is on its way
      const began = performance.now();
      const {stack, layer, head} = attention.read(which);
      const entry = stackOf(stack);
      const select = weights => attentionMath.select(weights, entry.queries, keysOf(entry), look, stack);
      const [own, ...others] = weights.map(select);
      selected = own;
      if (others.length) {
        selected.several = [own, ...others].map(({values}, place) => ({head: numbers[place], values})).sort((one, other) => one.head - other.head);
        selected.largest = Math.max(...[own, ...others].map(({largest}) => largest));
        ['absorbed', 'elsewhere'].forEach(share => (selected[share] = [own, ...others].reduce((sum, one) => sum + one[share], 0) / numbers.length));
      }
      selected.signature = `${value.length} ${data.turn} ${stack} ${look.words} ${look.special} ${look.first} ${look.pair} ${look.upto}`;
      const shape = `${selected.signature} ${look.form}`;
      [drawn, pointed] = [shape, drawn === shape ? pointed : null];
      const [query, key] = [[selected.rows, look.pin], [selected.columns, look.key]].map(([units, token]) => units.findIndex(unit => unit.tokens.includes(token)));
      if (look.form !== 'lines') pinned = query >= 0 && key >= 0 ? {query, key} : null;
      else pinned = query >= 0 ? {side: 'query', place: query} : key >= 0 ? {side: 'key', place: key} : null;
      if (stage.firstChild !== drawings[look.form].sheet) stage.replaceChildren(drawings[look.form].sheet);
      stage.classList.toggle('matrix', look.form === 'matrix');
      const many = drawings[look.form].show(selected, leastOf(), look.close);
      drawings[look.form].point(pointed ?? pinned);
      say();
      explain(many);
      const ms = (performance.now() - began).toFixed(1);
      Object.assign(element.dataset, {which, heads: numbers.join(' '), turn: data.turn, ms});
      fillControls(entry, layer, head);
      requestAnimationFrame(() => setTimeout(() => (element.dataset.painted = which)));
    };

    const options = (select, pairs, chosen) => {
      const signature = JSON.stringify(pairs);
      if (select.dataset.pairs !== signature) {
        select.replaceChildren(...pairs.map(([key, words]) => make('option', '', words, {value: key})));
        select.dataset.pairs = signature;
      }
      select.value = chosen;
    };
    const fillControls = (entry, layer, head) => {
      const count = most => Array.from({length: most}, (_, index) => [String(index + 1), `${index + 1} of ${most}`]);
      options(control('stack'), data.stacks.map(({name}) => [name, attention.STACKS[name]]), entry.name);
      options(control('layer'), [...count(entry.layers), ['mean', 'mean']], String(layer));
      options(control('head'), [...count(entry.heads), ['mean', 'mean'], ...(entry.name === 'cross' ? [] : [['rollout', 'rollout up to this layer']])], String(head));
      options(control('pair'), attention.PAIRS, look.pair);
      fillWritten(entry);
      part('.stack-choice').hidden = data.stacks.length < 2;
      part('.pair').hidden = !entry.queries.some(token => token[2]) || entry.name === 'cross';
      ['words', 'special', 'first', 'close'].forEach(name => (control(name).checked = look[name]));
      part('.close').hidden = look.form !== 'matrix';
      part('[data-take=png]').hidden = look.form === 'table'; // that goes as CSV
      part('.head-several').hidden = look.form !== 'lines' || typeof layer !== 'number' || typeof head !== 'number' || entry.heads < 2;
      attentionSeveral.fill(part('.head-chips'), entry.heads, drawnOf(which));
      if (selected.several) part('.head-several').open = true;
      const code = part('[data-action="code"]');
      code.dataset.code = explorer.attentionTake.code({data, which, look, selected});
      code.hidden = !code.dataset.code; // too long to travel with the page
      part('[data-take="csv"]').textContent = selected.several ? 'CSV of these heads' : made() ? 'CSV of these weights' : 'CSV of this head';
      control('least').value = attention.leastOf(look);
      control('least').setAttribute('aria-valuetext', percent(leastOf()));
      part('.least output').textContent = percent(leastOf());
      element.querySelectorAll('[data-form]').forEach(button => button.setAttribute('aria-checked', button.dataset.form === look.form));
    };

    // Of what a decoder has written behind what it was given.
    const fillWritten = ({name, queries}) => {
      const most = queries.length, given = Math.max(queries.findIndex(token => token[2]), 1);
      part('.upto').hidden = name === 'encoder' || !queries.some(token => token[2]) || given === most;
      Object.assign(control('upto'), {min: given, max: most, value: look.upto ?? most});
      const words = `${Math.min(look.upto ?? most, most) - given} of ${most - given}`;
      part('.upto output').textContent = words;
      control('upto').setAttribute('aria-valuetext', `${words} tokens`);
    };

    // A link or an example may name a head of the model that is on its way.
    const isHere = ({stack, layer, head}) => {
      const entry = stackOf(stack);
      return entry && !(layer > entry.layers) && !(head > entry.heads);
    };
    // A rollout goes up to a layer, and there is none from a decoder to an encoder.
    const tidy = at => {
      if (at.head !== 'rollout') return at;
      return at.stack === 'cross' ? {...at, head: 'mean'} : {...at, layer: at.layer === 'mean' ? stackOf(at.stack).layers : at.layer};
    };
    const go = named => {
      if (!data || !named || !isHere(attention.read(named))) return;
      const word = attention.spell(tidy(attention.read(named)));
      if (word === wanted) return;
      const asked = data;
      wanted = word;
      const late = setTimeout(() => element.classList.add('pending'), 250);
      collect(word).then(found => {
        if (wanted !== word || asked !== data) return;
        which = word;
        draw(found);
        stay(found.weights[0]);
      }).catch(error => wanted === word && asked === data && ((wanted = which), fail(error)))
        .finally(() => (clearTimeout(late), element.classList.remove('pending')));
    };
    let staying = 0;
    const stay = weights => {
      clearTimeout(staying);
      const [here, word] = [heads, which];
      staying = setTimeout(() => here.ahead(word, weights.length), STAY_MS);
    };
    const fail = error => said.replaceChildren(make('span', 'fault', error.message, {role: 'alert'}));
    const redraw = () => heads && collect(which).then(draw).catch(fail);
    const note = () => attention.rest(() => attention.note(wanted, attention.spellLook(look), view));
    const move = word => (go(word), note());

    const over = pressed => {
      const at = attention.read(wanted), count = stackOf(at.stack).heads;
      const all = Array.from({length: count}, (_, index) => index + 1);
      const [head, others] = pressed === 'all' ? [at.head, all.filter(one => one !== at.head)]
        : pressed === 'one' ? [at.head, []] : attentionSeveral.toggle(drawnOf(wanted), Number(pressed));
      look.with = others;
      if (head === at.head) (redraw(), note());
      else move(attention.spell({...at, head}));
    };

    const writtenOf = ({value: number, max}) => (number === max ? null : Number(number));
    const step = (axis, by) => {
      const at = attention.read(wanted);
      const {layers, heads: count} = stackOf(at.stack);
      if (typeof at[axis] !== 'number') return;
      const most = axis === 'layer' ? layers : count;
      move(attention.spell({...at, [axis]: Math.min(Math.max(at[axis] + by, 1), most)}));
    };
    element.addEventListener('click', event => {
      const button = event.target.closest('button');
      if (!button || !data) return;
      if (button.dataset.step) step(...button.dataset.step.split(',').map((word, index) => (index ? Number(word) : word)));
      if (button.dataset.over) over(button.dataset.over);
      if (button.dataset.form) (look.form = button.dataset.form, redraw(), note());
      if (button.dataset.take) explorer.attentionTake[button.dataset.take]({data, which, look, selected, pinned});
    });
    element.addEventListener('input', event => {
      const set = event.target.dataset.set;
      if (!set || !data) return;
      const at = attention.read(wanted);
      if (set === 'stack') {
        const {layers, heads: count} = stackOf(event.target.value);
        const clamp = (number, most) => (typeof number === 'number' ? Math.min(number, most) : number);
        return move(attention.spell({stack: event.target.value, layer: clamp(at.layer, layers), head: clamp(at.head, count)}));
      }
      if (set === 'layer' || set === 'head') {
        const next = {...at, [set]: Number(event.target.value) || event.target.value};
        return move(attention.spell(set === 'layer' && next.layer === 'mean' && next.head === 'rollout' ? {...next, head: 'mean'} : next));
      }
      look[set] = set === 'least' ? Number(event.target.value) : set === 'upto' ? writtenOf(event.target) : set === 'pair' ? event.target.value : event.target.checked;
      redraw();
      note();
    });
    // Arrow keys: left and right walk the heads, up and down the layers.
    element.addEventListener('keydown', event => {
      if (event.key === 'Escape' && data && (pinned || pointed)) release();
      const [axis, by] = {ArrowLeft: ['head', -1], ArrowRight: ['head', 1], ArrowUp: ['layer', -1], ArrowDown: ['layer', 1]}[event.key] ?? [];
      if (!axis || !data || event.target.closest('select, input') || event.shiftKey || event.altKey || event.ctrlKey) return;
      event.preventDefault();
      step(axis, by);
    });
    new ResizeObserver(() => drawings[look.form].paint()).observe(stage);

    let turn = 0, isDressed = false, before = '';
    const read = () => {
      if (props.value && props.value !== value) show(props.value);
    };
    const show = (text, isAhead = false) => { // ahead of what a link asks for, whose look waits
      const read = JSON.parse(text);
      value = text;
      if (data && (!typing.isCurrent(read.asked) || JSON.stringify(read.asked) === JSON.stringify(data.asked))) return;
      data = read;
      data.turn = turn += 1;
      if (data.look !== undefined) [look, isDressed] = [attention.readLook(attention.opensOn(data.look)), true];
      const asked = JSON.stringify(data.asked);
      if (!isDressed && before !== asked) look.pin = look.key = look.upto = null; // they were of another text
      before = asked;
      isDressed = isDressed && isAhead;
      heads = attention.store(data, server);
      wanted = which = data.which;
      element.explorer = {heads, data};
      collect(which).then(found => {
        draw(found);
        stay(found.weights[0]);
      }).catch(fail);
    };
    const dress = text => {
      look = attention.readLook(text);
      isDressed = true;
      if (data) redraw();
    };
    const view = {go, dress};
    attention.views.add(view);
    const typing = explorer.attentionTyping(element, server, () => data && {asked: data.asked, which: wanted}, show);
    watch('value', read);
    read();
    // Of a link, the boxes may have been filled before this view was there to hear of it.
    const catchUp = () => {
      if (!document.body.dataset.restored) return void setTimeout(catchUp, 50);
      const held = attention.held();
      if (held.look) dress(held.look);
      if (held.which) go(held.which);
      typing.catchUp();
    };
    catchUp();
  };
})();
