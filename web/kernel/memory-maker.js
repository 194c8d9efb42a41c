/** A worker that makes the memory which the next boots begin with, and ends. */
import { keepMemory } from "./python-start.js";

self.onmessage = async ({ data: { lockFile } }) => {
  try {
    await keepMemory(lockFile);
  } catch (error) {
    console.info(`The next boot will not be faster: ${error}`);
  }
  self.close();
};
