// Whatever is drawn can be taken away: PNG of a figure, the address of the view, code; and no press is lost.
(() => {
  const explorer = window.explorer;
  const CONTROLS = '.take-away a[download], .take-away button[data-action]';
  const PRESSED = ['png', 'link', 'code'].map(action => `button[data-action="${action}"]`).join();

  const say = (button, words, milliseconds = 1500) => {
    const label = (button.dataset.label ??= button.textContent); // pressed again it says something else
    button.textContent = words;
    setTimeout(() => (button.textContent = label), milliseconds);
  };

  const copy = async text => {
    if (navigator.clipboard && window.isSecureContext) return navigator.clipboard.writeText(text);
    const area = Object.assign(document.createElement('textarea'), {value: text});
    document.body.append(area);
    area.select();
    document.execCommand('copy');
    area.remove();
  };

  const whenIdle = window.requestIdleCallback ?? setTimeout;
  const FOLLOWS_MILLISECONDS = 150; // Gradio tells the address of a field in its own time: 20 to 60
  const LONG_WORDS = {own: 'your sentences', own_pairs: 'your pairs'};
  const READING_MILLISECONDS = 4000;
  const copyLink = async control => {
    if (explorer.hasten()) await new Promise(done => setTimeout(() => whenIdle(done), FOLLOWS_MILLISECONDS));
    await copy(location.href);
    if (!explorer.cut?.length) return say(control, 'Copied');
    const left = explorer.cut.map(name => LONG_WORDS[name] ?? 'the text').join(' and ');
    say(control, `Copied, without ${left}: too long`, READING_MILLISECONDS);
  };

  // A picture stands alone: dark on white whatever the page is, and it says what it shows. plotly copies the layout
  // within the click, so that the page's own is put back at once, unseen.
  const LEAST_WIDTH = 760;
  const LINE_PIXELS = 20;
  const LEGEND_PIXELS = 70; // room for names that the page has beside the figure
  const DARK = '#1b1f24';
  const photograph = (plot, camera, {file, title, legend}) => {
    const {layout, _context: context, _fullLayout: drawn} = plot;
    const before = {...layout};
    const ink = getComputedStyle(document.body).color;
    const inked = plot.data.filter(({marker}) => marker?.color === ink); // in the colour of the page's own text
    const options = context.toImageButtonOptions;
    const more = LINE_PIXELS * title.split('<br>').length + 12;
    const height = plot.clientHeight + more + (legend ? LEGEND_PIXELS : 0);
    Object.assign(layout, {
      ...(legend && {showlegend: true, legend: {orientation: 'h', y: 0, yanchor: 'top', itemsizing: 'constant'}}),
      font: {...layout.font, color: DARK},
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
    inked.forEach(({marker}) => (marker.color = DARK));
    camera.click();
    inked.forEach(({marker}) => (marker.color = ink));
    Object.keys(layout).forEach(key => key in before || delete layout[key]);
    Object.assign(layout, before);
    context.toImageButtonOptions = options;
  };

  const frameOf = control => control.closest('.with-figure') ?? control.closest('[role="tabpanel"]') ?? document;
  const findCamera = frame => frame.querySelector('.js-plotly-plot .modebar-btn[data-title*="ownload"]');

  // plotly comes with the first figure, after the page: a press before it is drawn is answered when it is.
  const takePicture = (button, frame) => {
    if (button.getAttribute('aria-busy') === 'true') return;
    const take = () => {
      const plot = findCamera(frame).closest('.js-plotly-plot');
      photograph(plot, findCamera(frame), {...button.dataset, ...plot.layout.meta?.title && {title: plot.layout.meta.title}});
    };
    const drawing = frame.querySelector('.beam-tree svg');
    if (findCamera(frame)) return take();
    if (drawing) return explorer.paint(drawing, button.dataset);
    if (![...frame.querySelectorAll('.figure')].some(figure => figure.matches('.staged') || figure.checkVisibility())) return say(button, 'No figure');
    const label = button.textContent;
    button.textContent = 'Drawing …';
    button.setAttribute('aria-busy', 'true');
    const drawn = new MutationObserver(() => {
      if (!findCamera(frame)) return;
      drawn.disconnect();
      button.textContent = label;
      button.removeAttribute('aria-busy');
      take();
    });
    drawn.observe(frame, {childList: true, subtree: true});
  };

  const act = (control, frame) => {
    if (control.dataset.action === 'png') takePicture(control, frame);
    else if (control.dataset.action === 'link') copyLink(control);
    else if (control.dataset.action === 'code') copy(control.dataset.code).then(() => say(control, 'Copied'));
    else control.click(); // a link that is out of the page by now still holds its file
  };
  document.addEventListener('click', event => {
    const button = event.target.closest(PRESSED);
    if (button) act(button, frameOf(button));
  });

  // Results are drawn anew while the page opens and while answers come: a press that begins on a control and ends when it
  // has been replaced is no click to the browser.
  let pressed = null;
  document.addEventListener('pointerdown', event => {
    const control = event.target.closest(CONTROLS);
    pressed = control && {control, frame: frameOf(control)};
  }, true);
  document.addEventListener('pointerup', () => {
    if (pressed && !pressed.control.isConnected) act(pressed.control, pressed.frame);
    pressed = null;
  }, true);
})();
