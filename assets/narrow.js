// A figure is as wide as its place, whatever becomes of that: the window, the screen that turns, paper. One that says how
// it is laid out on a narrow screen (layout.meta.narrow) is drawn so there, and anew when the screen turns.
//
// plotly's own way (config.responsive) forgets the height that a figure asks for as soon as the window changes, and a
// place that has no other height is then 0 pixels high. And a figure that is drawn anew while it is still being drawn may
// come out empty: here each is drawn by one after the other, as it was asked for last.
(() => {
  const narrowScreen = matchMedia('(max-width: 1023px)');
  const figures = new WeakMap(); // place -> what was to be drawn there, and how it is drawn
  let plotly, react;

  const narrowOf = figure => (narrowScreen.matches ? figure.layout?.meta?.narrow : null) ?? null;

  const drawAll = (place, figure) => {
    const {data, layout, config} = figure;
    Object.assign(figure, {isDrawn: true, narrow: narrowOf(figure), width: place.clientWidth});
    return react(place, data, {...structuredClone(layout), ...figure.narrow}, {...config, responsive: false});
  };
  const fit = (place, figure) => {
    if (!figure.isDrawn || figure.narrow !== narrowOf(figure)) return drawAll(place, figure);
    if (!place.clientWidth || place.clientWidth === figure.width) return null;
    figure.width = place.clientWidth;
    return plotly.relayout(place, {width: figure.width});
  };
  const draw = place => {
    const figure = figures.get(place);
    figure.asked = figure.asked.then(() => place.isConnected && fit(place, figure)).catch(fault => console.error(fault));
    return figure.asked;
  };

  const places = new ResizeObserver(changes => changes.forEach(({target}) => draw(target)));
  narrowScreen.addEventListener('change', () =>
    document.querySelectorAll('.js-plotly-plot').forEach(place => figures.has(place) && draw(place)));

  Object.defineProperty(window, 'Plotly', { // it comes with the first figure
    configurable: true,
    get: () => plotly,
    set: found => {
      [plotly, react] = [found, found.react];
      const resize = found.Plots.resize;
      found.react = (place, data, layout, config) => {
        const figure = figures.get(place) ?? {asked: Promise.resolve()};
        figures.set(place, Object.assign(figure, {data, layout, config, isDrawn: false}));
        places.observe(place);
        return draw(place);
      };
      found.Plots.resize = place => (figures.has(place) ? figures.get(place).asked : resize(place));
    },
  });
})();
