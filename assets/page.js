// What the page does without asking the server: addresses that restore a view, PNG of a figure, Stop and Escape.
(() => {
  const explorer = (window.explorer = {});

  // Gradio's <base href="./"> changes nothing but this: plotly names its clip paths by the whole address where there is
  // a base, and what they clip (lines, shapes) is gone once the address has changed.
  document.querySelector('base[href="./"]')?.remove();

  // The address follows the view. A press on a tab or an example is a step that Back returns from; typing is none.
  // Gradio repeats the address in every request, so that a long one would be refused by servers and proxies.
  const MOST_CHARACTERS = 4000;
  const SHORT = ['tab', 'model', 'strategy', 'show', 'objective', 'roll', 'at', 'look', 'word', 'use', 'layer'];
  let isStep = false;
  let inSight = null; // the tab; a late answer in another must not take the address back to it
  explorer.remember = (tab, isChosen, names, defaults, values) => {
    if (isChosen) inSight = tab;
    if (!document.body.dataset.ready || inSight !== tab) return;
    const query = new URLSearchParams({tab});
    names.forEach((name, index) => {
      const value = values[index];
      const words = Array.isArray(value) ? value.join('|') : String(value ?? '');
      if (words !== defaults[name]) query.set(name, words);
    });
    if (String(query).length > MOST_CHARACTERS) names.forEach(name => SHORT.includes(name) || query.delete(name));
    if (location.search === '?' + query) return;
    history[isStep ? 'pushState' : 'replaceState'](null, '', location.pathname + '?' + query);
    isStep = false;
  };
  document.addEventListener('click', event => {
    if (event.target.closest('[role="tab"], .overflow-dropdown button, .example')) isStep = true;
  }, true);
  document.addEventListener('input', () => (isStep = false), true);

  // Examples stand below what they change: a press on one brings that back into sight, and keeps it there while the
  // answer comes and changes heights, until the visitor touches anything.
  const NARROW_PIXELS = 768;
  let wanted = null;
  const bringBack = () => {
    if (!wanted || wanted.getBoundingClientRect().top > -1) return;
    const behavior = matchMedia('(prefers-reduced-motion: reduce)').matches ? 'auto' : 'smooth';
    wanted.scrollIntoView({behavior, block: 'start'});
  };
  const arrivals = new MutationObserver(bringBack);
  const letGo = () => {
    arrivals.disconnect();
    wanted = null;
  };
  for (const touch of ['pointerdown', 'wheel', 'touchstart', 'keydown']) addEventListener(touch, letGo, {capture: true, passive: true});
  addEventListener('scrollend', bringBack);
  document.addEventListener('click', event => {
    const example = event.target.closest('.example');
    if (!example || example.closest('.result-side')) return;
    wanted = example.closest('[role="tabpanel"]')?.querySelector(innerWidth < NARROW_PIXELS ? '.result-side' : '.halves');
    if (wanted) arrivals.observe(wanted, {childList: true, subtree: true});
    bringBack();
  });

  // Going back asks the server to put the address into the fields; until it has, they do not change the address.
  // One step at a time: an answer to an earlier step must not overtake that to a later one.
  let isRestoring = false;
  let isLate = false;
  const restore = () => {
    isRestoring = true;
    isLate = false;
    document.querySelector('button#restore-view, #restore-view button').click();
  };
  explorer.ready = () => {
    isRestoring = false;
    if (isLate) setTimeout(restore);
    else document.body.dataset.ready = 'true';
  };
  window.addEventListener('popstate', () => {
    delete document.body.dataset.ready;
    isRestoring ? (isLate = true) : restore();
  });

  // Stop: the button in the message, or Escape, presses the hidden one that Gradio knows.
  const stop = () => {
    const working = [...document.querySelectorAll('.message.working, .sheet-status.working')].find(box => box.offsetParent);
    const places = '[role="tabpanel"], .own-stop';
    for (let panel = working?.closest(places); panel; panel = panel.parentElement.closest(places)) {
      // a panel's own, a view's own, else its tab's
      const buttons = [...panel.querySelectorAll('button.stop-work, .stop-work button')];
      const button = buttons.find(one => (one.closest('.own-stop') ?? panel) === panel);
      if (button) return button.click();
    }
  };
  document.addEventListener('keydown', event => event.key === 'Escape' && stop());
  // The message is drawn anew four times a second: a press that begins on one button and ends on the next is no click.
  document.addEventListener('pointerdown', event => event.target.closest('[data-action="stop"]') && stop());

  const say = (button, words) => {
    const label = button.textContent;
    button.textContent = words;
    setTimeout(() => (button.textContent = label), 1500);
  };

  const copy = async text => {
    if (navigator.clipboard && window.isSecureContext) return navigator.clipboard.writeText(text);
    const area = Object.assign(document.createElement('textarea'), {value: text});
    document.body.append(area);
    area.select();
    document.execCommand('copy');
    area.remove();
  };

  // A picture stands alone: dark on white whatever the page is, and it says what it shows. plotly copies the layout
  // within the click, so that the page's own is put back at once, unseen.
  const LEAST_WIDTH = 760;
  const LINE_PIXELS = 20;
  const LEGEND_PIXELS = 70; // room for names that the page has beside the figure
  const photograph = (plot, camera, {file, title, legend}) => {
    const {layout, _context: context, _fullLayout: drawn} = plot;
    const before = {...layout};
    const options = context.toImageButtonOptions;
    const more = LINE_PIXELS * title.split('<br>').length + 12;
    const height = plot.clientHeight + more + (legend ? LEGEND_PIXELS : 0);
    Object.assign(layout, {
      ...(legend && {showlegend: true, legend: {orientation: 'h', y: 0, yanchor: 'top', itemsizing: 'constant'}}),
      font: {...layout.font, color: '#1b1f24'},
      paper_bgcolor: '#fff',
      plot_bgcolor: '#fff',
      margin: {...drawn.margin, t: drawn.margin.t + more},
      title: {text: title, font: {size: 14}, x: 0, xref: 'container', xanchor: 'left', y: 1 - 14 / height,
              yref: 'container', yanchor: 'top', pad: {l: 12}},
    });
    context.toImageButtonOptions = {
      format: 'png', filename: file, scale: 2,
      width: Math.max(plot.clientWidth, LEAST_WIDTH), height,
    };
    camera.click();
    Object.keys(layout).forEach(key => key in before || delete layout[key]);
    Object.assign(layout, before);
    context.toImageButtonOptions = options;
  };

  document.addEventListener('click', event => {
    const button = event.target.closest('button[data-action]');
    if (!button) return;
    if (button.dataset.action === 'stop' && event.detail === 0) stop(); // by keyboard
    if (button.dataset.action === 'link') copy(location.href).then(() => say(button, 'Copied'));
    if (button.dataset.action === 'png') {
      const panel = button.closest('.with-figure') || button.closest('[role="tabpanel"]') || document;
      const plot = panel.querySelector('.js-plotly-plot');
      const camera = plot?.querySelector('.modebar-btn[data-title*="ownload"]');
      const drawing = panel.querySelector('.beam-tree svg');
      if (camera) photograph(plot, camera, button.dataset);
      else drawing ? explorer.paint(drawing, button.dataset) : say(button, 'No figure');
    }
  });
})();
