// PNG of a drawing that is no plotly figure: dark on white whatever the page is, below what it shows.
(() => {
  const explorer = (window.explorer = window.explorer || {});
  const INK = ['fill', 'stroke', 'stroke-width', 'stroke-dasharray', 'opacity', 'font-size', 'font-weight', 'font-family'];
  const SCALE = 2, LINE_PIXELS = 20, EDGE_PIXELS = 12, DARK = '#1b1f24';

  explorer.paint = (drawing, {file, title}) => {
    const isDark = document.body.classList.contains('dark');
    document.body.classList.remove('dark'); // within the click: read, and put back before anything is drawn
    const copy = drawing.cloneNode(true);
    const parts = [...drawing.querySelectorAll('*')];
    copy.querySelectorAll('*').forEach((part, index) => {
      const style = getComputedStyle(parts[index]);
      INK.forEach(name => part.style.setProperty(name, style.getPropertyValue(name)));
    });
    document.body.classList.toggle('dark', isDark);
    const lines = title.split('<br>').map(line => new DOMParser().parseFromString(line, 'text/html').body.textContent);
    const [width, height] = [drawing.width.baseVal.value, drawing.height.baseVal.value];
    const top = LINE_PIXELS * lines.length + EDGE_PIXELS;
    const picture = new Image();
    picture.onload = () => {
      const canvas = document.createElement('canvas');
      [canvas.width, canvas.height] = [(width + 2 * EDGE_PIXELS) * SCALE, (height + top + EDGE_PIXELS) * SCALE];
      const pen = canvas.getContext('2d');
      pen.scale(SCALE, SCALE);
      pen.fillStyle = '#fff';
      pen.fillRect(0, 0, canvas.width, canvas.height);
      pen.fillStyle = DARK;
      pen.font = '14px system-ui, sans-serif';
      lines.forEach((line, index) => pen.fillText(line, EDGE_PIXELS, LINE_PIXELS * (index + 1)));
      pen.drawImage(picture, EDGE_PIXELS, top, width, height);
      Object.assign(document.createElement('a'), {download: `${file}.png`, href: canvas.toDataURL('image/png')}).click();
    };
    copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
    picture.src = 'data:image/svg+xml;charset=utf-8,' + encodeURIComponent(new XMLSerializer().serializeToString(copy));
  };
})();
