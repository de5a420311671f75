// Beams of a search: a press, a tap where nothing hovers, or arrow keys tell below the tree what a beam's title tells.
(() => {
  const explorer = (window.explorer = window.explorer || {});

  const tell = beam => {
    const tree = beam.closest('.beam-tree');
    tree.querySelector('g.told')?.classList.remove('told');
    beam.classList.add('told');
    tree.parentElement.querySelector('.beam-told').textContent = beam.querySelector('title').textContent;
  };
  // Left to the beam it grew from, right to the likeliest that grew from it, up and down in its column.
  const walk = (tree, key) => {
    const beams = [...tree.querySelectorAll('g')], here = tree.querySelector('g.told');
    const first = beams.find(beam => beam.classList.contains('winning')) ?? beams[0];
    if (!here || key === 'Home') return first;
    const {step, from} = here.dataset, column = beams.filter(beam => beam.dataset.step === step), place = column.indexOf(here);
    return {
      ArrowLeft: () => beams.find(beam => beam.dataset.step === String(step - 1) && beam.dataset.row === from),
      ArrowRight: () => beams.find(beam => beam.dataset.step === String(Number(step) + 1) && beam.dataset.from === here.dataset.row),
      ArrowUp: () => column[place - 1],
      ArrowDown: () => column[place + 1],
      End: () => beams.filter(beam => beam.classList.contains('winning')).at(-1),
    }[key]();
  };

  explorer.tellBeams = element => {
    element.addEventListener('click', event => {
      const beam = event.target.closest('.beam-tree g');
      if (beam) tell(beam);
    });
    element.addEventListener('keydown', event => {
      const tree = event.target.closest('.beam-tree');
      if (!tree || !['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown', 'Home', 'End'].includes(event.key)) return;
      event.preventDefault(); // of the tree, which scrolls with what is told
      const beam = walk(tree, event.key);
      if (!beam) return;
      tell(beam);
      beam.scrollIntoView({block: 'nearest', inline: 'nearest'});
    });
  };
})();
