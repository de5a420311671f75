// The tab "Neighbours": whatever stands for a use, in any view, makes it the query: <... data-use="12">. The list of all
// uses is walked by arrow keys.
(() => {
  const explorer = (window.explorer = window.explorer || {});
  const BOX = '#neighbours-use input';
  const LISTED = '#neighbours-listed input';
  const LIST = '#use-list .use-list';
  const SENSES = '#use-list select.use-senses';

  // A press on a use, wherever it stands; go follows when the box has it.
  const choose = use => {
    const box = document.querySelector(BOX);
    if (!box) return;
    const query = document.querySelector('#near-query textarea');
    if (query?.value) { // a sentence that was typed makes room for the one that was pressed
      query.value = '';
      query.dispatchEvent(new Event('input', {bubbles: true}));
    }
    if (box.value === String(use)) return;
    box.value = String(use);
    box.dispatchEvent(new Event('input', {bubbles: true}));
    go(use);
  };

  // Mark a use in the list, and bring it into sight there without moving the page.
  const go = use => {
    const list = document.querySelector(LIST);
    if (!list) return;
    const row = list.querySelector(`[data-use="${Number(use)}"]`);
    list.querySelectorAll('[aria-current]').forEach(one => one === row || one.removeAttribute('aria-current'));
    row?.setAttribute('aria-current', 'true');
    enterAt(list, row);
    show(list, row);
  };
  // The list is one stop of Tab: the row given, or the first in sight where that is not; arrow keys walk on from there.
  const rowsOf = list => [...list.querySelectorAll('li:not([hidden]) > button')];
  const chosenOf = list => list.querySelector('[aria-current]');
  const enterAt = (list, row) => {
    const rows = rowsOf(list), entry = rows.includes(row) ? row : rows[0];
    list.querySelectorAll('button[tabindex="0"]').forEach(one => one === entry || (one.tabIndex = -1));
    if (entry && entry.tabIndex !== 0) entry.tabIndex = 0;
  };
  const show = (list, row) => {
    if (!row || !list.clientHeight) return;
    const [seen, at] = [list.getBoundingClientRect(), row.getBoundingClientRect()];
    if (at.top < seen.top || at.bottom > seen.bottom) list.scrollTop += at.top - seen.top - (seen.height - at.height) / 2;
  };

  // One sense alone, by its place among the choices; 0 and what is none of them: all.
  const listSense = number => {
    const [list, choice] = [document.querySelector(LIST), document.querySelector(SENSES)];
    if (!list || !choice) return;
    choice.value = [...choice.options].some(one => one.value === String(number)) ? String(number) : '0';
    const isOther = row => choice.value !== '0' && row.dataset.sense !== choice.value;
    const changed = [...list.querySelectorAll('li')].filter(row => row.hidden !== isOther(row));
    if (!changed.length) return;
    changed.forEach(row => (row.hidden = !row.hidden));
    list.scrollTop = 0;
    enterAt(list, chosenOf(list));
  };

  document.addEventListener('click', event => {
    const use = event.target.closest?.('button[data-use]');
    if (use) choose(use.dataset.use);
  });
  document.addEventListener('change', event => {
    const choice = event.target.closest?.(SENSES);
    const box = choice && document.querySelector(LISTED);
    if (!box) return;
    box.value = choice.value;
    box.dispatchEvent(new Event('input', {bubbles: true}));
    listSense(choice.value);
  });
  document.addEventListener('keydown', event => {
    const list = event.target.closest?.(LIST);
    if (!list || event.ctrlKey || event.altKey || event.metaKey) return;
    const rows = rowsOf(list), at = rows.indexOf(event.target), last = rows.length - 1;
    const to = {ArrowUp: Math.max(at - 1, 0), ArrowDown: Math.min(at + 1, last), Home: 0, End: last}[event.key];
    if (at < 0 || to === undefined) return;
    event.preventDefault();
    rows[to].focus();
  });
  document.addEventListener('focusin', event => {
    const list = event.target.closest?.(LIST);
    if (list) enterAt(list, event.target);
  });
  document.addEventListener('focusout', event => {
    const list = event.target.closest?.(LIST);
    if (list && !list.contains(event.relatedTarget)) enterAt(list, chosenOf(list));
  });

  // The list is drawn anew for another word, maybe before it is known which use is looked at; it comes into sight with
  // its tab.
  const follow = element => {
    const look = () => {
      const list = element.querySelector('.use-list');
      if (list) show(list, chosenOf(list));
    };
    const drawn = () => {
      listSense(document.querySelector(LISTED)?.value);
      const use = document.querySelector(BOX)?.value;
      if (use && element.querySelector(`.use-list [data-use="${Number(use)}"]`)) go(use);
      else look();
    };
    new MutationObserver(drawn).observe(element, {childList: true, subtree: true});
    new IntersectionObserver(seen => seen.some(one => one.isIntersecting) && look()).observe(element);
  };

  explorer.neighbours = {choose, follow, go, listSense};
})();
