// A head as a table: who looks at whom, the strongest first, in numbers.
(() => {
  const explorer = (window.explorer = window.explorer || {});
  const MOST_ROWS = 200;

  // Args: the stage to draw in; onCell({query, key} or null); onPin({query, key}).
  explorer.attentionTable = (stage, {onCell, onPin}) => {
    const {make, percent} = explorer;
    const sheet = make('table', 'scores link-table');
    const [head, body] = [make('thead'), make('tbody')];
    const titles = make('tr');
    [['', ''], ['Looks', ''], ['at', ''], ['Weight', 'number']].forEach(([words, name]) => titles.append(make('th', name, words, {scope: 'col'})));
    head.append(titles);
    sheet.append(head, body);

    const cellOf = event => {
      const row = event.target.closest('tr[data-query]');
      return row && {query: Number(row.dataset.query), key: Number(row.dataset.key)};
    };
    body.addEventListener('pointermove', event => explorer.attention.isMoved(event) && onCell(cellOf(event)));
    body.addEventListener('pointerleave', () => onCell(null));
    body.addEventListener('click', event => cellOf(event) && onPin(cellOf(event)));

    const token = unit => {
      const cell = make('td');
      cell.append(make('bdi', '', unit.text), make('small', '', ` ${unit.tokens.map(place => place + 1).join('–')}`));
      return cell;
    };
    return {
      sheet,
      paint: () => {},
      show: ({rows, columns, values}, threshold) => {
        const places = [...values.keys()].filter(place => values[place] > 0 && values[place] >= threshold);
        places.sort((one, other) => values[other] - values[one] || one - other);
        const shown = places.slice(0, MOST_ROWS);
        body.replaceChildren(...shown.map((place, rank) => {
          const [query, key] = [Math.floor(place / columns.length), place % columns.length];
          const row = make('tr', '', '', {'data-query': query, 'data-key': key});
          const weight = make('td', 'number', values[place].toFixed(5), {title: percent(values[place])});
          row.append(make('td', 'number place', String(rank + 1)), token(rows[query]), token(columns[key]), weight);
          return row;
        }));
        return {found: places.length, capped: places.length > shown.length ? shown.length : 0};
      },
      point: at => body.querySelectorAll('tr').forEach(row => {
        row.classList.toggle('at', Boolean(at) && 'key' in at && Number(row.dataset.query) === at.query && Number(row.dataset.key) === at.key);
      }),
    };
  };
})();
