// Shared by all pages: the rows, the posted lines, the timing rule and the check of results.
//
// A page's query selects its work: `only` (rows whose names contain one of|these parts), `first`
// (only the first result of this row), `library` (the rows of arrays with this library), and the
// numbers of the timing rule.

import { make } from "./data.mjs";

export const query = new URLSearchParams(location.search);
const number = (name, usual) => Number(query.get(name) ?? usual);

// The timing rule: after 3 warm-up calls, the GPU works for `warmMs`. Each repeat then issues the
// operation k times, so that it takes at least `leastMs`, without reading results, and waits once
// for the queue.
export const rule = {
  leastMs: number("ms", 20),
  warmMs: number("warm", 300),
  repeats: number("repeats", 10),
  patience: number("patience", 1), // factor on the rows' budgets
  mostIssues: 4000,
};

/** @type {Promise<unknown>} */
let tail = Promise.resolve();
let peer = "?";

// Sends one line. Lines arrive in order. Callers do not wait, since an idle GPU lowers its clock.
export function post(line) {
  const body = JSON.stringify({ peer, ...line });
  tail = tail.then(() => fetch("/log", { method: "POST", body })).catch(() => {});
  return tail;
}

export function fail(row, error) {
  return post({ row, error: String(error?.message ?? error).slice(0, 600) });
}

// Console errors and warnings are recorded, since some libraries only log an error.
for (const level of ["error", "warn"]) {
  const usual = console[level].bind(console);
  let told = 0;
  console[level] = (...words) => {
    usual(...words);
    if (told++ < 10) post({ console: level, text: words.map(String).join(" ").slice(0, 400) });
  };
}
self.addEventListener("error", (event) => fail(null, event.error ?? event.message));
self.addEventListener("unhandledrejection", (event) => fail(null, event.reason));

const found = (await (await fetch("rows.json")).json()).filter(({ id }) =>
  (query.get("only") ?? "").split("|").some((part) => id.includes(part)));
const first = query.get("first");
export const rows = first === null
  ? found.filter((row) => !row.first && row.array === query.has("library"))
  : found.filter((row) => row.id === first);

// The rows and the rule, for Python.
export const workload = JSON.stringify({ rows, rule, first: first !== null });

const median = (values) => {
  const sorted = [...values].sort((a, b) => a - b);
  const half = sorted.length >> 1;
  return sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
};

// Measures issue() by the rule. wait() submits pending work and waits for the queue.
export async function time({ issue, wait }, budget, single = false) {
  const once = async (k) => {
    const start = performance.now();
    for (let i = 0; i < k; i++) {
      const answer = issue();
      if (answer?.then) await answer;
    }
    await wait();
    return performance.now() - start;
  };
  const warm = [await once(1), await once(1), await once(1)];
  let k = 1;
  let took = await once(1);
  const started = performance.now();
  while (!single && took < rule.leastMs && k < rule.mostIssues) {
    const wanted = Math.ceil((k * rule.leastMs * 1.15) / Math.max(took, 0.05));
    k = Math.min(rule.mostIssues, 10 * k, Math.max(k + 1, wanted));
    took = await once(k);
  }
  while (performance.now() - started < rule.warmMs) await once(k);
  const times = [];
  const end = performance.now() + 1000 * budget * rule.patience;
  while (times.length < rule.repeats && (times.length < 3 || performance.now() < end)) {
    times.push((await once(k)) / k);
  }
  return { ms: median(times), best_ms: Math.min(...times), k, repeats: times.length, warm_ms: warm };
}

// Attention for libraries with the layout [length, heads, width]: converts arrays and indices.
export function headsInside({ heads, length, width }) {
  const place = (index) => {
    const head = Math.floor(index / (width * length));
    const row = Math.floor(index / width) % length;
    return (row * heads + head) * width + (index % width);
  };
  const permute = (array) => {
    const result = new array.constructor(array.length);
    for (let head = 0; head < heads; head++) {
      for (let row = 0; row < length; row++) {
        const at = (head * length + row) * width;
        result.set(array.subarray(at, at + width), (row * heads + head) * width);
      }
    }
    return result;
  };
  return { place, permute };
}

// Compares a result's entries with the row's reference values.
export function check(row, got) {
  const { at, values, tolerance } = row.check;
  if (got.length !== at.length) throw new Error(`${got.length} of ${at.length} entries`);
  let error = 0;
  got.forEach((value, i) => {
    const off = Math.abs(value - values[i]);
    error = Number.isNaN(off) ? Infinity : Math.max(error, off);
  });
  return { ok: error <= tolerance, error: Number.isFinite(error) ? error : String(error), tolerance };
}

