// The views "Find a head" and "Switch heads off": arrow keys walk a map, a list is sorted, heads are switched.
(() => {
  const explorer = (window.explorer = window.explorer || {});
  const STEPS = {ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0]};

  document.addEventListener('keydown', event => {
    const grid = event.target.closest?.('.found-grid');
    const step = STEPS[event.key];
    if (!grid || !step || event.target.tagName !== 'BUTTON') return;
    const cells = [...grid.querySelectorAll('button[data-cell], button[data-open-head]')];
    const heads = Number(grid.style.getPropertyValue('--heads'));
    const at = cells.indexOf(event.target);
    const [row, column] = [Math.floor(at / heads) + step[0], (at % heads) + step[1]];
    if (at < 0) return;
    event.preventDefault();
    if (column >= 0 && column < heads) cells[row * heads + column]?.focus();
  });

  document.addEventListener('click', event => {
    const button = event.target.closest('.found-list [data-sort]');
    if (!button) return;
    const table = button.closest('table'), head = button.closest('th');
    const key = button.dataset.sort;
    const down = head.getAttribute('aria-sort') !== 'descending' && !(key === 'head' && head.getAttribute('aria-sort') === 'none');
    table.querySelectorAll('th[aria-sort]').forEach(one => one.setAttribute('aria-sort', 'none'));
    head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
    const rows = [...table.tBodies[0].rows];
    rows.sort((one, other) => (down ? -1 : 1) * (one.dataset[key] - other.dataset[key]));
    table.tBodies[0].append(...rows);
  });
})();
