// While somebody types, the text is read without the page's queue, where each round trip costs more than a short text.
// Whatever cannot be answered at once (a model on its way, a mistake) is left to the queue, which says so in words.
(() => {
  const explorer = (window.explorer = window.explorer || {});
  const PLACES = '#attention-text, #attention-second, #attention-write';
  const held = selector => document.querySelector(selector)?.value ?? '';
  const plain = text => String(text).replaceAll('\r\n', '\n');

  let model = null; // as the picker has it; null = nobody has chosen yet
  explorer.attention.choose = chosen => (model = chosen);

  // Whether an answer is still of what stands in the box.
  const isCurrent = asked => {
    const box = document.querySelector('#attention-text textarea');
    return !box || plain(box.value) === plain(asked.text);
  };

  // Args: the view's element; server, with read_text; known(): what is drawn, and which head; draw(view as JSON, whether
  // another is on its way for the same link).
  explorer.attentionTyping = (element, server, known, draw) => {
    let isReading = false, isLate = false;
    const read = async (isOfLink = false) => {
      const {asked, which} = known() ?? {};
      if (!asked || !element.offsetParent) return;
      if (isReading) return void (isLate = true);
      const wanted = {
        model: model ?? asked.model, text: held('#attention-text textarea'), second: held('#attention-second textarea'),
        new_tokens: Math.round(Number(held('#attention-write input[type=number]'))) || 0,
      };
      isReading = true;
      try {
        const answer = await server.read_text({asked: wanted, which}).catch(() => null); // the queue says what is wrong
        const isOfModel = wanted.model === (model ?? wanted.model); // a link chooses one while the text is read
        if (answer?.view && isOfModel && isCurrent(wanted)) draw(answer.view, isOfLink);
      } finally {
        isReading = false;
        if (isLate) {
          isLate = false;
          read();
        }
      }
    };
    document.addEventListener('input', event => event.target.closest(PLACES) && read());
    const catchUp = () => {
      const {asked} = known() ?? {};
      if (asked && !isCurrent(asked)) read(true);
    };
    return {isCurrent, catchUp};
  };
})();