// The row's entries of a GPUBuffer, without reading the whole buffer. `place` converts an index if
// the library has another layout.
export async function readEntries(device, buffer, row, place = (index) => index) {
  const at = row.check.at.map(place);
  const width = row.dtype === "f16" ? 2 : 4;
  const usage = GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST;
  const staging = device.createBuffer({ size: 4 * at.length, usage });
  const encoder = device.createCommandEncoder();
  at.forEach((index, i) => encoder.copyBufferToBuffer(buffer, (index * width) & ~3, staging, 4 * i, 4));
  device.queue.submit([encoder.finish()]);
  await staging.mapAsync(GPUMapMode.READ);
  const bytes = staging.getMappedRange().slice(0);
  staging.destroy();
  const elements = width === 2 ? new Float16Array(bytes) : new Float32Array(bytes);
  return at.map((index, i) => elements[width === 2 ? 2 * i + (index & 1) : i]);
}

// An input in a new GPUBuffer. Copies of it are made on the GPU.
export function upload(device, { repeat }, array) {
  const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;
  const create = (bytes) => device.createBuffer({ size: (bytes + 15) & ~15, usage });
  const once = create(array.byteLength);
  const piece = 2 ** 26 / array.BYTES_PER_ELEMENT;
  for (let i = 0; i < array.length; i += piece) {
    const count = Math.min(piece, array.length - i);
    device.queue.writeBuffer(once, i * array.BYTES_PER_ELEMENT, array, i, count);
  }
  if (repeat === 1) return once;
  const whole = create(array.byteLength * repeat);
  const encoder = device.createCommandEncoder();
  for (let i = 0; i < repeat; i++) {
    encoder.copyBufferToBuffer(once, 0, whole, i * array.byteLength, array.byteLength);
  }
  device.queue.submit([encoder.finish()]);
  once.destroy();
  return whole;
}

// Counts the dispatches of an operation, for its line.
let dispatched = 0;
for (const name of ["dispatchWorkgroups", "dispatchWorkgroupsIndirect"]) {
  const usual = GPUComputePassEncoder.prototype[name];
  GPUComputePassEncoder.prototype[name] = function (...a) {
    dispatched += 1;
    return usual.apply(this, a);
  };
}
export const devices = [];
{
  const usual = GPUAdapter.prototype.requestDevice;
  GPUAdapter.prototype.requestDevice = async function (descriptor) {
    const device = await usual.call(this, descriptor);
    devices.push(device);
    let told = 0;
    device.addEventListener("uncapturederror", ({ error }) => {
      if (told++ < 10) post({ uncaptured: error.message.slice(0, 400) });
    });
    const { vendor, architecture, device: model, description } = this.info;
    post({
      adapter: { vendor, architecture, device: model, description },
      features: [...device.features],
      max_binding: device.limits.maxStorageBufferBindingSize,
    });
    return device;
  };
}

// Measures the rows. prepare(row, way) returns {issue, wait, read, free}, or {skip: why}. read()
// returns the row's entries of a result. A library may have several ways to compute a row.
/** @param {(row: any) => unknown[]} ways */
export async function measure(prepare, ways = () => [null]) {
  for (const row of rows) {
    if (row.ours_only) continue;
    for (const way of ways(row)) await measureOne(row, way, prepare);
  }
}

export async function measureOne(row, way, prepare) {
  const line = { row: row.id, ...(way && { way }) };
  let work;
  try {
    work = await prepare(row, way);
    if (work.skip) {
      post({ ...line, skip: work.skip });
      return;
    }
    if (work.note) line.note = work.note;
    Object.assign(line, await time(work, row.budget, row.options.single));
    const before = dispatched;
    for (let i = 0; i < 3; i++) await work.issue();
    await work.wait();
    line.dispatches = (dispatched - before) / 3;
    line.check = check(row, await work.read());
    post(line);
  } catch (error) {
    post({ ...line, error: String(error?.message ?? error).slice(0, 600) });
  }
  try {
    await work?.free?.();
  } catch (error) {
    fail(null, error);
  }
}

// Measures the first result of run(row, arrays by name), from arrays on the host to the whole
// result on the host, on a device without earlier work.
export async function measureFirst(run) {
  for (const row of rows) {
    const arrays = Object.entries(row.inputs).map(([key, input]) => [key, make(input)]);
    try {
      const start = performance.now();
      const result = await run(row, Object.fromEntries(arrays));
      const ms = performance.now() - start;
      post({ row: row.id, ms, check: check(row, row.check.at.map((i) => result[i])) });
    } catch (error) {
      fail(row.id, error);
    }
  }
}

// Runs a page: posts its description, works, and tells the driver that it is done.
export async function main(name, work) {
  peer = name;
  try {
    await work();
  } catch (error) {
    fail(null, error);
  }
  await tail;
  await fetch("/done", { method: "POST", body: "" });
}
