// What Gradio's fields and tabs leave to be wished for by keyboard: lists close behind the focus and open again where
// it stayed, letters find in them, arrow keys walk tabs, and a number box shows what is taken; and where fields stand.
(() => {
  const explorer = (window.explorer = window.explorer || {});

  // Of the fields that are drawn in a place: label -> value. Gradio draws what is folded away when it is first opened.
  explorer.fieldsIn = place => new Map(
    [...document.querySelectorAll(`${place} :is(input[type="range"], input[type="number"], input[role="combobox"])`)]
      .map(field => [field.getAttribute('aria-label') ?? field.closest('[id]').id, field.value]));
  // What is drawn so late stands as it did when a visitor first takes hold of it.
  explorer.addTaken = (place, known) => ['focusin', 'pointerdown'].forEach(kind => document.addEventListener(kind, ({target}) =>
    target.closest?.(place) && explorer.fieldsIn(place).forEach((value, label) => known().has(label) || known().set(label, value)), true));
  explorer.fieldsDiffer = (some, others) => [...some].some(([label, value]) => (others.get(label) ?? value) !== value);

  // Any key opens the list, also that by which the visitor leaves it: Gradio is not to hear of it. And what can be
  // scrolled is a stop of Tab, which would lead into the list as it closes.
  const leaveList = event => {
    document.querySelectorAll('ul[role="listbox"]').forEach(list => (list.tabIndex = -1));
    event.stopImmediatePropagation();
  };

  const STEPS = {ArrowLeft: -1, ArrowRight: 1};
  const walkTabs = (tab, key) => {
    const all = [...tab.closest('[role="tablist"]').querySelectorAll('[role="tab"]')];
    const tabs = all.filter(one => one.checkVisibility() && !one.disabled);
    const place = {Home: 0, End: tabs.length - 1}[key] ?? (tabs.indexOf(tab) + STEPS[key] + tabs.length) % tabs.length;
    tabs[place].focus();
    tabs[place].click();
  };

  // Gradio's radio buttons are each of a group of their own, in which there is nowhere to go.
  const WAYS = {...STEPS, ArrowUp: -1, ArrowDown: 1};
  document.addEventListener('keydown', event => {
    const {target, key, altKey, ctrlKey, metaKey, shiftKey} = event;
    if (!(key in WAYS) || !target.matches('fieldset.block input[type="radio"]') || altKey || ctrlKey || metaKey || shiftKey) return;
    const all = [...target.closest('fieldset').querySelectorAll('input[type="radio"]')].filter(one => !one.disabled);
    const next = all[(all.indexOf(target) + WAYS[key] + all.length) % all.length];
    event.preventDefault();
    next.focus();
    next.click();
  });

  document.addEventListener('keydown', event => {
    const {target, key} = event;
    if (key === 'Tab' && target.matches('input[role="combobox"]')) return leaveList(event);
    if (!(key in STEPS || key === 'Home' || key === 'End') || !target.matches('[role="tab"]')) return;
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    walkTabs(target, key);
  }, true);

  // The tabs that have no room, under “More”: their list closes by Escape, and behind the focus.
  const shut = menu => {
    const isOpen = menu.querySelector('.overflow-dropdown:not(.hide)');
    if (isOpen) menu.querySelector('button').click();
    return isOpen;
  };
  document.addEventListener('keydown', ({target, key}) => {
    const menu = key === 'Escape' && target.closest('.overflow-menu');
    if (menu && shut(menu)) menu.querySelector('button').focus();
  });
  document.addEventListener('focusout', ({target, relatedTarget}) => {
    const menu = relatedTarget && target.closest('.overflow-menu');
    if (menu && !menu.contains(relatedTarget)) shut(menu);
  });

  // Letters in a list that cannot be searched lead to the entry that begins with them, as in a browser's own; Gradio
  // would leave only the entry that is chosen already.
  const SPELLING_MILLISECONDS = 700; // between two letters of one word
  let spelt = '', speltAt = -Infinity, aimedAt = -1;
  const pressIn = (field, key) => field.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true}));
  const spell = (field, key, isOpening = false) => {
    const list = document.getElementById(field.getAttribute('aria-controls'));
    if (!list && !isOpening) { // after Escape
      field.dispatchEvent(new FocusEvent('focus'));
      return void setTimeout(spell, 50, field, key, true);
    }
    const now = performance.now(), goesOn = now - speltAt < SPELLING_MILLISECONDS;
    spelt = (goesOn ? spelt : '') + key.toLowerCase();
    speltAt = now;
    const options = [...(list?.querySelectorAll('li') ?? [])];
    const here = goesOn ? aimedAt : options.findIndex(option => option.classList.contains('active'));
    const wanted = new Set(spelt).size > 1 ? spelt : spelt[0]; // the same again: the next that begins so
    const from = wanted.length > 1 ? here : here + 1; // a second letter may keep the entry that the first one found
    aimedAt = here;
    const order = options.map((_, place) => (place + Math.max(from, 0)) % options.length);
    const found = order.find(place => options[place].getAttribute('aria-label').toLowerCase().startsWith(wanted));
    if (found === undefined) return;
    aimedAt = found;
    pressIn(field, 'Home'); // and from there: which entry the last key led to may not be on the page yet
    for (let step = 0; step < found; step += 1) pressIn(field, 'ArrowDown');
  };
  document.addEventListener('keydown', event => {
    const {target, key} = event;
    if (!target.matches('input[role="combobox"][readonly]') || event.altKey || event.ctrlKey || event.metaKey) return;
    if (key.length > 1) return void (event.isTrusted && (speltAt = -Infinity)); // arrows lead elsewhere
    event.preventDefault();
    event.stopImmediatePropagation();
    if (key !== ' ' || performance.now() - speltAt < SPELLING_MILLISECONDS) spell(target, key);
    else if (target.getAttribute('aria-expanded') === 'true') pressIn(target, 'Enter');
    else target.dispatchEvent(new FocusEvent('focus'));
  }, true);

  // In one that can be searched, what is typed takes the place of the entry, and Escape brings the entry back.
  const SEARCHED = 'input[role="combobox"]:not([readonly])';
  let opened = null, entry = ''; // the field whose list a press opens; what stood in it
  document.addEventListener('pointerdown', ({target}) => (opened = target.closest(`${SEARCHED}[aria-expanded="false"]`)), true);
  document.addEventListener('focusin', ({target}) => target.matches(SEARCHED) && (entry = target.value));
  document.addEventListener('click', ({target}) => target === opened && target.select());
  document.addEventListener('keydown', ({target, key}) => {
    if (key !== 'Escape' || !target.matches(SEARCHED) || target.value === entry) return;
    target.value = entry;
    target.dispatchEvent(new Event('input', {bubbles: true}));
  }, true);

  // The server is asked for the choices when a field is entered, and Gradio lists them all once they come, also those
  // that do not hold what was typed meanwhile. It looks again at keys; these two leave the place in the list as it was.
  const hasRefreshed = () => {
    const field = document.activeElement;
    if (!field?.matches('input[role="combobox"][aria-expanded="true"]:not([readonly])') || field.value === entry) return;
    pressIn(field, 'ArrowDown');
    pressIn(field, 'ArrowUp');
  };
  explorer.refreshed = () => requestAnimationFrame(() => setTimeout(hasRefreshed)); // drawn by then

  // Escape closes a list whose field keeps the focus; Gradio opens it on nothing but the arrival of the focus.
  document.addEventListener('click', ({target}) => {
    if (target.matches('input[role="combobox"][aria-expanded="false"]') && target === document.activeElement)
      target.dispatchEvent(new FocusEvent('focus'));
  });

  // Enter takes an entry, and Gradio leaves the field. The focus comes back, so that keys go on from there; Gradio, which
  // would open the list, hears of it at the next key. On a phone it would bring the keys back.
  let entering = null, unheard = null; // fields
  const hear = ({target, key}) => {
    if (target !== unheard || ['Tab', 'Escape', 'Shift'].includes(key)) return;
    target.dispatchEvent(new FocusEvent('focus'));
  };
  document.addEventListener('keydown', hear, true);
  document.addEventListener('beforeinput', hear, true);
  document.addEventListener('keydown', ({target, key}) => {
    if (key !== 'Enter' || !target.matches('input[role="combobox"]') || !matchMedia('(hover: hover)').matches) return;
    entering = target;
    setTimeout(() => (entering = null));
  }, true);
  document.addEventListener('focus', event => {
    if (event.isTrusted && event.target === unheard) event.stopImmediatePropagation();
    else unheard = null;
  }, true);
  document.addEventListener('blur', ({target, relatedTarget}) => {
    unheard = null;
    if (target !== entering || relatedTarget) return;
    setTimeout(() => {
      if (document.activeElement !== document.body) return;
      unheard = target;
      target.focus({preventScroll: true});
    });
  }, true);

  // The number box of a slider: only what lies in its range is sent, for Gradio answers what is beyond with a bare
  // error, and forgets with it what was typed next. When the box is left, what is no number becomes the default.
  const SLIDER_BOX = 'input[type="number"][aria-label^="number input for"]';
  const isBelow = box => Number(box.value) < Number(box.min);
  document.addEventListener('input', event => {
    const {target: box} = event;
    if (!box.matches(SLIDER_BOX)) return;
    if (Number(box.value) > Number(box.max)) box.value = box.max;
    if (!box.value || isBelow(box)) event.stopImmediatePropagation();
  }, true);
  document.addEventListener('blur', ({target: box}) => {
    if (!box.matches?.(SLIDER_BOX) || (box.value && !isBelow(box))) return;
    if (box.value) {
      box.value = box.min;
      box.dispatchEvent(new Event('input', {bubbles: true}));
      return;
    }
    box.parentElement.querySelector('.reset-button')?.click();
    const range = box.closest('.wrap').querySelector('input[type="range"]');
    setTimeout(() => (box.value = range.value)); // also where the default stood before
  }, true);

  // A slider that hears where it stands before it hears of a new end stops at its old one; its box is right.
  new MutationObserver(changes => changes.forEach(({target}) => {
    const box = target.matches('input[type="range"]') && target.closest('.block')?.querySelector(SLIDER_BOX);
    if (box?.value) target.value = box.value;
  })).observe(document.body, {subtree: true, attributeFilter: ['max']});

  document.addEventListener('change', ({target}) => {
    const {value} = target;
    if (!target.matches('input[type="number"][step="1"]') || !value || Number.isInteger(Number(value))) return;
    target.value = Math.round(Number(value));
    target.dispatchEvent(new Event('input', {bubbles: true}));
  }, true);
})();
