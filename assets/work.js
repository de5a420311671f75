// What is under way: questions to the server, and figures that plotly has not drawn yet. Screen readers see it as
// aria-busy on the results of the tab in sight. On the body, data-at-work stands as long as there is any of it, and
// data-ready once all that an address names is there: not in the fields alone (data-restored), but computed and drawn.
(() => {
  const explorer = window.explorer;
  const QUIET_MILLISECONDS = 100; // an answer may set off the next question

  // Clocks ask every second or two how a job or a model is: that is no answer on its way.
  const clocks = new Set(), hands = new Set(); // events; what they change without the server, which may ask in turn
  for (const {id, targets, trigger_after: before, backend_fn: asks, outputs} of window.gradio_config?.dependencies ?? []) {
    if (!targets.some(([, event]) => event === 'tick') && !clocks.has(before)) continue;
    clocks.add(id);
    if (!asks) outputs.forEach(output => hands.add(output));
  }

  const underWay = new Map(); // question, by a mark of ours or by the server's name for it -> the results it is about
  const inSight = () => [...document.querySelectorAll('.result-side')].find(results => results.offsetParent) ?? null;
  let changed = 0; // when a question last began or ended
  const show = results => {
    results?.setAttribute('aria-busy', 'true');
    document.body.dataset.atWork = 'true';
  };
  const begin = (question, results) => {
    underWay.set(question, results);
    show(results);
    changed = performance.now();
  };
  const end = question => {
    if (!underWay.delete(question)) return;
    changed = performance.now();
    explorer.settle();
  };

  // What is answered only at a press is of the text before as soon as another is typed.
  const typed = () => [...document.querySelectorAll(':is(#tune-try-text, #tune-try-second) textarea')]
    .map(({value}) => value).join('\n');
  let asked = null;
  const compare = () => {
    const answer = document.querySelector('#tune-tried');
    answer?.toggleAttribute('data-before', asked !== null && asked !== typed() && answer.textContent.trim() !== '');
  };
  const wasAsked = () => {
    asked = typed();
    compare();
  };
  explorer.refusedTry = said => { // another text stands there now, and the answer is of none that was typed since
    if (!said?.includes('message error')) return said ?? '';
    asked = undefined;
    compare();
    return '';
  };
  // A job comes with texts of its own, some time after it is in sight: boxes that the visitor took meanwhile stay as
  // they are.
  const jobInSight = () => document.querySelector('#tune-job-id :is(input, textarea)')?.value ?? '';
  let takenFor = null, typedFor = null;
  explorer.fillTry = (own, ...texts) => {
    const {task, texts: ours} = JSON.parse(own);
    const isKept = takenFor === jobInSight() || typedFor === task; // of another job of the same task the same can be asked
    takenFor = isKept ? jobInSight() : null;
    typedFor &&= isKept ? task : null;
    return isKept ? texts : ours;
  };
  // What the visitor typed stands in the address; a job's own texts do not, nor such as leave no room there for the rest.
  const TRY_BOXES = '#tune-try-text, #tune-try-second', MOST_TYPED = 2500; // characters of an address
  explorer.typedTry = (own, ...texts) => {
    const {task, texts: ours} = JSON.parse(own);
    const isOwn = ours.every((text, place) => text === texts[place]);
    typedFor = isOwn || texts.every(text => !text.trim()) ? null : task;
    return isOwn || encodeURIComponent(texts.join('')).length > MOST_TYPED ? texts.map(() => '') : texts;
  };
  explorer.restoreTry = (job, text, second, ...texts) => {
    // Who types in a box is ahead of what is told of it.
    if (!(text || second) || document.activeElement?.closest(TRY_BOXES)) return texts;
    takenFor = job;
    isToAsk = !document.body.dataset.ready;
    return [text, second];
  };
  // Whose link holds a text of their own saw an answer to it.
  let isToAsk = false;
  const askAgain = () => {
    const button = isToAsk && document.querySelector('#tune-try');
    isToAsk = false;
    const boxes = [...document.querySelectorAll('#tune-try-text textarea, #tune-try-second textarea')];
    if (!button?.offsetParent || button.disabled || boxes.some(box => box.offsetParent && !box.value.trim())) return false;
    button.click();
    return true;
  };
  for (const kind of ['focusin', 'input'])
    document.addEventListener(kind, ({target}) => {
      if (!target.closest(TRY_BOXES)) return;
      takenFor = jobInSight();
      compare();
    });
  document.addEventListener('click', ({target}) => target.closest('#tune-try') && wasAsked(), true);
  document.addEventListener('keydown', ({target, key}) =>
    key === 'Enter' && target.closest('#tune-try-text, #tune-try-second') && wasAsked(), true);

  // plotly comes with the first figure; until then Gradio shows an empty one.
  const isDrawing = () => !window.Plotly && document.querySelector('link[href*="PlotlyPlot"]') &&
    [...document.querySelectorAll('.figure')].some(figure => figure.offsetParent);
  const whenIdle = window.requestIdleCallback ?? setTimeout;
  let next = null;
  const settleLater = () => {
    next ??= setTimeout(() => whenIdle(() => {
      next = null;
      explorer.settle();
    }), QUIET_MILLISECONDS);
  };
  explorer.settle = () => {
    compare(); // an answer may have left with its job
    if (isDrawing()) show(inSight());
    if (isDrawing() || performance.now() - changed < QUIET_MILLISECONDS) return settleLater();
    const isAbout = new Set(underWay.values());
    for (const results of document.querySelectorAll('.result-side[aria-busy]'))
      if (!isAbout.has(results)) results.removeAttribute('aria-busy');
    if (underWay.size) return;
    delete document.body.dataset.atWork;
    if (!document.body.dataset.restored || document.body.dataset.ready) return;
    if (explorer.openFolds() || askAgain() || explorer.isToWrite) return settleLater();
    document.body.dataset.ready = 'true';
    navigator.sendBeacon('drawn'); // what would have slowed the page may begin
  };

  // Gradio asks by "join", and is answered on a stream that all questions of a page share.
  const plain = window.fetch;
  const early = new Set(); // answered before we had heard their names
  const open = new Set(); // names of what is not answered, clocks among them
  let asking = 0, sent = 0;
  let named = ''; // by which name the server knows this page
  addEventListener('pagehide', () => named && navigator.sendBeacon('left', named)); // asking.py has no other way to hear
  const ask = async (send, body) => {
    const {fn_index: event, trigger_id: trigger, session_hash: session} = JSON.parse(body);
    named = session;
    const isQuiet = clocks.has(event) || hands.has(trigger);
    const question = Symbol('question'), results = inSight();
    asking += 1;
    if (!isQuiet) begin(question, results);
    try {
      const answer = await send();
      const {event_id: name} = answer.ok ? await answer.clone().json() : {};
      if (name && !early.delete(name)) {
        open.add(name);
        if (!isQuiet) begin(name, results);
      }
      return answer;
    } finally {
      asking -= 1;
      if (!asking) early.clear();
      end(question);
    }
  };

  const MESSAGE = /^data: ?\{"msg": ?"(\w+)", ?"event_id": ?"(\w+)"/;
  const CLOSING = /^data: ?\{"msg": ?"close_stream"/, PAUSE_MILLISECONDS = 10;
  const readAll = async (stream, hear) => {
    const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
    for (let {done, value} = await reader.read(), rest = ''; !done; {done, value} = await reader.read()) {
      const messages = (rest + value).split('\n\n');
      rest = messages.pop();
      messages.forEach(hear);
    }
  };
  // The server ends the stream when nothing is left to answer. If Gradio has asked again before it reads that, it takes
  // the stream for open, opens no other, and never reads the answer. So it is given one that goes on where the server's
  // ends, as long as anything is open; only then it reads that the stream is closed.
  const listen = async (first, again, pass) => {
    const heard = new Set();
    let closing = '';
    const hear = message => {
      if (CLOSING.test(message)) return void (closing = message);
      const [, kind, name] = message.match(MESSAGE) ?? [];
      if (name) heard.add(name);
      if (name && (kind === 'process_completed' || kind === 'unexpected_error')) {
        if (!open.delete(name) && asking) early.add(name);
        end(name);
      }
      pass(message);
    };
    try {
      for (let stream = first; stream; stream = closing && open.size ? (await again()).body : null) {
        closing = '';
        await readAll(stream, hear);
        do await new Promise(done => setTimeout(done, PAUSE_MILLISECONDS)); while (closing && asking);
      }
      if (closing) pass(closing);
    } finally { // cut short or not: no more is heard of these
      heard.forEach(name => {
        open.delete(name);
        end(name);
      });
    }
  };
  const joined = (first, again) => new ReadableStream({
    start(given) {
      const encoder = new TextEncoder();
      listen(first, again, message => given.enqueue(encoder.encode(`${message}\n\n`)))
        .then(() => given.close())
        .catch(error => {
          open.clear(); // whatever it was is heard of no more
          given.error(error);
        });
    },
  });

  const answerOnce = async send => {
    const question = Symbol('view'); // a view of ours fetches what it draws
    begin(question, inSight());
    return send().finally(() => end(question));
  };

  window.fetch = async (resource, options) => {
    const send = () => plain.call(window, resource, options);
    const {pathname} = new URL(resource.url ?? resource, document.baseURI);
    if (pathname.endsWith('/queue/join')) {
      const headers = new Headers(options.headers);
      headers.set('x-question', ++sent); // a busy server may hear of two presses the other way round (asking.py)
      return ask(() => plain.call(window, resource, {...options, headers}), options.body);
    }
    if (pathname.endsWith('/component_server')) return answerOnce(send);
    if (pathname.endsWith('/cancel')) {
      const {event_id: name} = JSON.parse(options.body);
      open.delete(name);
      end(name);
    }
    if (!pathname.endsWith('/queue/data')) return send();
    const answer = await send();
    return answer.body ? new Response(joined(answer.body, send), answer) : answer;
  };
})();
