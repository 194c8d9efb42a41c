// The one JavaScript helper: keeps the tables of real WebGPU objects, decodes Python's packed
// commands into one open compute pass, submits, and reads back. Evaluates to createRecorder.
//
// Python refers to everything by small integers. One call hands over a whole batch:
//   dispatch  [pipeline id, x, y, z, buffer id × bindings, parameter word × parameters];
//             sized pipelines, of users' kernels, have after the ids how many words to bind of each,
//             0 for all
//   copy      [0, source id, source offset, destination id, destination offset, bytes]
//   clear     [1, buffer id, offset, bytes]
// The ring's last word is no command: it becomes 1 when the device is lost, so that Python sees that
// without a call.
// WebGPU reports errors asynchronously, so each is kept under the op's name until Python asks.
(function createRecorder(device, ring, options) {
  "use strict";
  const CLEAR = 1;
  const FIRST_PIPELINE = 16;
  const HEADER = 4; // pipeline id and three grid dimensions
  const UNIFORM_SLOTS = 256; // more dispatches than dispatchesPerSubmit and a full ring make
  const MOST_WAITING = 64; // batches that wait for a pipeline; then it is compiled at once
  const READ_CHUNK = 2 ** 22; // bytes; the buffers for reading back are at most this large
  const READS_AHEAD = 4; // chunks on their way at a time
  const MOST_IDLE = 16; // idle buffers for reading back
  const MOST_IDLE_BYTES = 2 ** 25; // of them
  const UPLOAD_CHUNK = 2 ** 22; // bytes; what is smaller goes through the queue
  const UPLOADS_GROWN = 2; // mapped buffers that are made after a large upload
  const MOST_UPLOAD_BYTES = 2 ** 26; // of the mapped buffers for uploads
  const LONGEST_FRAME = 1000; // ms
  const MOST_ERRORS = 64; // that nobody was told yet; further ones are dropped

  const queue = device.queue;
  const buffers = new Map(); // id -> {buffer, groups: Set of cache entries, batch}
  const pipelines = []; // id - FIRST_PIPELINE -> {pipeline, label, layout, ...}
  const layouts = new Map(); // signature -> {layout, pipelineLayouts, groups: Map, ...}
  const counters = {
    dispatches: 0, copies: 0, submits: 0, uploads: 0, readbacks: 0, draws: 0,
    bind_groups_created: 0, pipelines_created: 0,
  };

  // What the GPU reported, each with its number. An error is told to every wait that had begun when
  // it was first told: a read that sees one leaves its array alone, so it must not end without it.
  let errors = [];
  let reported = 0; // errors so far
  let told = 0; // the number of the last one that somebody was told
  const waits = new Map(); // ticket -> what told was when the wait began
  const pending = new Set(); // promises that may still add to errors
  let lost = null;
  let closed = false;
  const wakers = new Set(); // who waits for the GPU, and must not when it is gone
  device.lost.then((info) => {
    if (closed) return;
    ringWords().fill(1, -1);
    end({ kind: "lost", op: "device", message: info.message || info.reason || "unknown" });
  });

  // Nothing comes from the GPU any more.
  function end(why) {
    lost ??= why;
    waiting.length = 0;
    for (const wake of wakers) wake();
    wakers.clear();
  }

  // Settles as the promise does, or resolves when the device is lost. (Promise.race with one
  // long-lived promise would leave a reaction on it for each wait.)
  function unlessLost(promise) {
    if (lost !== null) {
      promise.catch(() => {}); // nobody is told of it
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      wakers.add(resolve);
      promise.then(resolve, reject).finally(() => wakers.delete(resolve));
    });
  }

  function report(kind, op, message, extra) {
    if (reported - told < MOST_ERRORS) errors.push({ kind, op, message, number: ++reported, ...extra });
  }

  function track(promise) {
    const settled = promise
      .catch((error) => report("validation", "recorder", String(error)))
      .finally(() => pending.delete(settled));
    pending.add(settled);
  }

  device.addEventListener("uncapturederror", (event) => {
    const error = event.error;
    const kind = error instanceof GPUOutOfMemoryError ? "out-of-memory" : "validation";
    report(kind, "device", error.message);
    event.preventDefault();
  });

  // Runs work inside error scopes and reports what they catch as op's errors.
  function scoped(op, work, onError) {
    device.pushErrorScope("validation");
    device.pushErrorScope("out-of-memory");
    const result = work();
    const memory = device.popErrorScope();
    const validation = device.popErrorScope();
    track(
      Promise.all([memory, validation]).then(async ([memoryError, validationError]) => {
        if (memoryError) report("out-of-memory", op, memoryError.message);
        if (validationError) await (onError ?? defaultReport)(validationError, op);
      }, () => {}), // popErrorScope rejects only when the device is lost, which lost tells
    );
    return result;
  }

  function defaultReport(error, op) {
    report("validation", op, error.message);
  }

  // ---- the command ring: Python's memory, seen through a view that memory growth detaches ----
  let view = ring.getBuffer("u32");
  function ringWords() {
    if (view.data.length === 0) {
      view.release();
      view = ring.getBuffer("u32");
    }
    return view.data;
  }

  // ---- buffers -------------------------------------------------------------------------------
  function makeBuffer(size, label) {
    const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.UNIFORM
      | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;
    return device.createBuffer({ size, usage, label });
  }

  function addBuffer(id, buffer) {
    buffers.set(id, { buffer, groups: new Set(), batch: -1 });
  }

  function createBuffer(id, size, label, op, requested) {
    device.pushErrorScope("out-of-memory");
    addBuffer(id, makeBuffer(size, label));
    track(device.popErrorScope().then((error) => {
      if (error) report("out-of-memory", op, error.message, { buffer: id, label, requested });
    }, () => {})); // rejects only when the device is lost
  }

  // Resolves to whether there was room. The answer takes a round trip to the GPU process.
  const asked = new Map(); // id -> buffer whose answer has not come yet
  async function createBufferChecked(id, size, label) {
    device.pushErrorScope("out-of-memory");
    const buffer = makeBuffer(size, label);
    asked.set(id, buffer);
    const error = await unlessLost(device.popErrorScope().catch(() => null));
    if (!asked.delete(id) || error) {
      buffer.destroy();
      return false;
    }
    addBuffer(id, buffer);
    return true;
  }

  // Nobody waits for a checked buffer any more; the answer may have come all the same.
  function abandonBuffer(id) {
    asked.get(id)?.destroy();
    asked.delete(id);
    if (buffers.has(id)) destroyBuffer(id);
  }

  // What the browser's tools and WebGPU's messages call a buffer from now on.
  function labelBuffer(id, label) {
    buffers.get(id).buffer.label = label;
  }

  function destroyBuffer(id) {
    const entry = buffers.get(id);
    if (partial.size > 0) sendPartialReads();
    if (entry.batch === batch || isAwaited(id)) sendNow();
    for (const cached of entry.groups) {
      cached.shared.groups.delete(cached.key);
      for (const other of cached.entries) if (other !== entry) other.groups.delete(cached);
      liveGroups -= 1;
    }
    entry.buffer.destroy();
    buffers.delete(id);
  }

  // ---- pipelines -----------------------------------------------------------------------------
  // signature: "0r1w" — per binding its number, then r (read-only storage), w (storage that is
  // written too) or u (uniform).
  const BINDING_TYPES = { r: "read-only-storage", w: "storage", u: "uniform" };
  function layoutFor(signature) {
    let entry = layouts.get(signature);
    if (!entry) {
      const bindings = [...signature.matchAll(/(\d+)([rwu])/g)].map(([, binding, access]) => ({
        binding: Number(binding),
        visibility: GPUShaderStage.COMPUTE,
        buffer: { type: BINDING_TYPES[access] },
      }));
      const layout = device.createBindGroupLayout({ entries: bindings, label: signature });
      entry = { layout, bindings, pipelineLayouts: new Map(), groups: new Map() };
      layouts.set(signature, entry);
    }
    return entry;
  }

  const uniformLayout = device.createBindGroupLayout({
    entries: [{
      binding: 0,
      visibility: GPUShaderStage.COMPUTE,
      buffer: { type: "uniform", hasDynamicOffset: true },
    }],
    label: "parameters",
  });

  function pipelineLayoutFor(shared, immediateBytes, uniform) {
    const key = uniform ? "uniform" : immediateBytes;
    let layout = shared.pipelineLayouts.get(key);
    if (!layout) {
      const bindGroupLayouts = uniform ? [shared.layout, uniformLayout] : [shared.layout];
      layout = device.createPipelineLayout({
        bindGroupLayouts,
        label: `parameters: ${uniform ? "uniform" : `${immediateBytes} bytes`}`,
        ...(immediateBytes && { immediateSize: immediateBytes }),
      });
      shared.pipelineLayouts.set(key, layout);
    }
    return layout;
  }

  // Where a line of a step's code comes from. Line 0 stands for no line.
  function fileAndLine({ sections }, line) {
    const [file, begin] = sections.findLast(([, begin]) => begin <= line) ?? sections[0];
    return { file, line: line && line - begin + 1 };
  }

  async function refuse(step, message) {
    const { module, label } = step;
    step.refused = true;
    const info = await module.getCompilationInfo().catch(() => null);
    if (info === null) return; // the device is lost
    const first = info.messages.find((m) => m.type === "error");
    const place = { ...fileAndLine(step, first?.lineNum ?? 0), column: first?.linePos ?? 0 };
    step.failure = ["shader", label, first?.message ?? message, place];
    if (step.wanted) report(...step.failure);
  }

  // spec: {label, file, sections: [[file, its first line in the code], …], code, entryPoint,
  // signature, constants, parameterBytes, immediate}
  // Compiles without blocking: commands that need the pipeline wait for it in `waiting`. One that
  // is made ahead, in case it is needed, reports its failure only once it is.
  function createPipeline(specJson, ahead) {
    const spec = JSON.parse(specJson);
    const shared = layoutFor(spec.signature);
    const uniform = spec.parameterBytes > 0 && !spec.immediate;
    const immediateBytes = spec.immediate ? spec.parameterBytes : 0;
    device.pushErrorScope("validation"); // what is wrong with the code, the pipeline's error tells
    const module = device.createShaderModule({ code: spec.code, label: spec.file });
    device.popErrorScope().catch(() => {});
    const record = {
      label: spec.label, sections: spec.sections, module, shared,
      bindings: shared.bindings.length,
      sized: spec.sized, bindingWords: (spec.sized ? 2 : 1) * shared.bindings.length,
      keyWidth: 2 ** Math.floor(53 / shared.bindings.length),
      words: spec.parameterBytes / 4, uniform, pipeline: null, wanted: !ahead,
      refused: false, failure: null, // the arguments of report, once they are known
      compiling: null,
      descriptor: {
        label: spec.label,
        layout: pipelineLayoutFor(shared, immediateBytes, uniform),
        compute: { module, entryPoint: spec.entryPoint, constants: spec.constants },
      },
    };
    record.compiling = compile(record);
    if (record.wanted) track(record.compiling);
    counters.pipelines_created += 1;
    return pipelines.push(record) - 1 + FIRST_PIPELINE;
  }

  let compiling = 0; // pipelines
  async function compile(step) {
    const started = performance.now();
    compiling += 1;
    try {
      const pipeline = await device.createComputePipelineAsync(step.descriptor);
      step.pipeline ??= pipeline;
      step.descriptor = step.module = null;
    } catch (error) {
      if (step.pipeline === null) await refuse(step, error.message);
    }
    compiling -= 1;
    noteCompiled(started);
    encodeWaiting();
  }

  // For who cannot wait. What is compiled already in the background is then compiled twice.
  function compileNow(step) {
    step.pipeline = scoped(step.label, () => device.createComputePipeline(step.descriptor),
      (error) => refuse(step, error.message));
  }

  // Milliseconds from asking for a pipeline until it was there, without counting a moment twice
  // when several are made at once. The browser tells no compile time of its own.
  let compileMs = 0;
  let compileEnd = 0;
  function noteCompiled(started) {
    const now = performance.now();
    compileMs += now - Math.max(started, compileEnd);
    compileEnd = now;
  }

  // ---- bind groups: one per layout and buffers, kept until one of the buffers goes ------------
  const MOST_GROUPS = 4096; // then all are forgotten: making one again costs microseconds
  let liveGroups = 0;
  function forgetGroups() {
    for (const shared of layouts.values()) shared.groups.clear();
    for (const entry of buffers.values()) entry.groups.clear();
    liveGroups = 0;
  }

  // The buffers' ids as one number, or as a text where one of them is too large for that, or where
  // their sizes belong to it.
  function groupKey({ bindings, keyWidth, sized, bindingWords }, words, at) {
    if (sized) return words.subarray(at, at + bindingWords).join();
    let key = 0;
    for (let i = at; i < at + bindings; i++) {
      if (words[i] >= keyWidth) return words.subarray(at, at + bindings).join();
      key = key * keyWidth + words[i];
    }
    return key;
  }

  // {group, entries: its buffers, batch: the last one that it was used in, shared, key}
  function bindGroupFor(step, words, at) {
    const { shared } = step;
    const key = groupKey(step, words, at);
    let cached = shared.groups.get(key);
    if (cached === undefined) {
      if (liveGroups >= MOST_GROUPS) forgetGroups();
      const entries = shared.bindings.map((_, i) => buffers.get(words[at + i]));
      const group = device.createBindGroup({
        layout: shared.layout,
        label: shared.layout.label,
        entries: shared.bindings.map(({ binding }, i) => ({
          binding,
          resource: {
            buffer: entries[i].buffer,
            size: (step.sized && 4 * words[at + step.bindings + i]) || undefined,
          },
        })),
      });
      cached = { group, entries, batch: -1, shared, key };
      shared.groups.set(key, cached);
      for (const entry of entries) entry.groups.add(cached);
      liveGroups += 1;
      counters.bind_groups_created += 1;
    }
    return cached;
  }

  // ---- the uniform ring: parameters where the browser has no immediates -----------------------
  const uniformBytes = 256; // minUniformBufferOffsetAlignment's default, and its largest value
  let uniformBuffer = null;
  let uniformGroup = null;
  let uniformStaging = null;
  let uniformUsed = 0;
  function uniformOffset(words, at, count) {
    if (uniformBuffer === null) {
      const size = UNIFORM_SLOTS * uniformBytes;
      const usage = GPUBufferUsage.UNIFORM | GPUBufferUsage.COPY_DST;
      uniformBuffer = device.createBuffer({ size, usage, label: "parameters" });
      uniformStaging = new Uint32Array(size / 4);
      uniformGroup = device.createBindGroup({
        layout: uniformLayout,
        label: "parameters",
        entries: [{ binding: 0, resource: { buffer: uniformBuffer, size: uniformBytes } }],
      });
    }
    const offset = uniformUsed * uniformBytes;
    uniformStaging.set(words.subarray(at, at + count), offset / 4);
    uniformUsed += 1;
    return offset;
  }

  // ---- encoding ------------------------------------------------------------------------------
  let encoder = null;
  let pass = null;
  let batch = 0; // number of the open batch: a buffer marked with it is used by unsubmitted work
  let batchDispatches = 0;
  let submitted = 0; // dispatches sent to the GPU
  let finished = 0; // of them, those known to have ended
  let batchWords = []; // copies of the open batch's commands, to find the culprit of an error
  let lastPipeline = null;
  let lastGroup = null;
  // The pass's immediates, which stay as they are when the pipeline changes, and how many are set.
  const immediates = new Uint32Array(16);
  let immediateCount = 0;

  function openEncoder() {
    return (encoder ??= device.createCommandEncoder({ label: "batch" }));
  }

  function endPass() {
    if (pass !== null) {
      pass.end();
      pass = lastPipeline = lastGroup = null;
      immediateCount = 0;
    }
  }

  // Takes the first `end` words of the ring. Returns 1 when the device is lost, else 0.
  function record(end) {
    if (lost !== null) return 1;
    const words = ringWords().slice(0, end);
    if (waiting.length > 0 || (compiling > 0 && !isReady(words))) wait(words);
    else encode(words);
    return 0;
  }

  function encode(words, haveWaited = false) {
    if (partial.size > 0) sendPartialReads();
    batchWords.push(words);
    const { length } = words;
    for (let at = 0; at < length;) at = encodeOne(words, at, haveWaited);
    if (batchDispatches >= options.dispatchesPerSubmit) submit();
  }

  // ---- commands whose pipelines are being compiled ---------------------------------------------
  const waiting = []; // in order: {words: commands} or {run: function, id: the buffer it uses}

  // Each command's place, its pipeline (null: a transfer) and the ids of its buffers.
  function* commands(words) {
    for (let at = 0; at < words.length;) {
      const id = words[at];
      if (id >= FIRST_PIPELINE) {
        const step = pipelines[id - FIRST_PIPELINE];
        const bindingsAt = at + HEADER;
        yield { at, step, ids: words.subarray(bindingsAt, bindingsAt + step.bindings) };
        at = bindingsAt + step.bindingWords + step.words;
      } else if (id === CLEAR) {
        yield { at, step: null, ids: words.subarray(at + 1, at + 2) };
        at += 4;
      } else {
        yield { at, step: null, ids: [words[at + 1], words[at + 3]] };
        at += 6;
      }
    }
  }

  function isCompiling(step) {
    return step !== null && step.pipeline === null && step.failure === null;
  }

  function isReady(words) {
    for (const { step } of commands(words)) if (isCompiling(step)) return false;
    return true;
  }

  function wait(words) {
    for (const { step } of commands(words)) {
      if (step === null) continue;
      if (step.failure !== null) report(...step.failure);
      else if (!step.wanted) track(step.compiling);
      step.wanted = true;
    }
    waiting.push({ words });
    if (waiting.length > MOST_WAITING) compileAwaited();
  }

  // Whether a command that waits uses a buffer.
  function isAwaited(id) {
    return waiting.some((item) => {
      if (item.words === undefined) return item.id === id;
      for (const { ids } of commands(item.words)) if (ids.includes(id)) return true;
      return false;
    });
  }

  function encodeWaiting() {
    while (waiting.length > 0 && lost === null) {
      const { words, run } = waiting[0];
      if (words !== undefined && !isReady(words)) return;
      waiting.shift();
      if (words === undefined) run();
      else encode(words, true);
    }
  }

  function compileAwaited() {
    for (const { words } of waiting) {
      if (words === undefined) continue;
      for (const { step } of commands(words)) if (isCompiling(step)) compileNow(step);
    }
    encodeWaiting();
  }

  // Everything recorded so far goes to the GPU, now.
  function sendNow() {
    compileAwaited();
    submit();
  }

  // Everything recorded so far goes to the GPU, when it can.
  function send() {
    if (waiting.length > 0) waiting.push({ run: submit });
    else submit();
  }

  // Runs work, which uses a buffer, once everything recorded so far has been encoded.
  async function inOrder(id, work) {
    if (waiting.length === 0) work();
    else await unlessLost(new Promise((done) => waiting.push({ id, run: () => done(work()) })));
  }

  // Resolves when everything recorded so far has been encoded.
  function encoded() {
    return inOrder(undefined, () => {});
  }

  function encodeOne(words, at, haveWaited) {
    const id = words[at];
    if (id < FIRST_PIPELINE) return encodeTransfer(words, at, id);
    const step = pipelines[id - FIRST_PIPELINE];
    const bindingsAt = at + HEADER;
    const parametersAt = bindingsAt + step.bindingWords;
    if (step.failure !== null) { // it would take the whole batch with it
      if (!haveWaited) report(...step.failure);
      step.wanted = true;
      if (profile !== null) profile.dispatches += 1;
      return parametersAt + step.words;
    }
    const cached = bindGroupFor(step, words, bindingsAt);
    if (cached.batch !== batch) {
      cached.batch = batch;
      for (const entry of cached.entries) entry.batch = batch;
    }
    if (profile !== null) beginProfiledPass();
    if (pass === null) pass = openEncoder().beginComputePass(passTiming());
    if (step !== lastPipeline) {
      pass.setPipeline(step.pipeline);
      lastPipeline = step;
    }
    if (cached !== lastGroup) {
      pass.setBindGroup(0, cached.group);
      lastGroup = cached;
    }
    if (step.uniform) {
      const offset = uniformOffset(words, parametersAt, step.words);
      pass.setBindGroup(1, uniformGroup, [offset]);
    } else if (step.words > 0) {
      setImmediates(words, parametersAt, step.words);
    }
    pass.dispatchWorkgroups(words[at + 1], words[at + 2], words[at + 3]);
    counters.dispatches += 1;
    batchDispatches += 1;
    if (profile !== null && !profile.timestamps) timeByWall();
    if (profile !== null) profile.dispatches += 1;
    return parametersAt + step.words;
  }

  // Sets the first `count` immediates, unless they are what they should be: a chain of operations on
  // arrays of one size has the same parameters again and again.
  function setImmediates(words, at, count) {
    let same = count <= immediateCount;
    for (let i = 0; same && i < count; i++) same = immediates[i] === words[at + i];
    if (same) return;
    pass.setImmediates(0, words, at, count);
    for (let i = 0; i < count; i++) immediates[i] = words[at + i];
    immediateCount = Math.max(immediateCount, count);
  }

  function encodeTransfer(words, at, id) {
    endPass();
    counters.copies += 1;
    batchDispatches += 1;
    if (id === CLEAR) {
      const entry = buffers.get(words[at + 1]);
      entry.batch = batch;
      openEncoder().clearBuffer(entry.buffer, words[at + 2], words[at + 3]);
      return at + 4;
    }
    const source = buffers.get(words[at + 1]);
    const target = buffers.get(words[at + 3]);
    source.batch = target.batch = batch;
    openEncoder().copyBufferToBuffer(
      source.buffer, words[at + 2], target.buffer, words[at + 4], words[at + 5]);
    return at + 6;
  }

  function submit(op = "submit", whenDropped = undefined) {
    endPass();
    if (encoder === null || lost !== null) return;
    const commands = batchWords;
    const open = encoder;
    const dispatches = batchDispatches;
    encoder = null;
    batchWords = [];
    batch += 1;
    batchDispatches = 0;
    if (uniformUsed > 0) {
      queue.writeBuffer(uniformBuffer, 0, uniformStaging, 0, (uniformUsed * uniformBytes) / 4);
      uniformUsed = 0;
    }
    counters.submits += 1;
    scoped(op, () => queue.submit([open.finish()]), (error) => {
      whenDropped?.();
      return diagnose(commands, op, error);
    });
    submitted += dispatches;
    if (!isWatching) watch();
  }

  // Asks for one submit's end at a time: a promise for each would cost more than the dispatches.
  let isWatching = false;
  async function watch() {
    isWatching = true;
    while (finished < submitted && lost === null) {
      const until = submitted;
      await queue.onSubmittedWorkDone().catch(() => {});
      finished = Math.max(finished, until); // a wait may know of more
    }
    isWatching = false;
  }

  // An invalid command drops its whole batch, and WebGPU does not say which one it was: encode
  // each dispatch alone, without submitting it, to name the op.
  async function diagnose(batches, batchOp, batchError) {
    for (const words of batches) {
      for (const { at, step, ids } of commands(words)) {
        if (step === null || step.pipeline === null) continue;
        const bindingsAt = at + HEADER;
        device.pushErrorScope("validation");
        const trial = device.createCommandEncoder();
        const trialPass = trial.beginComputePass();
        trialPass.setPipeline(step.pipeline);
        const known = ids.every((id) => buffers.has(id));
        if (known) trialPass.setBindGroup(0, bindGroupFor(step, words, bindingsAt).group);
        if (step.uniform) trialPass.setBindGroup(1, uniformGroup, [0]);
        else if (step.words > 0) {
          trialPass.setImmediates(0, words, bindingsAt + step.bindingWords, step.words);
        }
        trialPass.dispatchWorkgroups(words[at + 1], words[at + 2], words[at + 3]);
        trialPass.end();
        trial.finish();
        const error = await device.popErrorScope();
        if (error && known) {
          // What is wrong with a refused pipeline was reported when it was made.
          if (!step.refused) report("validation", step.label, error.message);
          return;
        }
      }
    }
    report("validation", batchOp, batchError.message);
  }

  // ---- host to device ------------------------------------------------------------------------
  // A large array goes through mapped buffers as long as there are any: their memory is shared
  // with the GPU's process and has no pages to be zeroed. They become mapped again only when Python
  // lets go of the thread, so the rest goes through the queue, in pieces sent at once, which the
  // GPU's process takes on while the next one is copied.
  const uploads = new Set(); // all buffers for it
  const mappedUploads = []; // those that are mapped

  // Copies `size` bytes, a multiple of 4, of a Python buffer; the rest of a last word comes as 0.
  function write(id, offset, source, size) {
    const entry = buffers.get(id);
    if (partial.size > 0) sendPartialReads();
    if (isAwaited(id)) compileAwaited(); // the commands recorded before come before the new data
    const bytes = source.getBuffer("u8");
    try {
      const { data } = bytes;
      const whole = Math.min(data.length, size) & ~3;
      let at = whole < UPLOAD_CHUNK ? 0 : writeMapped(entry.buffer, offset, data, whole);
      if (entry.batch === batch) submit();
      for (; at < whole; at += UPLOAD_CHUNK) {
        const count = Math.min(UPLOAD_CHUNK, whole - at);
        queue.writeBuffer(entry.buffer, offset + at, data, at, count);
        if (count < whole - at) queue.submit([]);
      }
      if (whole < size) {
        const tail = new Uint8Array(4);
        tail.set(data.subarray(whole, size));
        queue.writeBuffer(entry.buffer, offset + whole, tail);
      }
    } finally {
      bytes.release();
    }
    counters.uploads += 1;
    if (size >= UPLOAD_CHUNK) growUploads(size);
  }

  // Copies the first bytes, as many as there is mapped memory for; returns how many.
  function writeMapped(target, offset, data, size) {
    if (mappedUploads.length > 0) submit(); // an invalid command before would drop the copy too
    let at = 0;
    while (at < size && mappedUploads.length > 0) {
      const staging = mappedUploads.pop();
      const count = Math.min(UPLOAD_CHUNK, size - at);
      new Uint8Array(staging.getMappedRange(0, count)).set(data.subarray(at, at + count));
      staging.unmap();
      endPass();
      openEncoder().copyBufferToBuffer(staging, 0, target, offset + at, count);
      submit();
      mapUpload(staging);
      at += count;
    }
    return at;
  }

  // Makes some more mapped buffers once the GPU has nothing to do: it takes milliseconds.
  let growth = null;
  function growUploads(size) {
    if (growth !== null || uploads.size * UPLOAD_CHUNK >= Math.min(size, MOST_UPLOAD_BYTES)) return;
    const mine = growth = {};
    const grow = () => {
      if (growth !== mine) return; // trimmed meanwhile
      growth = null;
      if (lost === null) for (let i = 0; i < UPLOADS_GROWN; i++) addUpload();
    };
    queue.onSubmittedWorkDone().then(grow, () => {});
  }

  function addUpload() {
    const usage = GPUBufferUsage.MAP_WRITE | GPUBufferUsage.COPY_SRC;
    device.pushErrorScope("out-of-memory"); // it is only for speed
    const staging = device.createBuffer({ size: UPLOAD_CHUNK, usage, label: "upload" });
    device.popErrorScope().catch(() => {});
    uploads.add(staging);
    mapUpload(staging);
  }

  function mapUpload(staging) {
    staging.mapAsync(GPUMapMode.WRITE).then(
      () => { if (uploads.has(staging)) mappedUploads.push(staging); },
      () => { if (uploads.delete(staging)) staging.destroy(); },
    );
  }

  // ---- device to host ------------------------------------------------------------------------
  // In chunks, so that the GPU's copy, the browser's and the one into Python's memory overlap.
  const idleStaging = []; // mappable buffers waiting for the next read, smallest first
  let idleBytes = 0;
  let reading = 0; // mappable buffers in use
  const partial = new Set(); // reads of which some chunks have not been sent

  function takeStaging(size) {
    reading += 1;
    const found = idleStaging.findIndex((buffer) => buffer.size >= size);
    if (found >= 0) {
      const [buffer] = idleStaging.splice(found, 1);
      idleBytes -= buffer.size;
      return buffer;
    }
    const usage = GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST;
    return scoped("read", () => device.createBuffer({
      size: Math.max(4096, 2 ** Math.ceil(Math.log2(size))), usage, label: "staging",
    }));
  }

  function returnStaging(buffer) {
    reading -= 1;
    if (buffer.mapState === "mapped" && !closed) {
      buffer.unmap();
      idleStaging.push(buffer);
      idleStaging.sort((a, b) => a.size - b.size);
      idleBytes += buffer.size;
      while (idleBytes > MOST_IDLE_BYTES || idleStaging.length > MOST_IDLE) dropStaging();
    } else {
      buffer.destroy();
    }
  }

  function dropStaging() {
    const buffer = idleStaging.pop();
    idleBytes -= buffer.size;
    buffer.destroy();
  }

  // Destroys the idle staging buffers, and those for uploads once they have been used.
  function trimStaging() {
    while (idleStaging.length > 0) dropStaging();
    for (const staging of uploads) staging.destroy();
    uploads.clear();
    growth = null;
    mappedUploads.length = 0;
  }

  function sendChunk(job) {
    const { source, offset, sent } = job;
    const size = Math.min(READ_CHUNK, job.size - sent);
    const staging = takeStaging(size);
    endPass();
    openEncoder().copyBufferToBuffer(source, offset + sent, staging, 0, size);
    submit();
    const mapped = staging.mapAsync(GPUMapMode.READ, 0, size).then(() => null, (error) => error);
    job.chunks.push({ staging, at: sent, size, mapped });
    job.sent += size;
    if (job.sent === job.size) partial.delete(job);
  }

  // What is recorded now must not change what is still to be read.
  function sendPartialReads() {
    for (const job of partial) while (job.sent < job.size) sendChunk(job);
  }

  // Copies a range of a buffer into a Python buffer, unless there are errors to be told. Python asks
  // for these with takeErrors, as after each wait, or gives the wait up with stopWait.
  const reads = new Map(); // ticket -> {sent: bytes, chunks: on their way, …}
  async function read(ticket, id, offset, size, target) {
    if (lost !== null) return;
    beginWait(ticket);
    const source = buffers.get(id).buffer;
    const job = { source, offset, size, sent: 0, chunks: [], stopped: false };
    reads.set(ticket, job);
    await inOrder(id, () => {
      partial.add(job);
      while (job.sent < size && job.chunks.length < READS_AHEAD) sendChunk(job);
    });
    counters.readbacks += 1;
    for (let taken = 0; taken < size && lost === null && !job.stopped;) {
      const { staging, at, size: count, mapped } = job.chunks[0];
      const error = await unlessLost(mapped);
      if (error) {
        await lostSoon();
        if (lost === null) report("validation", "read", String(error));
      }
      if (taken === 0) await settle();
      if (lost !== null || job.stopped || reported > waits.get(ticket)) break;
      job.chunks.shift();
      const bytes = target.getBuffer("u8"); // not kept: memory growth detaches it
      try {
        const fits = Math.min(bytes.data.length - at, count);
        bytes.data.set(new Uint8Array(staging.getMappedRange(0, count), 0, fits), at);
      } finally {
        bytes.release();
        returnStaging(staging);
      }
      taken += count;
      if (job.sent < size) sendChunk(job);
    }
    for (const { staging } of job.chunks) returnStaging(staging);
    partial.delete(job);
    reads.delete(ticket);
  }


  // ---- waiting -------------------------------------------------------------------------------
  function beginWait(ticket) {
    if (!waits.has(ticket)) waits.set(ticket, told);
  }

  // For a wait that is given up. A read leaves its Python buffer alone from now on.
  function stopWait(ticket) {
    waits.delete(ticket);
    forgetErrors();
    const job = reads.get(ticket);
    if (job !== undefined) job.stopped = true;
  }

  // Gives a loss that made a promise reject the turn it needs to be known as a loss.
  function lostSoon() {
    return unlessLost(new Promise((done) => setTimeout(done, 50)));
  }

  async function settle() {
    while (pending.size > 0 && lost === null) {
      await unlessLost(Promise.all(pending));
    }
  }

  async function synchronize(ticket) {
    beginWait(ticket);
    await encoded();
    submit();
    if (lost === null) {
      const until = submitted;
      try {
        await unlessLost(queue.onSubmittedWorkDone());
        finished = Math.max(finished, until);
      } catch {
        await lostSoon();
      }
    }
    await settle();
  }

  // Ends a wait: the errors that it is to be told as JSON, or "" when there are none.
  function takeErrors(ticket) {
    const since = waits.get(ticket) ?? told;
    waits.delete(ticket);
    if (lost !== null) return JSON.stringify([lost]);
    const news = errors.filter(({ number }) => number > since);
    const text = news.length > 0 ? JSON.stringify(news) : "";
    told = reported;
    forgetErrors();
    return text;
  }

  // Keeps the errors that somebody still has to be told.
  function forgetErrors() {
    const since = Math.min(told, ...waits.values());
    errors = errors.filter(({ number }) => number > since);
  }

  // ---- timing: the GPU's time for all passes between startTiming and stopTiming ----------------
  function newQueries(count) {
    return device.createQuerySet({ type: "timestamp", count, label: "times" });
  }

  let timing = null; // {queries, begun}
  function startTiming() {
    sendNow();
    if (lost !== null || !device.features.has("timestamp-query")) return false;
    timing = { queries: newQueries(2), begun: false };
    return true;
  }

  function passTiming() {
    if (timing === null) return undefined;
    const first = timing.begun ? {} : { beginningOfPassWriteIndex: 0 };
    timing.begun = true;
    return { timestampWrites: { querySet: timing.queries, ...first, endOfPassWriteIndex: 1 } };
  }

  // Resolves to nanoseconds, or -1 where nothing was timed.
  async function stopTiming() {
    await encoded();
    endPass();
    const { queries, begun } = timing;
    timing = null;
    if (!begun || lost !== null) {
      submit();
      queries.destroy();
      return -1;
    }
    const [[begin, end] = [0, -1]] = await readQueries({ queries, used: 2 });
    return end - begin;
  }

  // ---- profiling: each dispatch in a pass of its own, timed by itself --------------------------
  const QUERIES = 4096; // the most that WebGPU allows in a set; two a dispatch
  // {timestamps, dispatches: how many so far, sets: [{queries, used, numbers: of the dispatches}],
  //  spans: Map from a dispatch's number to [start, end] in ns, lastEnd: by wall time}
  let profile = null;

  function startProfile(timestamps) {
    sendNow();
    profile = { timestamps, dispatches: 0, sets: [], spans: new Map(), lastEnd: 0 };
  }

  function beginProfiledPass() {
    endPass();
    if (!profile.timestamps) return;
    let set = profile.sets.at(-1);
    if (!set || set.used === QUERIES) {
      set = { queries: newQueries(QUERIES), used: 0, numbers: [] };
      profile.sets.push(set);
    }
    const timestampWrites = {
      querySet: set.queries,
      beginningOfPassWriteIndex: set.used,
      endOfPassWriteIndex: set.used + 1,
    };
    set.used += 2;
    set.numbers.push(profile.dispatches);
    pass = openEncoder().beginComputePass({ timestampWrites });
  }

  // Wall time: each dispatch is submitted alone; it runs from the end of the one before it.
  function timeByWall() {
    const begun = performance.now() * 1e6;
    const span = [begun, begun];
    const mine = profile;
    const number = mine.dispatches;
    mine.spans.set(number, span);
    submit("submit", () => mine.spans.delete(number));
    track(unlessLost(queue.onSubmittedWorkDone()).then(() => {
      span[0] = Math.max(begun, mine.lastEnd);
      span[1] = mine.lastEnd = performance.now() * 1e6;
    }));
  }

  // Resolves to the spans of all dispatches as JSON, null for those that did not run: of a pipeline
  // that was refused, or of a batch that was dropped, which leaves times of 0.
  async function stopProfile(ticket) {
    beginWait(ticket);
    await encoded();
    const { dispatches, sets, spans } = profile;
    profile = null;
    for (const set of sets) {
      (await readQueries(set)).forEach((span, i) => {
        if (span[0] !== 0 || span[1] !== 0) spans.set(set.numbers[i], span);
      });
    }
    await synchronize(ticket);
    return JSON.stringify(Array.from({ length: dispatches }, (_, number) => spans.get(number)));
  }

  async function readQueries({ queries, used }) {
    endPass();
    const { QUERY_RESOLVE, COPY_SRC, COPY_DST, MAP_READ } = GPUBufferUsage;
    const size = 8 * used;
    const resolved = device.createBuffer({ size, usage: QUERY_RESOLVE | COPY_SRC, label: "times" });
    const staging = device.createBuffer({ size, usage: COPY_DST | MAP_READ, label: "times" });
    openEncoder().resolveQuerySet(queries, 0, used, resolved, 0);
    openEncoder().copyBufferToBuffer(resolved, 0, staging, 0, size);
    submit();
    try {
      await unlessLost(staging.mapAsync(GPUMapMode.READ));
    } catch {
      await lostSoon();
    }
    const spans = [];
    if (staging.mapState === "mapped") {
      const times = new BigUint64Array(staging.getMappedRange());
      for (let i = 0; i < used; i += 2) spans.push([Number(times[i]), Number(times[i + 1])]);
    }
    for (const gone of [queries, resolved, staging]) gone.destroy();
    return spans;
  }

  // ---- showing a buffer on a canvas ------------------------------------------------------------
  const painters = new Map(); // texture format -> render pipeline

  function painterFor(format, code) {
    let pipeline = painters.get(format);
    if (!pipeline) {
      const module = device.createShaderModule({ code, label: "draw.wgsl" });
      pipeline = device.createRenderPipeline({
        label: "draw", layout: "auto",
        vertex: { module, entryPoint: "corner" },
        fragment: { module, entryPoint: "paint", targets: [{ format }] },
      });
      painters.set(format, pipeline);
    }
    return pipeline;
  }

  // Another device may have drawn on the canvas since: it then belongs to that one.
  function contextOf(canvas, format) {
    const context = canvas.getContext("webgpu");
    if (context && context.getConfiguration()?.device !== device) {
      context.configure({ device, format, alphaMode: "premultiplied" });
    }
    return context;
  }

  // Returns "" or why the canvas cannot be drawn on.
  function draw(canvas, id, height, width, channels, code) {
    const format = navigator.gpu.getPreferredCanvasFormat();
    const context = contextOf(canvas, format);
    if (context === null) return "it already has a context of another kind (2d or webgl)";
    canvas.width = width;
    canvas.height = height;
    sendNow(); // so that an error of the commands before is not taken for one of drawing
    scoped("draw", () => {
      const pipeline = painterFor(format, code);
      const size = device.createBuffer({
        size: 16, usage: GPUBufferUsage.UNIFORM, mappedAtCreation: true, label: "draw",
      });
      new Uint32Array(size.getMappedRange()).set([height, width, channels, 0]);
      size.unmap();
      const group = device.createBindGroup({
        layout: pipeline.getBindGroupLayout(0),
        label: "draw",
        entries: [
          { binding: 0, resource: { buffer: buffers.get(id).buffer } },
          { binding: 1, resource: { buffer: size } },
        ],
      });
      const view = context.getCurrentTexture().createView();
      const paint = openEncoder().beginRenderPass({
        colorAttachments: [{ view, loadOp: "clear", storeOp: "store" }],
      });
      paint.setPipeline(pipeline);
      paint.setBindGroup(0, group);
      paint.draw(3);
      paint.end();
      submit("draw");
      size.destroy();
    });
    counters.draws += 1;
    return "";
  }

  // A picture appears on its canvas with the next frame, if the device is still there then. A page
  // that is hidden has no frames.
  function afterNextFrame(work) {
    let waits = true;
    const once = () => {
      if (waits) work();
      waits = false;
    };
    setTimeout(once, LONGEST_FRAME);
    globalThis.requestAnimationFrame?.(() => requestAnimationFrame(once));
  }

  // ---- the end -------------------------------------------------------------------------------
  function close() {
    if (lost === null) submit();
    closed = true;
    end({ kind: "closed", op: "device", message: "" });
    for (const entry of buffers.values()) entry.buffer.destroy();
    for (const buffer of asked.values()) buffer.destroy();
    asked.clear();
    trimStaging();
    uniformBuffer?.destroy();
    buffers.clear();
    layouts.clear();
    view.release();
    if (counters.draws > 0) afterNextFrame(() => device.destroy());
    else device.destroy();
  }

  // Commands that the GPU is not known to have done.
  function unfinished() {
    let count = batchDispatches + submitted - finished;
    for (const { words } of waiting) if (words !== undefined) count += [...commands(words)].length;
    return count;
  }

  function statistics() {
    return JSON.stringify({
      ...counters, buffers: buffers.size, bind_groups: liveGroups, pipelines: pipelines.length,
      staging: idleStaging.length + reading + uploads.size, waiting: pending.size,
      errors: errors.length,
    });
  }

  return {
    createBuffer, destroyBuffer, createPipeline, record, submit: send, write, read, stopWait,
    synchronize, takeErrors, draw, close, statistics, startTiming, stopTiming,
    startProfile, stopProfile, createBufferChecked, abandonBuffer, labelBuffer, trimStaging,
    compiled: (id) => unlessLost(pipelines[id - FIRST_PIPELINE].compiling),
    compileMs: () => compileMs,
    unfinished,
  };
})
