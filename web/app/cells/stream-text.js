/** Printed text as in a terminal: colours and overwritten lines. */
import { element } from "../base/dom.js";
import { classesOf, PLAIN, restyled } from "./terminal-styles.js";

// eslint-disable-next-line no-control-regex -- escape sequences are made of control characters
const ESCAPES = /\u001b(?:\[([\d;:]*)m|\[[0-?]*[ -/]*[@-~]|\][^\u0007]*\u0007|[@-_])/g;

/** @typedef {{text: string, classes: string}} Run text of one style */

/** Whether `text` has control characters for terminals. */
export function isForTerminals(text) {
  return text.includes("\u001b") || text.includes("\r");
}

/**
 * Return nodes for `text`: one text node, unless it is for terminals. Escape sequences that set no
 * style are removed.
 */
export function terminalNodes(text) {
  if (!isForTerminals(text)) return [document.createTextNode(text)];
  return joined(overwritten(runsOf(text.replace(/\r+\n/g, "\n"))))
    .map(({ text: part, classes }) => (
      classes ? element("span", { className: classes }, part) : document.createTextNode(part)));
}

/** @returns {Run[]} */
function runsOf(text) {
  /** @type {Run[]} */
  const runs = [];
  let style = PLAIN;
  let end = 0;
  const add = (to) => {
    if (to > end) runs.push({ text: text.slice(end, to), classes: classesOf(style) });
  };
  for (const match of text.matchAll(ESCAPES)) {
    add(match.index);
    end = match.index + match[0].length;
    if (match[1] !== undefined) style = restyled(style, match[1]);
  }
  add(text.length);
  return runs;
}

/**
 * Apply carriage returns (progress bars): the text after one overwrites the line.
 * @param {Run[]} runs
 */
function overwritten(runs) {
  /** @type {Run[]} */
  const done = [];
  /** @type {Run[]} */
  let line = [];
  let column = 0;
  for (const { text, classes } of runs) {
    for (const part of text.match(/\r|\n|[^\r\n]+/g) ?? []) {
      if (part === "\r") column = 0;
      else if (part === "\n") {
        done.push(...line, { text: part, classes: "" });
        line = [];
        column = 0;
      } else {
        const end = column + part.length;
        line = [...between(line, 0, column), { text: part, classes }, ...between(line, end)];
        column = end;
      }
    }
  }
  return done.concat(line);
}

/** Return the part of a line between two columns. */
function between(line, from, to = Infinity) {
  let start = 0;
  return line.flatMap(({ text, classes }) => {
    const part = text.slice(Math.max(0, from - start), Math.max(0, to - start));
    start += text.length;
    return part ? [{ text: part, classes }] : [];
  });
}

/** Merge neighbours of the same style. */
function joined(runs) {
  /** @type {Run[]} */
  const all = [];
  for (const { text, classes } of runs) {
    const last = all.at(-1);
    if (last && last.classes === classes) last.text += text;
    else all.push({ text, classes });
  }
  return all;
}
