// The branches of a text that was written: a list to walk, and two of them side by side.
(() => {
  const explorer = (window.explorer = window.explorer || {});

  const sharedWords = count => {
    if (!count) return 'They part at the first token.';
    return `The first ${count === 1 ? 'token is' : `${count} tokens are`} the same (grey).`;
  };

  // Draws into a sheet (writing.js) from what stands in its last line of JSON, which a text at rest ends with.
  explorer.branches = (element, trigger) => {
    const {make, dress} = explorer;
    const compare = element.querySelector('.sheet-compare'), branches = element.querySelector('.sheet-branches');
    let known = null, compared = null, measure = 'probability';

    const list = () => {
      const all = known?.branches ?? [];
      branches.hidden = all.length < 2;
      if (branches.hidden) return;
      const depth = {};
      all.forEach(one => (depth[one.number] = one.parent ? Math.min(depth[one.parent] + 1, 5) : 0));
      const leaves = make('ol', 'leaves');
      const ordered = [];
      const put = parent => all.filter(one => one.parent === parent).forEach(one => (ordered.push(one), put(one.number)));
      put(0);
      ordered.forEach(one => {
        const item = make('li', one.leaf === known.here ? 'here' : '');
        item.style.setProperty('--depth', depth[one.number]);
        const button = make('button', 'leaf', '', {type: 'button', 'data-act': 'show', 'data-leaf': one.leaf});
        if (one.leaf === known.here) button.setAttribute('aria-current', 'true');
        const parts = one.parent ? `parts from ${one.parent} after ${one.shared} token${one.shared === 1 ? '' : 's'}` : '';
        button.append(make('b', '', String(one.number)), make('bdi', '', (one.shared ? '… ' : '') + one.begins),
                      make('small', '', [parts, one.how, `${one.mean} bits per token`].filter(Boolean).join(' · ')));
        item.append(button);
        if (one.leaf !== known.here) {
          const isOpen = compared === one.leaf;
          item.append(make('button', 'beside', isOpen ? 'Close' : 'Compare',
                           {type: 'button', 'data-act': 'compare', 'data-leaf': one.leaf, 'aria-pressed': isOpen}));
        }
        leaves.append(item);
      });
      branches.replaceChildren(make('p', 'section', 'Branches'), leaves);
    };
    const column = (one, shared) => {
      const made = make('div', 'branch');
      made.append(make('h3', '', `Branch ${one.number}`), make('p', 'note', one.how));
      const text = make('p', 'sheet-text', '', {dir: 'auto'});
      one.steps.forEach(([words, probability, rank, entropy], index) => {
        const step = {probability, rank, entropy};
        const span = make('span', index < shared ? 'shared' : 'tok', words);
        if (index >= shared) dress(span, step, measure), (span.title = span.dataset.words);
        text.append(span);
      });
      made.append(text, make('p', 'sums', `${one.tokens} tokens · surprisal ${one.total} bits · ${one.mean} per token`));
      return made;
    };
    const drawCompared = () => {
      const left = known?.branches.find(one => one.leaf === known.here);
      const right = known?.branches.find(one => one.leaf === compared && one !== left);
      compare.hidden = !left || !right;
      if (compare.hidden) return;
      let shared = 0;
      const isSame = ([text, , rank], [other, , otherRank]) => text === other && rank === otherRank; // by whatever settings
      while (shared < left.steps.length && shared < right.steps.length && isSame(left.steps[shared], right.steps[shared])) shared += 1;
      compare.replaceChildren(column(left, shared), column(right, shared),
        make('p', 'note', `${sharedWords(shared)} A longer text is less probable: compare the mean per token.`));
    };

    element.addEventListener('click', event => {
      const button = event.target.closest('[data-act]');
      if (!button) return;
      const {act, leaf} = button.dataset;
      if (act === 'show') trigger('select', {act, leaf: Number(leaf)});
      if (act === 'compare') {
        compared = compared === Number(leaf) ? null : Number(leaf);
        list();
        drawCompared();
      }
    });

    return {
      draw: (facts, isOld) => {
        known = facts;
        if (!known?.branches.some(one => one.leaf === compared)) compared = null;
        list();
        drawCompared();
        branches.classList.toggle('old', isOld);
      },
      colour: by => {
        measure = by;
        drawCompared();
      },
    };
  };
})();
