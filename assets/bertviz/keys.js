// What bertviz draws to be pressed, walked by arrow keys and pressed by Enter: its heads are one stop of Tab.
(() => {
  const SHOWN = 'rect[role=button]:focus-visible{outline:2px solid #000;outline-offset:1px}' +
    'rect[role=button][style*="opacity"]:focus-visible{opacity:1!important;fill:none}'; // drawn to be pressed, not to be seen
  document.head.append(Object.assign(document.createElement('style'), {textContent: SHOWN}));

  const walk = () => {
    const heads = [...document.querySelectorAll('#vis rect')].filter(rect => rect.__on?.some(({type}) => type === 'click')); // as d3 has it
    const columns = new Set(heads.map(rect => rect.getAttribute('x'))).size;
    heads.forEach((rect, place) => {
      const head = `head ${place % columns}`, name = columns < heads.length ? `Layer ${Math.floor(place / columns)}, ${head}` : `Switch ${head}`;
      const said = {tabindex: place ? -1 : 0, role: 'button', 'aria-label': name};
      for (const [attribute, value] of Object.entries(said)) rect.setAttribute(attribute, value);
      rect.addEventListener('focus', () => heads.forEach(one => one.setAttribute('tabindex', one === rect ? 0 : -1)));
      rect.addEventListener('keydown', event => {
        const [down, right] = {ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1]}[event.key] ?? [0, 0];
        if (event.key === 'Enter' || event.key === ' ') rect.dispatchEvent(new MouseEvent('click', {bubbles: true}));
        else if (!down && !right) return;
        event.preventDefault();
        const column = (place % columns) + right;
        if (column >= 0 && column < columns) heads[place + down * columns + right]?.focus();
      });
    });
  };
  new MutationObserver(walk).observe(document.getElementById('vis'), {childList: true});
})();
