// The tab "Neighbours": whatever stands for a use, in any view, makes it the query: <... data-use="12">.
(() => {
  const explorer = (window.explorer = window.explorer || {});
  const BOX = '#neighbours-use input';
  const LIST = '#use-list .use-list';

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
    show(list, row);
  };
  const show = (list, row) => {
    if (!row || !list.clientHeight) return;
    const [seen, at] = [list.getBoundingClientRect(), row.getBoundingClientRect()];
    if (at.top < seen.top || at.bottom > seen.bottom) list.scrollTop += at.top - seen.top - (seen.height - at.height) / 2;
  };

  document.addEventListener('click', event => {
    const use = event.target.closest?.('button[data-use]');
    if (use) choose(use.dataset.use);
  });
  document.addEventListener('change', event => {
    const choice = event.target.closest?.('select.use-senses');
    if (!choice) return;
    const list = choice.closest('#use-list').querySelector('.use-list');
    list.querySelectorAll('li').forEach(row => (row.hidden = choice.value !== '' && row.dataset.sense !== choice.value));
    list.scrollTop = 0;
  });

  // The list is drawn anew for another word, and comes into sight with its tab.
  const follow = element => {
    const look = () => {
      const list = element.querySelector('.use-list');
      if (list) show(list, list.querySelector('[aria-current]'));
    };
    new MutationObserver(look).observe(element, {childList: true, subtree: true});
    new IntersectionObserver(seen => seen.some(one => one.isIntersecting) && look()).observe(element);
  };

  explorer.neighbours = {choose, follow, go};
})();
