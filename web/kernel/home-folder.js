/**
 * Python's home folder. All tabs share its files, which the browser stores. When a kernel starts, it
 * loads small files into memory. It reads large files from storage until Python changes them
 * (large-files.js). After each run, changed files are copied to the site's own file system (OPFS).
 * A kernel does not see what other tabs store later. If two tabs write the same file, the last write
 * wins. The other tab's kernel can then no longer read the file if it is large.
 */
import { LARGE, loadIfStoredAs, readFromStorage } from "./large-files.js";

const FOLDER = "browsergpu-files";
/** Interval of checks during a run, when Python yields the thread. */
const LOOK_MS = 1000;
/** A file changed this shortly before it was read may change again with the same time. */
const TICK_MS = 2;

/**
 * Return the stored files. `files` maps each path in the home folder to the bytes of a small file, a
 * File for a large file, or null for a folder. If the browser stores nothing, `folder`
 * is null, and `reason` says why.
 */
export async function readKept() {
  const files = new Map();
  try {
    const root = await navigator.storage.getDirectory();
    const folder = await root.getDirectoryHandle(FOLDER, { create: true });
    await readFolder(folder, "", files);
    return { folder, files, reason: "" };
  } catch (error) {
    return { folder: null, files: new Map(), reason: error.message };
  }
}

async function readFolder(folder, path, files) {
  for await (const [name, handle] of folder.entries()) {
    const below = path + name;
    if (handle.kind === "directory") {
      files.set(below, null);
      await readFolder(handle, `${below}/`, files);
    } else {
      const file = await handle.getFile();
      const isLarge = file.size >= LARGE;
      files.set(below, isLarge ? file : new Uint8Array(await file.arrayBuffer()));
    }
  }
}

/** Whether a name is a cache or a setting, which the user would not look for. */
function isLeftOut(name, isTop) {
  return name === "." || name === ".." || name === "__pycache__" || (isTop && name.startsWith("."));
}

/** Whether a file is unchanged. One that takes another's name has another number. */
function isSame(before, now) {
  return before?.ino === now.ino && before.changed === now.changed && before.size === now.size;
}

export class HomeFolder {
  #fs;
  #home;
  #folder;
  #reason;
  #report;
  /** The stored state of each path: its number, time and size, or null for a folder. */
  #kept = new Map();
  /** @type {Map<string, string>} why a file is not stored */
  #problems = new Map();
  #storing = Promise.resolve();
  #told = "";

  /**
   * `fs` is Emscripten's. `kept` is the result of `readKept`, which is written to the folder
   * `home`. `report` gets `[{path, size, problem}]` when files change. `problem` says why one is
   * not stored.
   */
  constructor(fs, home, kept, report) {
    this.#fs = fs;
    this.#home = home;
    this.#folder = kept.folder;
    this.#reason = kept.reason;
    this.#report = report;
    for (const [path, content] of kept.files) {
      const whole = `${home}/${path}`;
      if (content === null) fs.mkdirTree(whole);
      else if (content instanceof Uint8Array) fs.writeFile(whole, content, { canOwn: true });
      else {
        fs.writeFile(whole, new Uint8Array(0));
        readFromStorage(fs, whole, content, path);
      }
    }
    this.#kept = this.#look();
  }

  /**
   * Write a file. Returns its `whole` path and the bytes of the previous file `before`, or null.
   */
  async write(path, bytes) {
    const whole = `${this.#home}/${path}`;
    this.#fs.mkdirTree(whole.slice(0, whole.lastIndexOf("/")));
    const { exists, object } = this.#fs.analyzePath(whole);
    const before = exists && this.#fs.isFile(object.mode) ? this.read(path) : null;
    this.#fs.writeFile(whole, bytes);
    await this.keep();
    return { whole, before };
  }

  read(path) {
    return this.#fs.readFile(`${this.#home}/${path}`);
  }

  /** Delete a file. Returns its bytes, so that it can be restored. */
  async delete(path) {
    const bytes = this.read(path);
    this.#fs.unlink(`${this.#home}/${path}`);
    await this.keep();
    return bytes;
  }

