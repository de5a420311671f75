// A head as lines: two columns of tokens, and a line from each token to what it looks at, drawn where it is in sight.
(() => {
  const explorer = (window.explorer = window.explorer || {});
  const ROW = 22, GAP = 190, MOST_LINES = 6000, DRAWN_AT_ONCE = 2500;

  // Args: the stage to draw in; onPoint({side, place} or null); onPin of a press, onWalk of arrow keys: the same, or Enter.
  explorer.attentionLines = (stage, {onPoint, onPin, onWalk}) => {
    const {make} = explorer;
    const canvas = make('canvas', 'lines-canvas', '', {'aria-hidden': 'true'});
    const columns = ['query', 'key'].map(side => make('ol', `lines-tokens ${side}`, '', {
      tabindex: '0', role: 'listbox', 'aria-label': side === 'query' ? 'Tokens that look' : 'Tokens that are looked at',
    }));
    const sheet = make('div', 'lines-sheet');
    sheet.append(columns[0], canvas, columns[1]);
    let shown = null, lines = [], point = null, isAsked = false;

    const fill = (list, units, name) => {
      list.replaceChildren(...units.map((unit, place) => {
        const begins = unit.segment === 1 && units[place - 1]?.segment === 0; // the second text, or what was written
        const item = make('li', `unit${unit.special ? ' special' : ''}${begins ? ' begins' : ''}`, '', {role: 'option', 'data-place': place});
        item.append(make('bdi', '', unit.text));
        return item;
      }));
      list.dataset.side = name;
    };

    const paint = () => {
      isAsked = false;
      if (!shown || !stage.clientWidth) return;
      const {columns: keys, largest} = shown;
      const [top, height] = [stage.scrollTop, stage.clientHeight];
      const ratio = Math.min(window.devicePixelRatio || 1, 2);
      const width = canvas.clientWidth;
      canvas.style.top = `${top}px`;
      canvas.style.height = `${height}px`;
      if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
        [canvas.width, canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
      }
      const pen = canvas.getContext('2d');
      pen.setTransform(ratio, 0, 0, ratio, 0, 0);
      pen.clearRect(0, 0, width, height);
      const style = getComputedStyle(stage);
      const y = place => (place + 0.5) * ROW - top;
      const isSeen = (one, other) => Math.max(one, other) > -ROW && Math.min(one, other) < height + ROW;
      let drawn = 0;
      const few = lines.reduce((sum, {places}) => sum + places.length, 0) <= 40;
      lines.forEach(({head, values, places}, order) => {
        pen.strokeStyle = style.getPropertyValue(head ? explorer.attentionSeveral.hueOf(head) : '--fill');
        pen.setLineDash(head ? explorer.attentionSeveral.dashOf(head) : []);
        const aside = (order - (lines.length - 1) / 2) * explorer.attentionSeveral.apart(lines.length);
        for (const place of point ? own(values) : places) {
          const [from, to] = [Math.floor(place / keys.length), place % keys.length];
          const [left, right] = [y(from) + aside, y(to) + aside];
          if (!isSeen(left, right)) continue;
          const share = values[place] / (largest || 1);
          pen.globalAlpha = Math.max(0.06, few ? Math.sqrt(share) : share);
          pen.lineWidth = 0.6 + 3.2 * share;
          pen.beginPath();
          pen.moveTo(0, left);
          pen.bezierCurveTo(width * 0.35, left, width * 0.65, right, width, right);
          pen.stroke();
          if ((drawn += 1) >= DRAWN_AT_ONCE) break;
        }
      });
      pen.globalAlpha = 1;
    };
    // All lines of the token that is pointed at, whatever the threshold.
    const own = values => {
      const {rows, columns: keys} = shown;
      const places = point.side === 'query'
        ? keys.map((_, at) => point.place * keys.length + at)
        : rows.map((_, at) => at * keys.length + point.place);
      return places.filter(place => values[place] > 0.0005).sort((one, other) => values[other] - values[one]);
    };
    const ask = () => {
      if (isAsked) return;
      isAsked = true;
      requestAnimationFrame(paint);
    };

    const shade = () => {
      const isQuery = point?.side === 'query';
      columns.forEach((list, side) => {
        const isOther = point && (side === 1) === isQuery;
        [...list.children].forEach((item, place) => {
          const at = isQuery ? point?.place * shown.columns.length + place : place * shown.columns.length + point?.place;
          const value = isOther ? Math.max(...lines.map(({values}) => values[at])) : 0;
          item.style.setProperty('--c', isOther ? Math.sqrt(value).toFixed(3) : '0');
          const share = !isOther ? '' : shown.several
            ? explorer.attentionSeveral.share(lines.map(({head, values}) => ({head, weight: values[at]})))
            : value >= 0.005 ? explorer.percent(value) : '';
          if (share) item.dataset.share = share;
          else delete item.dataset.share;
          item.classList.toggle('at', Boolean(point) && !isOther && place === point.place);
        });
      });
    };

    const placeOf = target => {
      const item = target.closest?.('.unit');
      return item ? {side: item.parentElement.dataset.side, place: Number(item.dataset.place)} : null;
    };
    for (const kind of ['pointerover', 'pointermove'])
      sheet.addEventListener(kind, event => explorer.attention.isMoved(event) && onPoint(placeOf(event.target)));
    sheet.addEventListener('pointerleave', () => onPoint(null));
    sheet.addEventListener('click', event => placeOf(event.target) && onPin(placeOf(event.target)));
    columns.forEach(list => {
      list.addEventListener('keydown', event => {
        const step = {ArrowDown: 1, ArrowUp: -1, PageDown: 15, PageUp: -15, Home: -1e6, End: 1e6}[event.key];
        if (!step && event.key !== 'Enter') return;
        event.preventDefault();
        event.stopPropagation();
        const here = point?.side === list.dataset.side ? point.place : step > 0 ? -1 : 0;
        const place = Math.min(Math.max(here + (step ?? 0), 0), list.children.length - 1);
        onWalk({side: list.dataset.side, place});
        list.children[place]?.scrollIntoView({block: 'nearest'});
      });
    });
    stage.addEventListener('scroll', () => sheet.isConnected && ask());

    return {
      sheet,
      paint: ask,
      show: (selected, least) => {
        const isSame = shown && shown.signature === selected.signature; // the same tokens, another head
        shown = selected;
        if (!isSame) {
          fill(columns[0], selected.rows, 'query');
          fill(columns[1], selected.columns, 'key');
          sheet.style.height = `${Math.max(selected.rows.length, selected.columns.length) * ROW}px`;
          point = null;
        }
        lines = (selected.several ?? [{values: selected.values}]).map(one =>
          ({...one, ...explorer.attentionMath.strongest(one.values, least, MOST_LINES)}));
        shade();
        paint();
        const sum = count => lines.reduce((before, one) => before + count(one), 0);
        const [found, drawn] = [sum(one => one.found), sum(one => one.places.length)];
        return {found, capped: drawn < found ? drawn : 0};
      },
      point: at => {
        point = at;
        shade();
        ask();
      },
    };
  };
  explorer.attentionLines.ROW = ROW;
  explorer.attentionLines.GAP = GAP;
})();
