/** A worker that creates the memory snapshot for the next boots, and exits. */
import { keepMemory } from "./python-start.js";

self.onmessage = async ({ data: { lockFile } }) => {
  try {
    await keepMemory(lockFile);
  } catch (error) {
    console.info(`The next boot will not be faster: ${error}`);
  }
  self.postMessage("finished");
  self.close();
};
self.postMessage("ready");
