/** The file that a notebook was opened from, in browsers with the File System Access API. */

/**
 * `modified` is the file's time when it was last read or written here.
 * @typedef {{ handle: FileSystemFileHandle, modified: number }} DiskFile
 */

/** Another program wrote the file since it was read. */
export class ChangedOnDisk extends Error {}

export const canPickFiles = () => "showOpenFilePicker" in globalThis;

/** Let the user choose a notebook. Returns null if none was chosen. */
export async function pickNotebook() {
  const types = [{ description: "Notebooks", accept: { "application/x-ipynb+json": [".ipynb"] } }];
  try {
    const [handle] = await globalThis.showOpenFilePicker({ types, id: "notebooks" });
    return handle;
  } catch (error) {
    if (error.name === "AbortError") return null;
    throw error;
  }
}

/**
 * Replace the file's content by `text` as a whole. Call it in a handler of a key press or click,
 * since the browser may ask the user. Throws ChangedOnDisk unless `overwrite` is set.
 * @param {DiskFile} disk
 */
export async function writeBack(disk, text, { overwrite = false } = {}) {
  const { handle } = disk;
  const mode = { mode: "readwrite" };
  const permission = /** @type {any} */ (handle); // not in TypeScript's library yet
  if (await permission.queryPermission(mode) !== "granted"
    && await permission.requestPermission(mode) !== "granted") {
    throw new Error("the browser was not allowed to write it");
  }
  if (!overwrite && (await handle.getFile()).lastModified !== disk.modified) {
    throw new ChangedOnDisk(`${handle.name} was changed by another program`);
  }
  const writable = await handle.createWritable();
  try {
    await writable.write(text);
  } catch (error) {
    await writable.abort();
    throw error;
  }
  await writable.close();
  disk.modified = (await handle.getFile()).lastModified;
}
