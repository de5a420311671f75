// What the controls of sampling do to the scores of the next token: pure functions, in the order and with the meaning
// of the logits processors of transformers. A token that is cut away has the score -Infinity.
(() => {
  const decoding = {};

  const float16 = bits => {
    const sign = bits & 0x8000 ? -1 : 1, exponent = (bits >> 10) & 31, fraction = bits & 1023;
    if (exponent === 31) return fraction ? NaN : sign * Infinity;
    return exponent ? sign * 2 ** (exponent - 15) * (1 + fraction / 1024) : sign * 2 ** -14 * (fraction / 1024);
  };

  // Scores travel as half precision below the highest, where half precision is finest.
  decoding.unpack = (base64, highest) => {
    const bytes = atob(base64), scores = new Float64Array(bytes.length / 2);
    for (let index = 0; index < scores.length; index += 1) {
      scores[index] = highest + float16(bytes.charCodeAt(2 * index) | (bytes.charCodeAt(2 * index + 1) << 8));
    }
    return scores;
  };

  const greatest = scores => scores.reduce((most, score) => (score > most ? score : most), -Infinity);

  decoding.softmax = scores => {
    const most = greatest(scores), shares = scores.map(score => Math.exp(score - most));
    const sum = shares.reduce((total, share) => total + share, 0);
    return shares.map(share => share / sum);
  };

  decoding.entropy = shares => shares.reduce((sum, share) => (share > 0 ? sum - share * Math.log(share) : sum), 0);

  const keep = (scores, isKept) => scores.map((score, index) => (isKept(score, index) ? score : -Infinity));

  decoding.controls = {
    repetition_penalty: (scores, penalty, ids) => {
      const changed = scores.slice();
      new Set(ids).forEach(id => (changed[id] = scores[id] < 0 ? scores[id] * penalty : scores[id] / penalty));
      return changed;
    },
    temperature: (scores, temperature) => scores.map(score => score / temperature),
    top_k: (scores, count) => {
      if (!count || count >= scores.length) return scores;
      const least = scores.slice().sort()[scores.length - count];
      return keep(scores, score => score >= least);
    },
    top_p: (scores, mass) => {
      if (mass >= 1) return scores;
      const rising = scores.slice().sort(), shares = decoding.softmax(rising);
      let sum = 0, first = 0; // of those that stay
      while (first < rising.length - 1 && (sum += shares[first]) <= 1 - mass) first += 1;
      return keep(scores, score => score >= rising[first]);
    },
    min_p: (scores, share) => {
      if (!share) return scores;
      const least = greatest(scores) + Math.log(share);
      return keep(scores, score => score >= least);
    },
    typical_p: (scores, mass) => {
      if (mass >= 1) return scores;
      const shares = decoding.softmax(scores), expected = decoding.entropy(shares);
      const away = shares.map(share => (share > 0 ? Math.abs(-Math.log(share) - expected) : Infinity));
      const order = Uint32Array.from(away, (_, index) => index).sort((one, other) => away[one] - away[other]);
      let sum = 0, last = 0;
      while (last < order.length - 1 && (sum += shares[order[last]]) < mass) last += 1;
      return keep(scores, (_, index) => away[index] <= away[order[last]]);
    },
  };
  const NOTHING = {repetition_penalty: 1, temperature: 1, top_k: 0, top_p: 1, min_p: 0, typical_p: 1};

  // The scores after every control that is moved, one stage each, the untouched ones first.
  decoding.stages = (scores, ids, settings) => {
    const stages = [{name: 'model', scores}];
    for (const [name, apply] of Object.entries(decoding.controls)) {
      const value = settings[name];
      if (value === undefined || value === NOTHING[name]) continue;
      stages.push({name, value, scores: apply(stages.at(-1).scores, value, ids)});
    }
    const before = decoding.softmax(scores);
    stages.forEach(stage => {
      stage.shares = decoding.softmax(stage.scores);
      stage.entropy = decoding.entropy(stage.shares);
      stage.left = stage.scores.reduce((count, score) => count + (score > -Infinity), 0);
      stage.mass = before.reduce((sum, share, id) => (stage.scores[id] > -Infinity ? sum + share : sum), 0);
    });
    return stages;
  };

  if (typeof window !== 'undefined') (window.explorer = window.explorer || {}).decoding = decoding;
})();
