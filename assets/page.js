// What the page does without asking the server: addresses that restore a view, Stop and Escape.
(() => {
  const explorer = (window.explorer = {});

  // Gradio's <base href="./"> changes nothing but this: plotly names its clip paths by the whole address where there is
  // a base, and what they clip (lines, shapes) is gone once the address has changed.
  document.querySelector('base[href="./"]')?.remove();

  // A link opens at the tab that it names, and at the view if it names no more: else Gradio would draw the first ones,
  // figures and all, only to leave them when the server has read the address. What else it names is not there yet.
  const asked = new URLSearchParams(location.search);
  const isBare = [...asked.keys()].every(name => name === 'tab' || name === 'show');
  const {components = [], dependencies = [], layout} = window.gradio_config ?? {};
  const known = new Map(components.map(component => [component.id, component]));
  const openAt = ({id, children = []}, name) => {
    const component = known.get(id);
    if (component?.type !== 'tabs') return children.forEach(child => openAt(child, name));
    const chosen = children.find(child => known.get(child.id)?.props.id === asked.get(name));
    if (!chosen) return;
    component.props.selected = asked.get(name);
    if (isBare) openAt(chosen, 'show'); // the tab has views in turn
  };
  if (layout) openAt(layout, 'tab');

  // Gradio asks each component for each event, and watches every word of both for changes; what an event is never changes.
  // Only plain objects are watched: with these plain no more, the page is built in half the time.
  const leaveUnwatched = facts => {
    if (!facts || typeof facts !== 'object') return;
    Object.values(facts).forEach(leaveUnwatched);
    Object.setPrototypeOf(facts, Object.create(Object.getPrototypeOf(facts)));
  };
  dependencies.forEach(leaveUnwatched);

  // The address follows the view. A press on a tab or an example is a step that Back returns from; typing is none.
  // Gradio repeats the address in every request, so that a long one would be refused by servers and proxies.
  const MOST_CHARACTERS = 4000;
  const LONG = ['own', 'own_pairs']; // a view stands without them; the longest goes first, and if that is not enough, all
  const TELLING_CHARACTERS = 100; // of a field that is left out: who opens the link is told of it, not of each setting
  const SHORT = ['tab', 'model', 'strategy', 'show', 'objective', 'roll', 'at', 'look', 'word', 'use', 'layer'];
  let isStep = false;
  let inSight = null; // the tab; a late answer in another must not take the address back to it
  explorer.remember = (tab, isChosen, names, defaults, values) => {
    if (isChosen) inSight = tab;
    if (!document.body.dataset.restored || inSight !== tab) return;
    const query = new URLSearchParams({tab});
    names.forEach((name, index) => {
      const value = values[index];
      const words = Array.isArray(value) ? value.join('|') : String(value ?? '');
      if (words !== defaults[name]) query.set(name, words);
    });
    const isTooLong = () => String(query).length > MOST_CHARACTERS;
    const lengthOf = name => (query.get(name) ?? '').length;
    explorer.cut = [];
    const drop = name => {
      if (lengthOf(name) > TELLING_CHARACTERS) explorer.cut.push(name);
      query.delete(name);
    };
    [...LONG].sort((one, other) => lengthOf(other) - lengthOf(one)).forEach(name => isTooLong() && drop(name));
    if (isTooLong()) names.forEach(name => SHORT.includes(name) || drop(name));
    if (explorer.cut.length) query.set('without', explorer.cut.join('|'));
    if (location.search === '?' + query) return;
    history[isStep ? 'pushState' : 'replaceState'](null, '', location.pathname + '?' + query);
    isStep = false;
  };
  // What is told only once the hand rests, or else the address would follow each press. Who asks for the address before
  // that has it told at once: hasten() says whether anything was waiting.
  const waiting = new Set();
  explorer.resting = milliseconds => {
    let timer = 0;
    let tell = null;
    const now = () => {
      stop();
      tell();
    };
    const stop = () => {
      clearTimeout(timer);
      waiting.delete(now);
    };
    const rest = action => {
      clearTimeout(timer);
      tell = action;
      waiting.add(now);
      timer = setTimeout(now, milliseconds);
    };
    return {rest, stop};
  };
  explorer.hasten = () => {
    const actions = [...waiting];
    actions.forEach(now => now());
    return actions.length > 0;
  };
  document.addEventListener('click', event => {
    if (event.target.closest('[role="tab"], .overflow-dropdown button, .example')) isStep = true;
  }, true);

  // A model that was chosen by hand goes along to the tabs that are pressed next, once to each: an example there may
  // have its own. An address names its own, too.
  let chosen = null;
  const carriedTo = new Set();
  // Gradio says that a list was used whenever it is left, too.
  const stood = new Map();
  explorer.entered = (list, value) => { stood.set(list, value); };
  explorer.isOther = (list, value) => {
    const other = stood.get(list) !== value;
    stood.set(list, value);
    return other;
  };
  explorer.chose = (tab, name) => {
    if (!explorer.isOther('model', name)) return;
    chosen = name;
    carriedTo.clear();
    carriedTo.add(tab);
  };
  explorer.carried = (tab, offered, name) => {
    if (!document.body.dataset.restored || !offered.includes(chosen) || carriedTo.has(tab)) return name;
    carriedTo.add(tab);
    return chosen;
  };
  document.addEventListener('input', () => (isStep = false), true);

  // Examples stand below what they change: a press on one brings that back into sight, and keeps it there while the
  // answer comes and changes heights, until the visitor touches anything.
  const NARROW_PIXELS = 768;
  let wanted = null;
  const bringBack = () => {
    if (!wanted || wanted.getBoundingClientRect().top > -1) return;
    const behavior = matchMedia('(prefers-reduced-motion: reduce)').matches ? 'auto' : 'smooth';
    wanted.scrollIntoView({behavior, block: 'start'});
  };
  const arrivals = new MutationObserver(bringBack);
  const letGo = () => {
    arrivals.disconnect();
    wanted = null;
  };
  for (const touch of ['pointerdown', 'wheel', 'touchstart', 'keydown']) addEventListener(touch, letGo, {capture: true, passive: true});
  addEventListener('scrollend', bringBack);
  document.addEventListener('click', event => {
    const example = event.target.closest('.example');
    if (!example || example.closest('.result-side')) return;
    wanted = example.closest('[role="tabpanel"]')?.querySelector(innerWidth < NARROW_PIXELS ? '.result-side' : '.halves');
    if (wanted) arrivals.observe(wanted, {childList: true, subtree: true});
    bringBack();
  });

  // What an example says to look for goes when a field of its tab is touched; the server knows what an address leads to.
  const looksOf = panel => panel?.querySelectorAll('.until-touched') ?? []; // Gradio gives the class to a block and to what it holds
  const forgetLook = (panel, isKept = () => false) => looksOf(panel).forEach(look => look.querySelector('p') && !isKept(look) && look.classList.add('gone')); // an empty one has no room to keep
  document.addEventListener('input', event => {
    if (event.target.closest('.controls-side, textarea')) forgetLook(event.target.closest('.halves')?.closest('[role="tabpanel"]'));
  });
  document.addEventListener('click', event => {
    const panel = event.target.closest('[role="tabpanel"]');
    if (event.target.closest('#use-list')) forgetLook(panel);
    const view = event.target.closest('.views > .tab-wrapper') && (event.target.closest('button')?.textContent.trim() ?? '');
    if (view !== null) forgetLook(panel, look => look.textContent.includes(view)); // the line leads there
    if (event.target.closest('.leaf')) forgetLook(event.target.closest('.halves').closest('[role="tabpanel"]'));
    const example = event.target.closest('.example');
    if (example && !example.closest('.result-side')) looksOf(panel).forEach(look => look.classList.remove('gone'));
  });
  // A list closes when its option is pressed, before that is a click.
  const OPTION = '.controls-side [role="option"]', BOX = '.controls-side input[role="combobox"]';
  for (const [kind, isChoice] of [['pointerdown', ({target}) => target.closest(OPTION)], ['keydown', ({target, key}) => key === 'Enter' && target.matches(BOX)]])
    document.addEventListener(kind, event => isChoice(event) && forgetLook(event.target.closest('.halves')?.closest('[role="tabpanel"]')), true);
  const recallLooks = () => document.querySelectorAll('.until-touched').forEach(look => look.classList.remove('gone'));

  // Beside a tab's question: opens the fold at its end that says why it matters, and goes there.
  document.addEventListener('click', event => {
    const fold = event.target.closest('.to-why')?.closest('[role="tabpanel"]')?.querySelector('.why');
    const label = fold?.querySelector('button');
    if (!label) return;
    if (label.getAttribute('aria-expanded') === 'false' || !label.classList.contains('open')) label.click();
    label.focus({preventScroll: true});
    fold.scrollIntoView({block: 'start'});
  });

  // Going back asks the server to put the address into the fields; until it has, they do not change the address.
  // One step at a time: an answer to an earlier step must not overtake that to a later one.
  let isRestoring = false;
  let isLate = false;
  const press = id => { // Gradio says that the page is loaded before all of it stands there
    const button = document.querySelector(`button#${id}, #${id} button`);
    button ? button.click() : setTimeout(press, 20, id);
  };
  const restore = () => {
    isRestoring = true;
    isLate = false;
    press('restore-view');
  };
  explorer.opened = () => {
    if (!location.search) return explorer.restored();
    isRestoring = true;
    press('restore-address');
  };
  // What stands in a fold that was never open is not on the page: where the address names any of it, it is opened.
  const FOLDS = {'#fold-languages': ['alpha', 'languages']};
  explorer.openFolds = () => {
    const named = new URLSearchParams(location.search);
    const isDue = ([fold, names]) => names.some(name => named.has(name)) && document.querySelector(fold)?.offsetParent;
    const labels = Object.entries(FOLDS).filter(isDue).map(([fold]) => document.querySelector(`${fold} > button:not(.open)`));
    labels.forEach(label => label?.click());
    return labels.some(label => label);
  };
  explorer.restored = () => {
    isRestoring = false;
    if (isLate) return void setTimeout(restore);
    document.body.dataset.restored = 'true';
    recallLooks(); // the server has put there what belongs to the address
    explorer.settle();
  };
  window.addEventListener('popstate', () => {
    delete document.body.dataset.restored;
    delete document.body.dataset.ready;
    isRestoring ? (isLate = true) : restore();
  });

  // A message stands by the field it is about; where that is out of sight, it floats at the lower edge of the window: an
  // error until something is clicked. Less than a line of it in sight is none.
  const PLACES = '.message-place, .refused-here, .corpus-message, #near-wrong';
  const LEAST_PIXELS = 24;
  const float = place => {
    const message = place?.querySelector('.message:not(.meanwhile)');
    if (!message?.offsetParent) return; // another tab's, or afloat already
    const {top, bottom} = message.getBoundingClientRect();
    message.classList.toggle('afloat', bottom < LEAST_PIXELS || top > innerHeight - LEAST_PIXELS);
  };
  new MutationObserver(records =>
    new Set(records.map(({target}) => (target.closest ? target : target.parentElement)?.closest(PLACES))).forEach(float)
  ).observe(document.body, {childList: true, characterData: true, subtree: true}); // Gradio changes what differs alone
  const land = () => document.querySelectorAll('.message.error.afloat').forEach(one => one.classList.remove('afloat'));
  document.addEventListener('click', land);

  // Stop: the button in the message, or Escape, presses the hidden one that Gradio knows.
  const stop = () => {
    const working = [...document.querySelectorAll('.message.working, .sheet-status.working')].find(box => box.getClientRects().length);
    const places = '[role="tabpanel"], .own-stop';
    for (let panel = working?.closest(places); panel; panel = panel.parentElement.closest(places)) {
      // a panel's own, a view's own, else its tab's
      const buttons = [...panel.querySelectorAll('button.stop-work, .stop-work button')];
      const button = buttons.find(one => (one.closest('.own-stop') ?? panel) === panel);
      if (button) return button.click();
    }
  };
  document.addEventListener('keydown', event => event.key === 'Escape' && (stop(), land()));
  // The message is drawn anew four times a second: a press that begins on one button and ends on the next is no click.
  document.addEventListener('pointerdown', event => event.target.closest('[data-action="stop"]') && stop());
  document.addEventListener('click', event => { // by keyboard
    if (event.detail === 0 && event.target.closest('[data-action="stop"]')) stop();
  });
})();
