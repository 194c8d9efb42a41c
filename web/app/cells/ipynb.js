/** Reads and writes notebooks in Jupyter's format, nbformat 4. */
import { formatOrdered, parseOrdered, withoutMarks } from "./ordered-json.js";

export class NotebookFormatError extends Error {}

const CELL_TYPES = ["code", "markdown", "raw"];
const CELL_KEYS = [
  "cell_type", "id", "metadata", "source", "attachments", "execution_count", "outputs",
];
const OUTPUT_TYPES = ["stream", "display_data", "execute_result", "error"];
const STREAMS = ["stdout", "stderr"];

/** Multi-line strings may be lists of lines. */
function text(value, where) {
  if (typeof value === "string") return value;
  if (Array.isArray(value) && value.every((line) => typeof line === "string")) {
    return value.join("");
  }
  throw new NotebookFormatError(`${where} is neither text nor a list of lines`);
}

function lines(value) {
  return value.match(/[^\n]*\n|[^\n]+/g) ?? [];
}

/** Return a new cell identifier as nbformat 4.5 requires. */
export function newCellId() {
  return crypto.randomUUID().slice(0, 8);
}

/** Parse the notebook in `source`. Throws a NotebookFormatError that describes the problem. */
export function parseNotebook(source) {
  let file;
  try {
    file = parseOrdered(source);
  } catch (error) {
    throw new NotebookFormatError(`it is not JSON (${error.message})`);
  }
  if (file === null || typeof file !== "object" || !("nbformat" in file)) {
    throw new NotebookFormatError("it is JSON, but not a notebook: “nbformat” is missing");
  }
  if (file.nbformat !== 4) {
    throw new NotebookFormatError(
      `it has nbformat ${file.nbformat}, and this page reads nbformat 4; convert it with `
      + "“jupyter nbconvert --to notebook”",
    );
  }
  if (!Array.isArray(file.cells)) throw new NotebookFormatError("it has no list of cells");
  const shape = shapeOf(file, ["cells", "metadata"]);
  return { metadata: file.metadata ?? {}, cells: file.cells.map(parseCell), shape };
}

/**
 * Return a file's object without parts stored elsewhere: the order of its keys, and unknown ones.
 */
function shapeOf(object, kept) {
  const entries = Object.entries(object);
  return Object.fromEntries(entries.map(([key, value]) => [
    key, kept.includes(key) ? undefined : value,
  ]));
}

function parseCell(cell, index) {
  const where = `cell ${index + 1}`;
  if (!CELL_TYPES.includes(cell?.cell_type)) {
    throw new NotebookFormatError(`${where} has the unknown type “${cell?.cell_type}”`);
  }
  const parsed = {
    shape: shapeOf(cell, CELL_KEYS),
    id: typeof cell.id === "string" ? cell.id : newCellId(),
    type: cell.cell_type,
    source: text(cell.source ?? "", `the source of ${where}`),
    metadata: cell.metadata ?? {},
  };
  if (cell.attachments) parsed.attachments = withoutMarks(cell.attachments);
  if (cell.cell_type === "code") {
    parsed.executionCount = Number.isInteger(cell.execution_count) ? cell.execution_count : null;
    parsed.outputs = (cell.outputs ?? []).map((output) => parseOutput(output, where));
  }
  return parsed;
}

function parseOutput(output, where) {
  const type = output?.output_type;
  if (!OUTPUT_TYPES.includes(type)) {
    throw new NotebookFormatError(`${where} has an output of the unknown type “${type}”`);
  }
  if (type === "stream") {
    if (!STREAMS.includes(output.name)) {
      throw new NotebookFormatError(
        `${where} has an output to the unknown stream “${output.name}”`,
      );
    }
    return { ...output, text: text(output.text ?? "", `an output of ${where}`) };
  }
  if (type === "error") {
    const { traceback = [] } = output;
    if (!Array.isArray(traceback) || !traceback.every((line) => typeof line === "string")) {
      throw new NotebookFormatError(`${where} has an error whose traceback is not a list of lines`);
    }
    return { ...output, traceback };
  }
  const data = {};
  for (const [mime, value] of Object.entries(output.data ?? {})) {
    data[mime] = isJson(mime) ? value : text(value, `an output of ${where}`);
  }
  return { ...output, data, metadata: output.metadata ?? {} };
}

const isJson = (mime) => mime === "application/json" || mime.endsWith("+json");
const isText = (mime) => mime.startsWith("text/") || mime === "image/svg+xml";

const OURS = {
  kernelspec: { display_name: "Python (browsergpu)", language: "python", name: "python3" },
  language_info: { name: "python", file_extension: ".py", mimetype: "text/x-python" },
};

/**
 * Return the text of the .ipynb file for a notebook from `parseNotebook`.
 * @param {{metadata: any, cells: any[], shape?: any}} notebook
 */
export function formatNotebook({ metadata, cells, shape = {} }) {
  const added = Object.entries(OURS).filter(([name]) => !(name in metadata));
  const file = {
    ...shape,
    cells: cells.map(formatCell),
    metadata: { ...metadata, ...Object.fromEntries(added) },
    nbformat: 4,
    // Cells have identifiers from 4.5 on, and all cells here have one.
    nbformat_minor: Math.max(shape.nbformat_minor ?? 0, 5),
  };
  return `${formatOrdered(file)}\n`;
}

function formatCell({
  shape, id, type, source, metadata, attachments, executionCount, outputs,
}) {
  const cell = { ...shape, cell_type: type, id, metadata, source: lines(source) };
  if (attachments) cell.attachments = attachments;
  if (type === "code") {
    cell.execution_count = executionCount;
    cell.outputs = outputs.map(formatOutput);
  }
  return cell;
}

function formatOutput(output) {
  if (output.output_type === "stream") return { ...output, text: lines(output.text) };
  if (output.output_type === "error") return output;
  const data = {};
  for (const [mime, value] of Object.entries(output.data)) {
    data[mime] = isText(mime) ? lines(value) : value;
  }
  return { ...output, data };
}
