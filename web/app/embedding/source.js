/** The source of a <browsergpu-cell>: its text, or a file. */
import { readText } from "../sharing/bounded-text.js";

/** Return the text without empty lines around it and without the indentation of all lines. */
function trimmed(text) {
  const lines = text.replaceAll("\t", "    ").split("\n").map((line) => line.trimEnd());
  while (lines.length > 0 && lines[0] === "") lines.shift();
  while (lines.at(-1) === "") lines.pop();
  const indents = lines.filter(Boolean).map((line) => line.length - line.trimStart().length);
  const indent = Math.min(...indents);
  return lines.map((line) => line.slice(indent)).join("\n");
}

/** Return the source in the text of an element. A `pre` in it has no other text around it. */
export function writtenSource(element) {
  return trimmed((element.querySelector("pre") ?? element).textContent ?? "");
}

/** Return the source of an element whose `src` may name a file, relative to the page. */
export async function sourceOf(element, src) {
  const written = writtenSource(element);
  if (src === null) return written;
  if (written) throw new Error("source must be text or src, got both. Remove one of them.");
  const answer = await fetch(new URL(src, document.baseURI)).catch((cause) => {
    throw new Error(`src must be an address that this page can read, got ${src}. ${cause.message}.`);
  });
  if (!answer.ok || !answer.body) {
    throw new Error(`src must be the address of a file, got ${src}: HTTP ${answer.status}. Correct it.`);
  }
  return readText(answer.body);
}
