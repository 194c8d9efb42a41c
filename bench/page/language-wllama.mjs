// A GGUF file beside this page in wllama, which is llama.cpp in WebAssembly:
// language-wllama.html?file=model.gguf, or with &backend=cpu&threads=8. Without `backend`, all layers
// must be on WebGPU, which ggml opens only on devices with shader-f16.
//
// The prompt consists of digits. wllama takes text only, and a digit is one token in the vocabularies
// of bench/random_gguf.py, SmolLM2 and Qwen. Numbers of tokens are checked. Each call of llama.cpp
// makes one token, and its logits are read.

import { main, post, query } from "./common.mjs";
import { Wllama } from "./wllama/index.min.js";

const number = (name, usual) => Number(query.get(name) ?? usual);
const median = (times) => [...times].sort((a, b) => a - b)[times.length >> 1];

// Where llama.cpp has put the layers, from its log. Throws for another backend than the wanted one.
function placement(log, wanted, threads) {
  const [, layers, all] = log.match(/offloaded (\d+)\/(\d+) layers to GPU/) ?? [];
  const [, device] = log.match(/using device (WebGPU.*)/) ?? [];
  const [, size] = log.match(/WebGPU\d* model buffer size = *([\d.]+) MiB/) ?? [];
  const splits = Number(log.match(/graph.*splits = (\d+)/)?.[1]);
  const isWebGPU = Number(layers) > 0 || device !== undefined || size !== undefined;
  if (wanted === "cpu") {
    if (isWebGPU) throw new Error(`${layers} layers are on ${device}`);
    return { backend: "CPU", threads, splits };
  }
  if (!device || !size || !(Number(layers) > 0) || layers !== all) {
    const told = log.split("\n").filter((line) => /webgpu|offload|model buffer/i.test(line)).join("; ");
    throw new Error(`not all layers are on WebGPU: ${told}`);
  }
  return { backend: "WebGPU", device, layers: `${layers}/${all}`, mib: Number(size), threads, splits };
}

await main("wllama", async () => {
  const file = query.get("file") ?? "model.gguf";
  const backend = query.get("backend") ?? "webgpu";
  if (!["webgpu", "cpu"].includes(backend)) throw new Error(`backend=${backend}: webgpu or cpu`);
  const length = number("prompt", 512), count = number("tokens", 128), repeats = number("repeats", 24);
  const lines = [];
  const log = (...words) => lines.push(words.map(String).join(" "));
  const wasm = { default: new URL("wllama/wllama.wasm", location.href).href };
  const llm = new Wllama(wasm, { logger: { debug: log, log, warn: log, error: log } });
  llm.setCompat(null); // else browsers without JSPI fetch another build from a CDN

  const response = await fetch(file);
  if (!response.ok) throw new Error(`${file}: ${response.status}`);
  const blob = await response.blob();
  const begin = performance.now();
  await llm.loadModel([blob], {
    n_ctx: length + count + 16,
    n_parallel: 1,
    ...(backend === "cpu" && { n_gpu_layers: 0 }),
    ...(query.has("threads") && { n_threads: number("threads", 1) }),
  });
  const loaded = performance.now() - begin;
  const facts = placement(lines.join("\n"), backend, llm.getNumThreads());
  const name = `${file.replace(/\.gguf$/, "")}${backend === "cpu" ? " (CPU)" : ""}`;

  const digits = length - (llm.mustAddBosToken() ? 1 : 0);
  const prompt = "0123456789".repeat(Math.ceil(length / 10)).slice(0, digits);
  // Takes `tokens` tokens after the prompt. With `kept`, only the prompt's last token is computed.
  async function complete(tokens, kept) {
    const start = performance.now();
    const found = await llm.createCompletion({
      prompt, max_tokens: tokens, cache_prompt: kept, ignore_eos: true,
      temperature: 0, top_k: 1, samplers: ["top_k"],
    });
    const ms = performance.now() - start;
    const { prompt_n, cache_n, predicted_n } = found.timings;
    const wanted = kept ? [1, length - 1, tokens] : [length, 0, tokens];
    if (String([prompt_n, cache_n, predicted_n]) !== String(wanted)) {
      throw new Error(`computed, kept and new tokens: ${[prompt_n, cache_n, predicted_n]}, not ${wanted}`);
    }
    return { ms, timings: found.timings, text: found.choices[0].text };
  }

  const prompts = [];
  for (let n = 0; n < repeats; n++) prompts.push(await complete(1, false));
  const last = prompts.slice(prompts.length >> 1);
  post({
    row: `prompt: ${name}`, tokens: length,
    per_second: length * 1000 / median(last.map(({ ms }) => ms)),
    told_per_second: median(last.map(({ timings }) => timings.prompt_per_second)),
    first_ms: prompts[0].ms, loaded_ms: loaded, ...facts, version: Wllama.getLibllamaVersion(),
  });
  await complete(count, true); // kernels for longer contexts are compiled
  const { ms, timings, text } = await complete(count, true);
  post({
    row: `decode: ${name}`, tokens: timings.predicted_n, after: length, per_second: count * 1000 / ms,
    told_per_second: timings.predicted_per_second, text: text.slice(0, 200), ...facts,
  });
  await llm.exit();
});