  /** Store changes and report them. Never rejects: failures are reported. */
  keep() {
    this.#storing = this.#storing.then(async () => {
      if (this.#folder) await this.#store();
      this.tell();
    });
    return this.#storing;
  }

  /** Store changes during a run. Returns the function that stops it. */
  watch() {
    let ended = false;
    const look = async () => {
      const begun = performance.now();
      await this.keep();
      // Large growing files must not be copied all the time.
      const pause = Math.max(LOOK_MS, 4 * (performance.now() - begun));
      if (!ended) timer = setTimeout(look, pause);
    };
    let timer = setTimeout(look, LOOK_MS);
    return () => {
      ended = true;
      clearTimeout(timer);
    };
  }

  tell() {
    const files = [...this.#look()].filter(([, about]) => about !== null).map(([path, about]) => ({
      path, size: about.size, problem: this.#problems.get(path) ?? this.#reason,
    }));
    const present = JSON.stringify(files);
    if (present !== this.#told) this.#report(files);
    this.#told = present;
  }

  /** Return the current contents of the folder. */
  #look(folder = "", found = new Map()) {
    for (const name of this.#fs.readdir(`${this.#home}/${folder}`)) {
      if (isLeftOut(name, folder === "")) continue;
      const path = folder + name;
      const about = this.#about(path);
      if (about === undefined) continue;
      found.set(path, about);
      if (about === null) this.#look(`${path}/`, found);
    }
    return found;
  }

  /** Return a file's number, time and size, null for a folder, undefined for anything else. */
  #about(path) {
    const { ino, mode, mtime, size } = this.#fs.lstat(`${this.#home}/${path}`);
    if (this.#fs.isDir(mode)) return null;
    return this.#fs.isFile(mode) ? { ino, changed: mtime.getTime(), size } : undefined;
  }

  async #store() {
    const present = this.#look();
    const before = [...this.#kept];
    for (const [path, kept] of before) {
      const about = present.get(path);
      if (about !== undefined && (about === null) !== (kept === null)) await this.#remove(path);
    }
    const changed = [...present].filter(([path, about]) => {
      const kept = this.#kept.get(path);
      if (about === null) return kept !== null;
      return !isSame(kept, about);
    });
    this.#loadMoved(changed);
    for (const [path, about] of changed) await this.#copy(path, about === null);
    // Last, since the bytes of a large file that was renamed are still at the former path.
    for (const [path] of before) if (!present.has(path)) await this.#remove(path);
  }

  /** Load large files that others replace in storage, as if two files change their names. */
  #loadMoved(changed) {
    for (const [path, about] of changed) {
      const others = new Set(changed.map(([name]) => name).filter((name) => name !== path));
      if (about !== null) loadIfStoredAs(this.#fs, `${this.#home}/${path}`, others);
    }
  }

  /** Copy a file as a whole, or create a folder. */
  async #copy(path, isFolder) {
    try {
      if (isFolder) {
        await this.#folderOf(`${path}/`);
        this.#kept.set(path, null);
        return;
      }
      const about = this.#about(path);
      if (!about) return; // changed since the check; the next check includes it
      const bytes = this.read(path);
      const justNow = Date.now() - about.changed < TICK_MS;
      const folder = await this.#folderOf(path);
      const handle = await folder.getFileHandle(path.split("/").pop(), { create: true });
      const writable = await handle.createWritable();
      try {
        await writable.write(bytes);
      } catch (error) {
        await writable.abort();
        throw error;
      }
      await writable.close();
      this.#kept.set(path, justNow ? { ...about, changed: NaN } : about);
      if (about.size >= LARGE && !justNow) await this.#leaveInStorage(path, about, handle);
      this.#problems.delete(path);
    } catch (error) {
      const full = error.name === "QuotaExceededError";
      this.#problems.set(path, full ? "the browser gives this site no more space" : error.message);
    }
  }

  /** Free the memory of a large file that has been stored and not changed since. */
  async #leaveInStorage(path, about, handle) {
    const file = await handle.getFile();
    const now = this.#about(path);
    if (!isSame(now, about) || file.size !== about.size) return;
    readFromStorage(this.#fs, `${this.#home}/${path}`, file, path);
  }

  async #remove(path) {
    try {
      const folder = await this.#folderOf(path);
      await folder.removeEntry(path.split("/").pop(), { recursive: true });
    } catch (error) {
      // Another tab was faster, or it was deleted with its folder.
      if (error.name !== "NotFoundError") return;
    }
    this.#kept.delete(path);
    this.#problems.delete(path);
  }

  /** Return the stored folder of a path, created if it is missing. */
  async #folderOf(path) {
    let folder = this.#folder;
    for (const name of path.split("/").slice(0, -1)) {
      folder = await folder.getDirectoryHandle(name, { create: true });
    }
    return folder;
  }
}
