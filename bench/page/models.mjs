// Forward passes of whole models (suite/whole.py) in the library of the address:
// ?library=ort&only=gpt2. training.mjs measures those of browsergpu, built from its own modules.

import { main, measureOne, query } from "./common.mjs";

const library = query.get("library") ?? "";
await main(library, async () => {
  const models = (await (await fetch("whole.json")).json()).filter(({ id }) =>
    (query.get("only") ?? "").split("|").some((part) => id.includes(part)));
  const { prepare, ways, end } = await (await import(`./models-${library}.mjs`)).work();
  for (const model of models) {
    const row = { ...model, options: { ...model.options, single: false } };
    for (const way of ways(row)) await measureOne(row, way, prepare);
  }
  await end();
});
