// Who pressed a button that is gone with what it did goes on from what stands in its place.
(() => {
  const HEIRS = { // where it stood -> who takes the focus: the first of them that is in sight
    '#quiz-sheet': ['.quiz-verdict'],
    '.job-buttons': ['#tune-stop', '#tune-resume', '#tune-job'],
  };
  let left = null; // where the focus is, or was last
  const placeOf = element => Object.keys(HEIRS).find(place => element.closest(place)) ?? null;
  document.addEventListener('focusin', ({target}) => (left = placeOf(target)));
  document.addEventListener('pointerdown', ({target}) => left !== placeOf(target) && (left = null)); // left on purpose

  const pass = () => {
    const {activeElement: at, body} = document;
    if (!left || (at && at !== body && at.checkVisibility())) return;
    const heir = HEIRS[left].map(one => document.querySelector(one)).find(one => one?.checkVisibility());
    if (!heir) return;
    if (!heir.matches('button')) heir.tabIndex = -1;
    heir.focus({preventScroll: true});
  };
  new MutationObserver(pass).observe(document, {childList: true, subtree: true, attributes: true, attributeFilter: ['class']});
})();
