// The view "Next token": the model's distribution, and what each control makes of it, computed here while a slider moves.
(() => {
  const explorer = (window.explorer = window.explorer || {});
  const ROWS = 15, SAVED = 50, GAINED = 3;
  const NAMES = {
    model: 'the model itself', repetition_penalty: 'repetition penalty', temperature: 'temperature', top_k: 'top k',
    top_p: 'top p', min_p: 'min p', typical_p: 'typical p',
  };
  const SIGNS = {'␣': 'a space before the token', '…': 'goes on the word before it, without a space'};
  const drawings = new Set();
  let settings = {}, undrawn;

  // From the sliders, without the server; a strategy that draws nothing by lot is told of in words.
  explorer.setControls = (names, acting, values, words) => {
    settings = {};
    undrawn = words;
    names.forEach((name, index) => acting.includes(name) && (settings[name] = Number(values[index])));
    drawings.forEach(draw => draw());
  };

  explorer.nextToken = (element, props, watch) => {
    const {make, percent, bits, seenAmong, decoding} = explorer;
    element.classList.add('next-token');
    let value = null, data = null, scores = null;

    const row = (token, name, place, before, after, most, isFirstCut) => {
      const item = make('li', after ? '' : 'cut');
      if (isFirstCut) item.classList.add('first-cut');
      const bars = make('span', 'bars');
      [[before, 'p'], [after, 'chance']].forEach(([share, name]) => {
        const bar = make('i', name);
        bar.style.width = `${(100 * share / most).toFixed(2)}%`;
        bar.hidden = !share;
        bars.append(bar);
      });
      item.append(make('small', 'place', String(place)), make('bdi', '', name), bars,
                  make('span', 'number before', percent(before)),
                  make('span', 'number after', after ? percent(after) : 'cut'));
      item.title = `“${token.text}” (id ${token.token_id}): ${before} before, ${after} after the controls`;
      return item;
    };

    // Of the tokens that are not listed: how many there are, what the model gives them, and what is left of that.
    const others = (rows, before, after) => {
      const count = scores.length - rows.length;
      const listed = stage => rows.reduce((sum, {token}) => sum + stage.shares[token.token_id], 0);
      const kept = after.left - rows.filter(({token}) => after.shares[token.token_id]).length;
      const words = `and ${count.toLocaleString('en')} more, to which the model gives ${percent(Math.max(0, 1 - listed(before)))}`;
      const left = kept ? `${kept.toLocaleString('en')} of them ${kept === 1 ? 'is' : 'are'} kept, with ${percent(Math.max(0, 1 - listed(after)))}` : 'all of them are cut';
      return make('p', 'note', before === after ? `${words}.` : `${words}; after the controls ${left}.`);
    };

    const table = stages => {
      const made = make('table', 'stages');
      const head = make('tr');
      ['After', 'Tokens left', 'Probability they had', 'Entropy'].forEach(words => head.append(make('th', '', words, {scope: 'col'})));
      const body = make('tbody');
      stages.forEach(stage => {
        const line = make('tr');
        const name = NAMES[stage.name] + (stage.value === undefined ? '' : ` ${stage.value}`);
        const mass = make('td');
        const bar = make('i', 'mass');
        bar.style.setProperty('--v', stage.mass);
        mass.append(bar, make('span', 'number', percent(stage.mass)));
        line.append(make('th', '', name, {scope: 'row'}), make('td', 'number', stage.left.toLocaleString('en')), mass,
                    make('td', 'number', bits(stage.entropy)));
        body.append(line);
      });
      const heads = make('thead');
      heads.append(head);
      made.append(heads, body);
      return made;
    };

    // The likeliest, and all known ones that a control keeps: typical p may cut every one of the likeliest.
    const save = (shown, before, after) => {
      const controls = Object.entries(settings), cuts = after.left < scores.length;
      const saved = shown.filter(({token, place}) => place <= SAVED || (cuts && after.shares[token.token_id]));
      const rows = saved.map(({token: {text, token_id: id}, place}) =>
        [data.model, data.ending, place, text, id, before.shares[id], after.shares[id], ...controls.map(([, number]) => number)]);
      const heads = ['model', 'after', 'rank', 'token', 'token_id', 'probability', 'probability_after', ...controls.map(([name]) => name)];
      explorer.attentionTake.table(`next-token-after-${explorer.attentionTake.slug(data.model)}`, [heads, ...rows]);
    };

    const draw = () => {
      if (!data) return;
      const began = performance.now();
      const stages = decoding.stages(scores, data.prompt_ids, settings);
      const [before, after] = [stages[0], stages.at(-1)];
      const shown = data.tokens.map((token, index) => ({token, place: index + 1}));
      const left = shown.filter(({token}) => after.shares[token.token_id]);
      const least = left.some(({place}) => place <= ROWS) ? 0.01 : 0;
      const gained = left.filter(({token, place}) => place > ROWS && after.shares[token.token_id] > least)
        .sort((one, other) => after.shares[other.token.token_id] - after.shares[one.token.token_id]).slice(0, GAINED);
      const rows = [...shown.slice(0, ROWS), ...gained];
      const most = Math.max(...rows.flatMap(({token: {token_id: id}}) => [before.shares[id], after.shares[id]]));
      const list = make('ol', 'tokens-next'), among = seenAmong(rows.map(({token}) => token.text));
      const reads = text => (data.ending.replace(/\[[A-Z]+\]|<\/?\w+>/g, '').trim() ? among(text) : among(text).replace(/^…/, '')); // nothing stands before to be gone on with
      const share = (stage, {token}) => stage.shares[token.token_id];
      const cut = shown.slice(0, ROWS).findIndex(one => !share(after, one));
      rows.forEach((one, index) =>
        list.append(row(one.token, reads(one.token.text), one.place, share(before, one), share(after, one), most, index === cut && cut > 0)));
      const heads = make('p', 'heads');
      heads.append(make('span', '', 'Next token'), make('span', 'number key-p', 'model'), make('span', 'number key-chance', 'after'));
      const isPlain = Boolean(undrawn) && before === after; // "after" would repeat it, as if it were drawn from
      element.classList.toggle('plain', isPlain);
      const first = rows.reduce((best, one) => (share(after, one) > share(after, best) ? one : best));
      const said = undrawn?.replace('{token}', () => `“${reads(first.token.text)}”`).replace('{after}', before === after ? '' : ' after the controls');
      const advice = `${said} Choose Sampling to see what temperature and top p make of the numbers.`;
      const after_words = undrawn ? advice : stages.length > 1
        ? `The controls keep ${after.left.toLocaleString('en')} of ${scores.length.toLocaleString('en')} tokens, to which the model gave ${percent(before === after ? 1 : after.mass)}.`
        : 'No control is moved: what is drawn from is what the model says. Move temperature or top p.';
      const text = make('p', 'ending', '', {dir: 'auto'});
      text.append(make('span', '', data.ending), make('b', 'gap', ' ?'));
      const isMarked = mark => rows.some(({token: {text}}) => reads(text).startsWith(mark) && text.trim());
      const signs = Object.entries(SIGNS).filter(([mark]) => isMarked(mark)).map(([mark, words]) => make('p', 'note', `${mark}: ${words}.`));
      const how = make('p', 'note', 'Each control works on what the one above it left: top p counts its share after the temperature.');
      const taken = make('div', 'take-away');
      const take = make('button', '', 'CSV of before and after', {type: 'button', 'data-take': 'after'});
      take.addEventListener('click', () => save(shown, before, after));
      taken.append(take);
      element.replaceChildren(text, make('p', 'kept', after_words, {role: 'status'}), heads, list, others(rows, before, after), ...signs, table(stages), ...(stages.length > 2 ? [how] : []), taken);
      element.explorer = {stages, ids: data.prompt_ids};
      element.dataset.ms = (performance.now() - began).toFixed(1);
    };

    const read = () => {
      if (props.value === value) return;
      value = props.value;
      if (!value) return;
      data = JSON.parse(value);
      scores = decoding.unpack(data.logits, data.highest);
      draw();
    };
    drawings.add(draw);
    watch('value', read);
    read();
  };

  // Write: by Ctrl+Enter anywhere in the tab, after an example was chosen, and when a link was opened.
  const button = id => document.querySelector(`button#${id}, #${id} button`);
  explorer.pressWrite = () => button('generate-write')?.click();
  document.addEventListener('keydown', event => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey) && button('generate-write')?.offsetParent) explorer.pressWrite();
  });
})();
