// The view "Write": text that grows token by token, each on a background that says how expected it was, with its
// alternatives a hover, a tap or an arrow key away. What it draws comes as lines of JSON (figures/writing.py).
(() => {
  const explorer = (window.explorer = window.explorer || {});

  const read = line => {
    const facts = JSON.parse(line);
    if (facts.kind === 'step') [facts.probability, facts.chance, facts.rank, facts.entropy] = facts.numbers;
    return facts;
  };

  // A link holds what was asked for, not what was written: it is written anew, and the seed makes it the same.
  let opened = new URLSearchParams(location.search);
  const looksAtIt = wanted => ['write', null].includes(wanted.get('show')) || wanted.get('after') === 'written';
  const isAsked = (wanted, head) => wanted.get('tab') === 'generate' && looksAtIt(wanted) &&
    (Object.entries({text: head.prompt, model: head.model}).some(([name, value]) => (wanted.get(name) ?? value) !== value) ||
     [...wanted.keys()].some(name => !['tab', 'show', 'text', 'model', 'colour'].includes(name)));
  const writeWhatWasAsked = (head, write) => {
    const wanted = opened;
    opened = new URLSearchParams();
    if (!(explorer.isToWrite = isAsked(wanted, head))) return;
    const press = () => (document.body.dataset.restored ? write() : setTimeout(press, 30));
    press();
  };

  const SKELETON = `
    <div class="sheet-bar"><div class="sheet-measures" role="radiogroup" aria-label="Colour by"></div>
      <div class="sheet-legend"></div></div>
    <div class="sheet-text" dir="auto" role="group" aria-label="Prompt and what was written. Arrow keys walk the tokens."
      ><span class="given"></span><span class="written"></span></div>
    <p class="sheet-other" role="status" hidden></p>
    <div class="sheet-status" role="status"></div>
    <div class="sheet-popover" role="dialog" aria-label="What else might stand here" hidden></div>
    <section class="sheet-compare" hidden></section>
    <section class="sheet-branches" hidden></section>`;

  explorer.writing = (element, trigger, props, watch) => {
    const {percent, bits, surprisal, make, seenAmong, dress, MEASURES} = explorer;
    element.innerHTML = SKELETON;
    element.classList.add('sheet');
    const [measures, legend, given, written, status, popover] =
      ['.sheet-measures', '.sheet-legend', '.given', '.written', '.sheet-status', '.sheet-popover'].map(name =>
        element.querySelector(name));
    const branches = explorer.branches(element, trigger);
    let head = {turn: -1}, steps = [], tail = null, known = null, seenValue = '', measure = 'probability';
    let open = null, hiding = 0, began = 0;

    const prompt = () => document.querySelector('#generate-text textarea')?.value ?? head.prompt;
    let asked = null, controls = new Map(); // the model that was chosen since; the fields as they stood when it was asked
    const compare = () => {
      const isOthers = asked !== null && asked !== head.model, isAnswered = prompt().trim() === head.prompt?.trim();
      const isOld = !isAnswered || isOthers || explorer.fieldsDiffer(controls, explorer.fieldsIn('.generating .settings'));
      const other = element.querySelector('.sheet-other');
      other.hidden = !isOld && !head.is_other;
      other.classList.toggle('of-branch', !isOld); // which was gone back to, to be read
      other.replaceChildren(isOthers ? `${head.model} wrote this. `
          : `This was written ${!isAnswered ? 'from another prompt' : head.is_other ? 'with other settings, which no link keeps' : 'with the settings before'}. `,
        make('span', 'press', `Press Write, or Enter, for ${isOthers ? `a text by ${asked}` :
          isAnswered ? 'one with yours' : 'one from yours'}.`));
    };
    const stand = () => // only then the prompt of a link is in its box, too
      document.body.dataset.restored ? (controls = explorer.fieldsIn('.generating .settings'), compare()) : setTimeout(stand, 50);
    stand();
    explorer.setAnew = () => setTimeout(compare, 50); // Gradio has put it into the fields by then
    document.addEventListener('input', ({target}) => target.closest('.generating .settings') && explorer.setAnew());
    document.addEventListener('click', ({target}) => target.closest('.generating .settings .reset-button') && explorer.setAnew());
    explorer.addTaken('.generating .settings', () => controls);
    explorer.askedWriter = model => {
      asked = model;
      compare();
    };
    document.addEventListener('input', event => event.target.closest('#generate-text') && compare());

    const colour = () => {
      element.dataset.hue = MEASURES[measure].hue;
      element.dataset.measure = measure;
      measures.querySelectorAll('button').forEach(button =>
        button.setAttribute('aria-checked', button.dataset.measure === measure));
      written.childNodes.forEach((span, index) => dress(span, steps[index], measure));
      const {least, most, hint, label} = MEASURES[measure];
      legend.replaceChildren(make('span', '', least), make('i', 'scale'), make('span', '', most),
                             make('span', 'hint', hint));
      legend.setAttribute('aria-label', `${label}: the bar under a token and its background grow from ${least} to ${most}`);
      branches.colour(measure);
    };
    explorer.colourBy = name => { // a link says by which
      if (!(name in MEASURES) || name === measure) return;
      measure = name;
      colour();
    };
    Object.entries(MEASURES).forEach(([key, {label}]) =>
      measures.append(make('button', 'measure', label, {type: 'button', role: 'radio', 'data-measure': key})));
    measures.addEventListener('click', event => {
      const button = event.target.closest('[data-measure]');
      if (!button) return;
      explorer.colourBy(button.dataset.measure);
      const box = document.querySelector('#generate-colour textarea, #generate-colour input');
      box.value = measure;
      box.dispatchEvent(new Event('input', {bubbles: true}));
    });

    // Only what is new is drawn: a token that stays keeps its element, focus and selection; else its successor has focus.
    const spell = wanted => {
      let same = 0;
      const held = [...written.childNodes].indexOf(document.activeElement);
      while (same < wanted.length && same < steps.length && wanted[same].node === steps[same].node &&
             wanted[same].id === steps[same].id) same += 1;
      while (written.childNodes.length > same) written.lastChild.remove();
      wanted.slice(same).forEach((step, offset) => {
        const isFirst = same + offset === 0;
        const span = make('span', `tok${step.how === 'chosen by hand' ? ' by-hand' : ''}${step.text ? '' : ' silent'}`,
                          step.text, {tabindex: isFirst ? 0 : -1, 'data-index': same + offset});
        span.setAttribute('aria-haspopup', 'dialog');
        dress(span, step, measure);
        written.append(span);
      });
      steps = wanted;
      if (open !== null && open >= same) close();
      if (held >= same) rest(written.childNodes[held]);
    };

    // The buttons stay the same elements: one that is drawn anew while it is pressed would lose the click.
    const said = make('span'), counted = count => `${count} token${count === 1 ? '' : 's'}`;
    const stopping = make('button', 'stop', 'Stop', {type: 'button', 'data-action': 'stop', title: 'Escape stops, too'});
    const going = make('button', '', 'Write on', {type: 'button', 'data-act': 'more', title: 'From the end of the text'});
    status.append(said, stopping, going);
    const say = () => {
      const isWriting = tail === null;
      element.classList.toggle('writing', isWriting);
      status.classList.toggle('working', isWriting);
      stopping.hidden = !isWriting;
      going.hidden = !tail?.may_go_on;
      if (isWriting) {
        const seconds = (performance.now() - began) / 1000;
        said.textContent = steps.length ? `Writing … ${counted(steps.length)}, ${seconds.toFixed(1)} s` : 'Writing …';
        return;
      }
      const {tokens, total, mean, words} = tail;
      const sums = `${counted(tokens)}, surprisal ${total} bits${tokens > 1 ? ` (${mean} per token)` : ''}. `;
      said.textContent = (tokens ? sums : '') + words;
    };

    // Popover
    const bar = (share, names) => make('i', names, '', {style: `width: ${(100 * share).toFixed(1)}%`});
    const fill = step => {
      const facts = make('p', 'facts'), reads = seenAmong([step.text, ...step.options.map(([, text]) => text)]);
      facts.append(make('b', '', reads(step.text)), document.createTextNode(
        ` ${percent(step.probability)} · ${step.is_taken ? '' : `${percent(step.chance)} after the controls · `}rank ${step.rank.toLocaleString('en')} · ` +
        `surprisal ${bits(surprisal(step.probability))} · entropy ${bits(step.entropy)}` +
        (step.how === 'chosen by hand' ? ' · chosen by you' : '')));
      const options = [...step.options];
      if (!options.some(([id]) => id === step.id)) options.push([step.id, step.text, step.probability, step.chance, step.rank]);
      const most = Math.max(...options.flatMap(([, , probability, chance]) => [probability, step.is_taken ? 0 : chance]), 1e-9);
      const after = chance => (step.is_taken ? (chance ? 'taken' : '') : chance ? percent(chance) : 'cut'); // a search draws nothing
      const list = make('ul', 'options');
      options.forEach(([id, text, probability, chance, rank], place) => {
        const isWritten = id === step.id;
        const button = make('button', `option${isWritten ? ' chosen' : ''}${chance || step.is_taken ? '' : ' cut'}`, '',
                            {type: 'button', 'data-token': id});
        if (isWritten) button.setAttribute('aria-current', 'true');
        const bars = make('span', 'bars');
        bars.append(bar(probability / most, 'p'), ...(step.is_taken ? [] : [bar(chance / most, 'chance')]));
        button.append(make('small', 'place', String(rank ?? place + 1)), make('bdi', '', reads(text)), bars,
                      make('span', 'number', percent(probability)), make('span', 'number', after(chance)));
        const item = make('li');
        item.append(button);
        list.append(item);
      });
      const heads = make('p', 'heads'), last = step.is_taken ? make('span', 'number') : make('span', 'number key-chance', 'after');
      heads.append(make('span', '', 'Click another token to go on from it'), make('span', 'number key-p', 'model'), last);
      popover.replaceChildren(facts, heads, list);
    };
    const place = span => {
      const frame = element.getBoundingClientRect(), rect = [...span.getClientRects()].pop() || span.getBoundingClientRect();
      const width = Math.min(360, frame.width);
      popover.style.width = `${width}px`;
      popover.style.left = `${Math.max(0, Math.min(rect.left - frame.left - 12, frame.width - width))}px`;
      popover.style.top = `${rect.bottom - frame.top + 3}px`;
    };
    const show = index => {
      clearTimeout(hiding);
      if (open === index || !steps[index]) return;
      written.childNodes[open]?.classList.remove('open');
      open = index;
      const span = written.childNodes[index];
      span.classList.add('open');
      written.querySelectorAll('[tabindex="0"]').forEach(other => (other.tabIndex = -1));
      span.tabIndex = 0;
      fill(steps[index]);
      place(span);
      popover.hidden = false;
    };
    const close = () => {
      clearTimeout(hiding);
      written.childNodes[open]?.classList.remove('open');
      open = null;
      popover.hidden = true;
    };
    const rest = span => { // with the focus, and without what that opens
      span?.focus({preventScroll: true});
      close();
    };
    const closeSoon = () => {
      clearTimeout(hiding);
      hiding = setTimeout(() => popover.contains(document.activeElement) || close(), 350);
    };
    const indexOf = target => target.closest?.('.tok') && Number(target.closest('.tok').dataset.index);

    let opening = 0, over = null;
    written.addEventListener('pointermove', event => { // not pointerover: what grows under a mouse at rest is not pointed at
      const index = indexOf(event.target) ?? null;
      if (event.pointerType === 'touch' || event.buttons || index === over) return; // a finger taps; a pressed mouse selects text
      clearTimeout(opening);
      over = index;
      if (index !== null) opening = setTimeout(() => show(index), open === null ? 60 : 120);
    });
    written.addEventListener('pointerout', event => (clearTimeout(opening), (over = null), event.pointerType === 'touch' || closeSoon()));
    popover.addEventListener('pointerenter', () => (clearTimeout(hiding), clearTimeout(opening)));
    popover.addEventListener('pointerleave', closeSoon);
    written.addEventListener('click', event => {
      const index = indexOf(event.target);
      if (index !== null && index !== undefined && getSelection().isCollapsed) {
        show(index);
        popover.scrollIntoView({block: 'nearest'}); // a tap low on a phone
      }
    });
    written.addEventListener('focusin', event => event.target.matches(':focus-visible') && show(indexOf(event.target)));
    element.addEventListener('focusout', ({relatedTarget: next}) => // and not what lies under it
      next && !written.contains(next) && !popover.contains(next) && close());
    document.addEventListener('pointerdown', event => open !== null && !element.contains(event.target) && close());
    popover.addEventListener('click', event => {
      const button = event.target.closest('[data-token]');
      if (!button || button.classList.contains('chosen')) return;
      const asked = {act: 'choose', node: steps[open].node, token: Number(button.dataset.token)};
      if (event.detail) close();
      else rest(written.childNodes[open]); // by keyboard
      began = performance.now();
      trigger('select', asked);
    });

    // Arrow keys: left and right walk the tokens, down leads into the alternatives, Escape out of them.
    element.addEventListener('keydown', event => {
      const token = event.target.closest('.tok'), option = event.target.closest('.option'), leaf = event.target.closest('.leaf');
      const ends = {Home: -Infinity, End: Infinity}[event.key];
      const go = {ArrowRight: 1, ArrowLeft: -1}[event.key] ?? ends, step = {ArrowDown: 1, ArrowUp: -1}[event.key] ?? ends;
      const leap = (all, from, by) => all[Math.min(Math.max(all.indexOf(from) + by, 0), all.length - 1)].focus();
      if (token && go) leap([...written.childNodes], token, go);
      else if (token && (event.key === 'ArrowDown' || event.key === 'Enter')) {
        show(Number(token.dataset.index));
        popover.querySelector('.option')?.focus();
      } else if (option && step) leap([...popover.querySelectorAll('.option')], option, step);
      else if (leaf && step) leap([...element.querySelectorAll('.leaf')], leaf, step);
      else if (event.key === 'Escape' && open !== null) return rest(written.childNodes[open]);
      else return;
      event.preventDefault();
    });

    element.addEventListener('click', event => {
      if (!event.target.closest('[data-act="more"]')) return;
      began = performance.now();
      trigger('select', {act: 'more'});
    });

    const draw = () => {
      const value = String(props.value ?? '');
      if (value === seenValue || !value.endsWith('\n')) return;
      const isMore = seenValue && value.startsWith(seenValue);
      const lines = (isMore ? value.slice(seenValue.length) : value).trimEnd().split('\n').map(read);
      if (!isMore) {
        if (lines[0].turn < head.turn) return; // late: of what was stopped or overtaken
        if (lines[0].turn !== head.turn) {
          began = performance.now();
          stand();
        }
        if (lines[0].prompt !== head.prompt || lines[0].model !== head.model) { // another tree, whose tokens are others
          known = null;
          steps = [];
          written.replaceChildren();
        }
        head = lines.shift();
        tail = null;
        given.textContent = head.prompt;
        compare();
      }
      seenValue = value;
      const end = lines.find(facts => facts.kind === 'tail');
      const fresh = lines.filter(facts => facts.kind === 'step');
      spell(isMore ? [...steps, ...fresh] : fresh);
      if (end) tail = known = end;
      say();
      branches.draw(known, !tail);
    };
    watch('value', draw);
    colour();
    draw();
    writeWhatWasAsked(head, () => (trigger('select', {act: 'opened'}), setTimeout(() => (explorer.isToWrite = false), 100)));
  };
})();
