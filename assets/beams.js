// Beams of a search: a press, or a tap where nothing hovers, tells below the tree what a beam's title tells.
(() => {
  const explorer = (window.explorer = window.explorer || {});

  explorer.tellBeams = element => element.addEventListener('click', event => {
    const beam = event.target.closest('.beam-tree g');
    if (!beam) return;
    element.querySelector('.beam-tree g.told')?.classList.remove('told');
    beam.classList.add('told');
    element.querySelector('.beam-told').textContent = beam.querySelector('title').textContent;
  });
})();
