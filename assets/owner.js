// Whose jobs these are: a random token that this browser keeps. Where it may keep nothing (a private window, a frame of
// another site), the token lives as long as the page.
(() => {
  const explorer = (window.explorer = window.explorer || {});
  const KEY = 'explorer-owner', BYTES = 16;
  let token = '';
  const make = () => [...crypto.getRandomValues(new Uint8Array(BYTES))].map(byte => byte.toString(16).padStart(2, '0')).join('');
  explorer.owner = () => {
    if (token) return token;
    try {
      token = localStorage.getItem(KEY) || make();
      localStorage.setItem(KEY, token);
    } catch {
      token = token || make();
    }
    return token;
  };
})();
