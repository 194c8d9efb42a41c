// The device without a library: multiply-adds, copies, the cost of dispatches and of reading.

import { main, post, query, time } from "./common.mjs";

const small = JSON.parse(await (await fetch("site.json")).text()).sizes === "small";
const MATRICES = "chromium-experimental-subgroup-matrix";
/** @type {any[]} TypeScript's library does not have it yet */
const WANTED = ["shader-f16", "subgroups", "timestamp-query", MATRICES];
const LIMITS = ["maxBufferSize", "maxStorageBufferBindingSize"];
const STORAGE = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;

await main("device", async () => {
  const adapter = await navigator.gpu.requestAdapter({ powerPreference: "high-performance" });
  if (adapter === null) throw new Error("no adapter");
  const device = await adapter.requestDevice({
    requiredFeatures: WANTED.filter((feature) => adapter.features.has(feature)),
    requiredLimits: Object.fromEntries(LIMITS.map((name) => [name, adapter.limits[name]])),
  });
  const wait = () => device.queue.onSubmittedWorkDone();
  const buffer = (size) => device.createBuffer({ size, usage: STORAGE });
  const pipeline = (code) => {
    const module = device.createShaderModule({ code });
    return device.createComputePipelineAsync({ layout: "auto", compute: { module } });
  };
  const group = (of, ...buffers) => device.createBindGroup({
    layout: of.getBindGroupLayout(0),
    entries: buffers.map((each, binding) => ({ binding, resource: { buffer: each } })),
  });
  const dispatch = (of, bound, [x, y = 1], times = 1) => {
    const encoder = device.createCommandEncoder();
    const pass = encoder.beginComputePass();
    pass.setPipeline(of);
    if (bound) pass.setBindGroup(0, bound);
    for (let i = 0; i < times; i++) pass.dispatchWorkgroups(x, y);
    pass.end();
    device.queue.submit([encoder.finish()]);
  };
  const measure = async (name, issue, work, budget = 0.5) => {
    if (!`limit: ${name}`.includes(query.get("limit") ?? "")) return;
    try {
      post({ row: `limit: ${name}`, ...work, ...(await time({ issue, wait }, budget)) });
    } catch (error) {
      post({ row: `limit: ${name}`, error: String(error?.message ?? error) });
    }
  };

  // Independent chains of x = fma(x, b, c), without memory access in the loop.
  const multiplyAdds = async (type, lanes, chains) => {
    const half = type.includes("f16");
    if (half && !device.features.has("shader-f16")) return;
    const [rounds, workgroups] = small ? [16, 16] : [512, 16_896];
    const names = Array.from({ length: chains }, (_, i) => `a${i}`);
    const scalar = half ? "f16" : "f32";
    const sum = lanes === 1 ? "r" : lanes === 2 ? "r.x + r.y" : "r.x + r.y + r.z + r.w";
    const of = await pipeline(`${half ? "enable f16;" : ""}
      struct Numbers { b: f32, c: f32, rounds: u32 }
      @group(0) @binding(0) var<storage, read_write> result: array<f32>;
      @group(0) @binding(1) var<uniform> numbers: Numbers;
      @compute @workgroup_size(256) fn main(@builtin(global_invocation_id) id: vec3u) {
        let b = ${type}(${scalar}(numbers.b));
        let c = ${type}(${scalar}(numbers.c));
        let start = ${scalar}(f32(id.x & 255u) * 0.001);
        ${names.map((a, i) => `var ${a} = ${type}(start + ${scalar}(${i / 100}));`).join("\n")}
        for (var i = 0u; i < numbers.rounds; i++) {
          ${names.map((a) => `${a} = fma(${a}, b, c);`).join("\n").repeat(4)}
        }
        let r = ${names.join(" + ")};
        result[id.x] = f32(${sum});
      }`);
    const out = buffer(4 * 256 * workgroups);
    const usage = GPUBufferUsage.UNIFORM | GPUBufferUsage.COPY_DST;
    const numbers = device.createBuffer({ size: 16, usage });
    device.queue.writeBuffer(numbers, 0, new Float32Array([0.75, 0.125]));
    device.queue.writeBuffer(numbers, 8, new Uint32Array([rounds]));
    const bound = group(of, out, numbers);
    const flops = 2 * 256 * workgroups * rounds * 4 * chains * lanes;
    await measure(`multiply-adds, ${type} × ${chains}`, () => dispatch(of, bound, [workgroups]),
      { flops });
    out.destroy();
  };
  for (const [type, lanes, chains] of [["f32", 1, 32], ["vec4f", 4, 8], ["vec2<f16>", 2, 16],
    ["vec4<f16>", 4, 8]]) {
    await multiplyAdds(type, lanes, chains);
  }

  // Products of 16 × 16 matrices by a subgroup, which use the GPU's tensor cores.
  const matrixProducts = async () => {
    const shapes = [...(adapter.info.subgroupMatrixConfigs ?? [])];
    const known = shapes.some((each) => each.M === 16 && each.N === 16 && each.K === 16
      && each.componentType === "f16" && each.resultComponentType === "f32");
    if (!known || !WANTED.every((feature) => device.features.has(feature))) return;
    const [rounds, workgroups] = small ? [16, 16] : [512, 8448];
    const [lefts, rights] = [[0, 1], [0, 1, 2, 3]];
    const sums = lefts.flatMap((i) => rights.map((j) => [i, j, `c${i}${j}`]));
    const load = (side, name, slot) => `let ${name} = subgroupMatrixLoad<
      subgroup_matrix_${side}<f16, 16, 16>, row_major>(&operands, ${256 * slot}u, 16u);`;
    const of = await pipeline(`
      enable f16; enable subgroups; enable ${MATRICES.replaceAll("-", "_")};
      diagnostic(off, chromium.subgroup_matrix_uniformity);
      @group(0) @binding(0) var<storage, read> operands: array<f16>;
      @group(0) @binding(1) var<storage, read_write> result: array<f32>;
      @compute @workgroup_size(128) fn main(@builtin(workgroup_id) id: vec3u) {
        ${lefts.map((i) => load("left", `a${i}`, i)).join("\n")}
        ${rights.map((j) => load("right", `b${j}`, j + 2)).join("\n")}
        ${sums.map(([, , c]) => `var ${c} = subgroup_matrix_result<f32, 16, 16>();`).join("\n")}
        for (var round = 0u; round < ${rounds}u; round++) {
          ${sums.map(([i, j, c]) =>
            `${c} = subgroupMatrixMultiplyAccumulate(a${i}, b${j}, ${c});`).join("\n")}
        }
        ${sums.map(([, , c], slot) => `subgroupMatrixStore<row_major>(
          &result, (id.x % 64u) * 2048u + ${256 * slot}u, ${c}, 16u);`).join("\n")}
      }`);
    const operands = buffer(6 * 512);
    device.queue.writeBuffer(operands, 0, new Uint16Array(6 * 256).fill(0x2e66)); // 0.1
    const bound = group(of, operands, buffer(64 * 2048 * 4));
    const flops = 4 * workgroups * rounds * sums.length * 2 * 16 ** 3; // of subgroups of 32
    await measure("multiply-adds, f16 subgroup matrices", () => dispatch(of, bound, [workgroups]),
      { flops });
  };
  await matrixProducts().catch((error) => post({ row: "limit: subgroup matrices", error: error.message }));

  // Copies of vec4f, counting bytes read and written, then reads alone.
  for (const mib of small ? [1] : [64, 512]) {
    const bytes = mib * 2 ** 20;
    const [source, target] = [buffer(bytes), buffer(bytes)];
    const head = `
      @group(0) @binding(0) var<storage, read> source: array<vec4f>;
      @group(0) @binding(1) var<storage, read_write> result: array<vec4f>;
      @compute @workgroup_size(256) fn main(
        @builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) count: vec3u,
        @builtin(local_invocation_index) lane: u32) {`;
    /** @returns {[x: number, y: number]} */
    const grid = (each) => {
      const workgroups = bytes / 16 / 256 / each;
      const x = Math.min(workgroups, 32_768);
      return [x, workgroups / x];
    };
    for (const each of [1, 4]) {
      const lines = [...Array(each).keys()];
      const of = await pipeline(`${head}
        let i = (id.y * count.x + id.x) * ${256 * each}u + lane;
        ${lines.map((j) => `let v${j} = source[i + ${256 * j}u];`).join("\n")}
        ${lines.map((j) => `result[i + ${256 * j}u] = v${j};`).join("\n")} }`);
      const bound = group(of, source, target);
      await measure(`copy, ${each} × vec4f a thread, ${mib} MiB`,
        () => dispatch(of, bound, grid(each)), { nbytes: 2 * bytes });
    }
    await measure(`copyBufferToBuffer, ${mib} MiB`, () => {
      const encoder = device.createCommandEncoder();
      encoder.copyBufferToBuffer(source, 0, target, 0, bytes);
      device.queue.submit([encoder.finish()]);
    }, { nbytes: 2 * bytes });
    const of = await pipeline(`${head}
      let i = (id.y * count.x + id.x) * 2048u + lane;
      var sum = vec4f(0);
      for (var j = 0u; j < 8u; j++) { sum += source[i + j * 256u]; }
      if (sum.x == -1.25) { result[i] = sum; } }`);
    const bound = group(of, source, target);
    await measure(`read, ${mib} MiB`, () => dispatch(of, bound, grid(8)), { nbytes: bytes });
    source.destroy();
    target.destroy();
  }

  // The cost of a dispatch: a thousand empty, dependent or newly bound ones.
  const target = buffer(256);
  const nothing = await pipeline("@compute @workgroup_size(1) fn main() {}");
  const count = await pipeline(`@group(0) @binding(0) var<storage, read_write> result: array<u32>;
    @compute @workgroup_size(1) fn main() { result[0] += 1u; }`);
  const bound = group(count, target);
  const many = small ? 50 : 1000;
  const each = { divided_by: many };
  await measure("empty dispatch", () => dispatch(nothing, null, [1], many), each);
  await measure("dispatch after dispatch", () => dispatch(count, bound, [1], many), each);
  await measure("dispatch with a new bind group", () => {
    const encoder = device.createCommandEncoder();
    const pass = encoder.beginComputePass();
    pass.setPipeline(count);
    for (let i = 0; i < many; i++) {
      pass.setBindGroup(0, group(count, target));
      pass.dispatchWorkgroups(1);
    }
    pass.end();
    device.queue.submit([encoder.finish()]);
  }, each);
  await measure("submit", () => {
    for (let i = 0; i < many / 10; i++) dispatch(count, bound, [1]);
  }, { divided_by: many / 10 });
  const usage = GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST;
  const staging = device.createBuffer({ size: 4, usage });
  await measure("read 4 bytes back", async () => {
    const encoder = device.createCommandEncoder();
    encoder.copyBufferToBuffer(target, 0, staging, 0, 4);
    device.queue.submit([encoder.finish()]);
    await staging.mapAsync(GPUMapMode.READ);
    staging.unmap();
  }, {}, 0.3);
});
