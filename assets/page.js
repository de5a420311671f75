// What the page does without asking the server: addresses that restore a view, PNG of a figure.
(() => {
  const explorer = (window.explorer = {});

  // The address follows the view; a change of tab is a step that Back returns from.
  // Gradio repeats the address in every request, so that a long one would be refused by servers and proxies.
  const MOST_CHARACTERS = 4000;
  const SHORT = ['tab', 'model', 'strategy'];
  explorer.remember = (names, values) => {
    if (!document.body.dataset.ready) return;
    const query = new URLSearchParams();
    names.forEach((name, index) => {
      const value = values[index];
      if (value !== null && value !== undefined && value !== '') query.set(name, value);
    });
    if (String(query).length > MOST_CHARACTERS) names.forEach(name => SHORT.includes(name) || query.delete(name));
    const before = new URLSearchParams(location.search);
    const address = location.pathname + '?' + query;
    if (location.search === '?' + query) return;
    const changesTab = before.get('tab') && before.get('tab') !== query.get('tab');
    history[changesTab ? 'pushState' : 'replaceState'](null, '', address);
  };
  window.addEventListener('popstate', () => location.reload());

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

  document.addEventListener('click', event => {
    const button = event.target.closest('button[data-action]');
    if (!button) return;
    if (button.dataset.action === 'link') copy(location.href).then(() => say(button, 'Copied'));
    if (button.dataset.action === 'png') {
      const panel = button.closest('[role="tabpanel"]') || document;
      const camera = panel.querySelector('.js-plotly-plot .modebar-btn[data-title*="ownload"]');
      camera ? camera.click() : say(button, 'No figure');
    }
  });
})();
