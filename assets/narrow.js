// A figure that says how it is laid out on a phone (layout.meta.narrow) is drawn so there, and anew when the screen turns.
(() => {
  const phone = matchMedia('(max-width: 700px)');
  const given = new WeakMap(); // place -> what was to be drawn there
  let plotly;
  Object.defineProperty(window, 'Plotly', { // it comes with the first figure
    configurable: true,
    get: () => plotly,
    set: found => {
      plotly = found;
      const react = found.react;
      found.react = (place, data, layout, config) => {
        given.set(place, [data, layout, config]);
        const narrow = phone.matches ? layout?.meta?.narrow : null;
        return react(place, data, narrow ? {...layout, ...narrow} : layout, config);
      };
    },
  });
  phone.addEventListener('change', () => {
    for (const place of document.querySelectorAll('.js-plotly-plot'))
      if (given.get(place)?.[1].meta?.narrow) plotly.react(place, ...given.get(place));
  });
})();
