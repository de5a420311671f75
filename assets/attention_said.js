// What is pointed at in a drawn head, or in several over each other, in words.
(() => {
  const explorer = (window.explorer = window.explorer || {});
  const MOST_TOKENS = 4, MOST_HEADS = 4, BUT_FIRST = ', but for what the first token looks at'; // it sees nothing but itself

  const share = weight => explorer.percent(weight).replace(' ', '\u00a0'); // the end of a line must not part them

  // A token and where it stands in the text; the first of a line says what the numbers are.
  const bdi = (unit, kind = '') => explorer.make('bdi', '', `“${unit.text}” (${kind}${unit.tokens.map(token => token + 1).join('–')})`);
  const first = unit => bdi(unit, unit.tokens.length > 1 ? 'tokens ' : 'token ');
  const link = (query, key, weight, before = '') => [
    before, first(query), ' looks at ', bdi(key), ': ', explorer.make('b', '', share(weight), {title: weight.toFixed(5)})]; // what 16 bits hold

  // Where the choices begin: the first token of a causal model sees nothing but itself, and has none.
  const free = ({rows, columns}, values) =>
    (rows.length > 1 && columns.length > 1 && values.slice(1, columns.length).every(weight => !weight) ? columns.length : 0);

  const ofOne = ({rows, columns, values}, at) => {
    const weightOf = (row, column) => values[row * columns.length + column];
    if (!at) {
      const begin = free({rows, columns}, values);
      let most = begin;
      for (let place = begin; place < values.length; place += 1) if (values[place] > values[most]) most = place;
      return link(rows[Math.floor(most / columns.length)], columns[most % columns.length], values[most], `Strongest here${begin ? BUT_FIRST : ''}: `);
    }
    if ('key' in at) return link(rows[at.query], columns[at.key], weightOf(at.query, at.key));
    const isQuery = at.side === 'query';
    const others = (isQuery ? columns : rows).map((unit, place) => [unit, isQuery ? weightOf(at.place, place) : weightOf(place, at.place)]);
    const best = others.sort((one, other) => other[1] - one[1]).slice(0, MOST_TOKENS);
    const list = best.flatMap(([other, weight], place) => [place ? ', ' : '', bdi(other), ` ${share(weight)}`]);
    return [first((isQuery ? rows : columns)[at.place]), isQuery ? ' looks at ' : ' is looked at by ', ...list];
  };

  // What each head makes of the token, the surest first; where none is pointed at, the strongest weight of all.
  const ofSeveral = ({rows, columns, several}, at) => {
    const isQuery = at?.side === 'query';
    const bestOf = ({head, values}) => {
      let most = -1;
      const begin = at ? at.place * (isQuery ? columns.length : 1) : free({rows, columns}, values);
      const end = at && isQuery ? begin + columns.length : values.length;
      for (let place = begin; place < end; place += at && !isQuery ? columns.length : 1) if (most < 0 || values[place] > values[most]) most = place;
      return {head, begin, query: rows[Math.floor(most / columns.length)], key: columns[most % columns.length], weight: values[most]};
    };
    const found = several.map(bestOf).sort((one, other) => other.weight - one.weight);
    if (!at) return link(found[0].query, found[0].key, found[0].weight, `Strongest here${found[0].begin ? BUT_FIRST : ''}, in head ${found[0].head}: `);
    const list = found.slice(0, MOST_HEADS).flatMap(({head, query, key, weight}, place) => [
      `${place ? '; ' : ''}head ${head} `, bdi(isQuery ? key : query), ` ${share(weight)}`]);
    const more = found.length - MOST_HEADS;
    return [first((isQuery ? rows : columns)[at.place]), isQuery ? ' looks most at: ' : ' is looked at most by: ', ...list,
      more > 0 ? `; and ${more} more ${more === 1 ? 'head' : 'heads'}` : ''];
  };

  // What stands in for a head, and is no softmax of its own; "" of a head.
  explorer.attentionMade = ({layer, head}, {layers, heads}) => {
    if (head === 'rollout') return `Rollout (Abnar and Zuidema 2020): in each layer half is what its heads fetch on average, half the token itself, as its residual connection keeps it; the layers up to ${layer} are multiplied. `;
    if (layer === 'mean') return head === 'mean' ? `Mean of all ${layers * heads} heads of ${layers} layers. ` : `Mean of the heads ${head} of all ${layers} layers. `;
    return head === 'mean' ? `Mean of the ${heads} heads of this layer. ` : '';
  };

  // What of the rows is not drawn: what hidden tokens took, and a pair's other text.
  explorer.attentionUnseen = ({hidden, absorbed, elsewhere}) => {
    const names = hidden.length ? `Hidden: ${hidden.slice(0, 3).join(', ')}${hidden.length > 3 ? ' …' : ''}, which took ${explorer.percent(absorbed)} of what the tokens shown gave. ` : '';
    return names + (elsewhere ? `Left out: the text that is not looked at here, which took ${explorer.percent(elsewhere)} of what the tokens shown gave. ` : '');
  };

  // Of a pair of texts in a decoder, First to second.
  explorer.attentionBlind = 'Nothing: a decoder sees nothing that comes after a token, so that the first text cannot look at the second.';

  explorer.attentionSay = (selected, at) => {
    if (!selected.rows.length || !selected.columns.length) return [explorer.make('span', '', 'Nothing is left to draw: show more tokens or texts.')];
    if (!selected.possible) return [explorer.make('span', '', explorer.attentionBlind)];
    return (selected.several ? ofSeveral : ofOne)(selected, at);
  };
})();
