// How a token reads by itself, and how strong a background tells its numbers: for all drawings of single tokens.
(() => {
  const explorer = (window.explorer = window.explorer || {});

  const percent = share => {
    const value = 100 * share;
    if (value >= 99.5 && value < 99.9995) return value < 99.95 ? `${value.toFixed(1)} %` : '> 99.9 %'; // 100 % only of all
    if (value >= 9.95) return `${value.toFixed(0)} %`;
    if (value >= 0.095) return `${value.toFixed(1)} %`;
    return value >= 0.005 ? `${value.toFixed(2)} %` : value > 0 ? '< 0.01 %' : '0 %';
  };
  const nats = value => value.toFixed(2).replace('-', '−');
  const surprisal = probability => -Math.log(Math.max(probability, 1e-45));
  const bits = nats => `${(nats / Math.LN2).toFixed(1)} bits`;

  // How strong a token's background is, from 0 to 1, and the same in words. Blue: expected. Orange: unsure.
  const MOST_BITS = 14;
  const MOST_ENTROPY_BITS = 12;
  const MEASURES = {
    probability: {
      label: 'Probability', hue: 'expected', least: '0 %', most: '100 %',
      strength: step => step.probability, words: step => percent(step.probability),
      hint: 'The probability that the model gave to each token.',
    },
    rank: {
      label: 'Rank', hue: 'expected', least: 'beyond 100th', most: '1st',
      strength: step => [[1, 1], [5, 0.72], [10, 0.5], [100, 0.25]].find(([most]) => step.rank <= most)?.[1] ?? 0.04,
      words: step => `rank ${step.rank.toLocaleString('en')}`,
      hint: 'Its place among all tokens: 1st, to 5th, to 10th, to 100th, beyond.',
    },
    entropy: {
      label: 'Entropy', hue: 'unsure', least: '0 bits', most: `${MOST_ENTROPY_BITS} bits or more`,
      strength: step => Math.min(1, step.entropy / Math.LN2 / MOST_ENTROPY_BITS), words: step => bits(step.entropy),
      hint: 'How unsure the model was at this place, whatever was written.',
    },
    surprisal: {
      label: 'Surprisal', hue: 'unsure', least: '0 bits', most: `${MOST_BITS} bits or more`,
      strength: step => Math.min(1, surprisal(step.probability) / Math.LN2 / MOST_BITS),
      words: step => bits(surprisal(step.probability)),
      hint: '−log₂ p: how much the token that was written came as a surprise.',
    },
  };

  const make = (tag, names = '', text = '', attributes = {}) => {
    const made = document.createElement(tag);
    if (names) made.className = names;
    if (text !== '') made.textContent = text;
    Object.entries(attributes).forEach(([name, value]) => made.setAttribute(name, value));
    return made;
  };

  // A token as it reads by itself: what cannot be seen gets a sign, and a piece that goes on a word three dots.
  const seen = text => {
    if (text === '') return '(ends here)';
    if (!text.trim()) return text.replace(/\n/g, '⏎').replace(/ /g, '␣').replace(/\t/g, '⇥');
    const shown = text.trim().replace(/\n/g, '⏎');
    return /^[\p{L}\p{N}]/u.test(text) ? '…' + shown : shown;
  };

  // The same for tokens that are listed together: of two that would read the same, one with a space before it says so.
  const seenAmong = texts => {
    const count = new Map();
    new Set(texts).forEach(text => count.set(seen(text), (count.get(seen(text)) ?? 0) + 1));
    return text => (count.get(seen(text)) > 1 && /^ +\S/.test(text) ? '␣' : '') + seen(text);
  };

  const dress = (span, step, measure) => {
    const {strength, words} = MEASURES[measure];
    const share = strength(step);
    span.style.setProperty('--v', share.toFixed(3)); // the length of the bar
    span.style.setProperty('--c', Math.sqrt(share).toFixed(3)); // the eye tells faint tints apart better than strong ones
    span.dataset.words = words(step);
  };

  Object.assign(explorer, {percent, nats, bits, surprisal, make, seen, seenAmong, dress, MEASURES});
})();
