// Several heads of a layer over each other: which are on, and their colours and dashes.
(() => {
  const explorer = (window.explorer = window.explorer || {});
  const HUES = 6; // --head-0 to --head-5 of attention.css; the heads behind them are dashed, then dotted
  const DASHES = [[], [7, 3], [2, 3]], LINES = ['solid', 'dashed', 'dotted'];
  const MOST_SHARES = 2, LEAST_SHARE = 0.05;

  const hueOf = head => `--head-${(head - 1) % HUES}`;
  const kindOf = head => Math.floor((head - 1) / HUES) % DASHES.length;
  const dashOf = head => DASHES[kindOf(head)];

  const apart = count => Math.min(3, 12 / count); // pixels, so that heads that agree do not cover each other

  // The heads that are drawn, the one that is named first: others only as lines, and not over a mean or a rollout.
  const headsOf = ({layer, head}, look, most) => {
    if (look.form !== 'lines' || typeof layer !== 'number' || typeof head !== 'number') return [head];
    return [head, ...look.with.filter(other => other !== head && other <= most)];
  };

  // What is said where only one of them is drawn; of a mean or a rollout none is left out.
  const leftOut = (at, look, most) => {
    const count = headsOf(at, {...look, form: 'lines'}, most).length;
    return count > 1 && look.form !== 'lines' ? `Of head ${at.head} alone: only Lines draws ${count} heads over each other.` : '';
  };

  // A press on a head's number: [the head that is named, the others].
  const toggle = (drawn, pressed) => {
    const heads = drawn.includes(pressed) ? drawn.filter(head => head !== pressed) : [...drawn, pressed];
    const [named, ...others] = heads.length ? heads : drawn;
    return [named, others.sort((one, other) => one - other)];
  };

  const sample = head => explorer.make('i', 'sample', '', {style: `--hue: var(${hueOf(head)}); --line-kind: ${LINES[kindOf(head)]}`});
  const fill = (place, most, drawn) => {
    const isOn = new Set(drawn);
    if (place.childElementCount !== most + 2) {
      const chip = (name, words) => explorer.make('button', 'chip', words, {type: 'button', 'data-over': name});
      const numbers = Array.from({length: most}, (_, index) => {
        const made = chip(index + 1, String(index + 1));
        made.append(sample(index + 1));
        made.setAttribute('aria-label', `Head ${index + 1}`);
        return made;
      });
      place.replaceChildren(...numbers, chip('all', 'All'), chip('one', 'Only one'));
    }
    [...place.children].forEach((button, index) => index < most && button.setAttribute('aria-pressed', isOn.has(index + 1)));
  };

  // Beside a token: what of the one pointed at it takes in each head.
  const share = weights => weights.filter(({weight}) => weight >= LEAST_SHARE).sort((one, other) => other.weight - one.weight)
    .slice(0, MOST_SHARES).map(({head, weight}) => `${head}: ${explorer.percent(weight)}`).join(' · ');

  const legend = several => {
    if (several.length > HUES) return [explorer.make('span', '', 'Each line is of the head whose number above is marked as it is.')];
    return several.map(({head}) => {
      const entry = explorer.make('span', 'entry', `head ${head} `);
      entry.append(sample(head));
      return entry;
    });
  };

  explorer.attentionSeveral = {hueOf, dashOf, apart, headsOf, leftOut, toggle, fill, share, legend};
})();
