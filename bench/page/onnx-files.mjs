// The files and inputs of ONNX rows.

import { make } from "./data.mjs";

const fetched = async (path) => new Uint8Array(await (await fetch(path)).arrayBuffer());
const words = { i32: Int32Array, i64: BigInt64Array };

// An input as a typed array.
export const array = (input) => (input.base64
  ? new words[input.dtype](Uint8Array.fromBase64(input.base64).buffer) : make(input));

// The bytes of a row's file, and of the weights beside it by name.
export async function bytes(row, title) {
  const weights = Object.entries(row.weights).map(([name, input]) =>
    [name, new Uint8Array(make(input).buffer)]);
  return { model: await fetched(row.files[title]), weights: Object.fromEntries(weights) };
}
