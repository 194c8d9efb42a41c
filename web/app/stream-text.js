/** Printed text as a terminal would show it, without colours. */

// eslint-disable-next-line no-control-regex -- escape sequences are made of control characters
const ESCAPES = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007]*\u0007|[@-_])/g;

/** Whether `text` must go through terminalText. */
export function isForTerminals(text) {
  return text.includes("\u001b") || text.includes("\r");
}

/** `text` with escape sequences taken out and carriage returns carried out (progress bars). */
export function terminalText(text) {
  const plain = text.replace(ESCAPES, "").replace(/\r+\n/g, "\n");
  if (!plain.includes("\r")) return plain;
  return plain.split("\n").map(overwrite).join("\n");
}

function overwrite(line) {
  return line.split("\r").reduce((shown, part) => part + shown.slice(part.length), "");
}
