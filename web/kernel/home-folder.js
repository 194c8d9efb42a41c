/**
 * Python's home folder, which the browser stores. The files are in memory, where Python reads and
 * writes them. Changes are copied into the site's own file system (OPFS) after each run. All tabs
 * share the stored files, and each kernel sees them as they were when it started. If two tabs write
 * a file, the later one stays, as on a disk.
 */

const FOLDER = "browsergpu-files";
/** Interval of checks during a run, when Python yields the thread. */
const LOOK_MS = 1000;
/** A file changed this shortly before it was read may change again with the same time. */
const TICK_MS = 2;

/**
 * Return the stored files: `files` maps paths below the home folder to bytes, or to null for a
 * folder. `folder` is null if the browser stores nothing, and `reason` says why.
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
      files.set(below, new Uint8Array(await file.arrayBuffer()));
    }
  }
}

/** Whether a name is a cache or a setting, which the user would not look for. */
function isLeftOut(name, isTop) {
  return name === "." || name === ".." || name === "__pycache__" || (isTop && name.startsWith("."));
}

export class HomeFolder {
  #fs;
  #home;
  #folder;
  #reason;
  #report;
  /** The stored state of each path: its time and size, or null for a folder. */
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
    for (const [path, bytes] of kept.files) {
      if (bytes === null) fs.mkdirTree(`${home}/${path}`);
      else fs.writeFile(`${home}/${path}`, bytes, { canOwn: true });
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

  /** Return a file's time and size, null for a folder, undefined for anything else. */
  #about(path) {
    const { mode, mtime, size } = this.#fs.lstat(`${this.#home}/${path}`);
    if (this.#fs.isDir(mode)) return null;
    return this.#fs.isFile(mode) ? { changed: mtime.getTime(), size } : undefined;
  }

  async #store() {
    const present = this.#look();
    for (const [path, before] of [...this.#kept]) {
      const about = present.get(path);
      if (about === undefined || (about === null) !== (before === null)) await this.#remove(path);
    }
    for (const [path, about] of present) {
      const before = this.#kept.get(path);
      const same = before && about && before.changed === about.changed && before.size === about.size;
      if (!same && !(about === null && before === null)) await this.#copy(path, about === null);
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
      this.#problems.delete(path);
    } catch (error) {
      const full = error.name === "QuotaExceededError";
      this.#problems.set(path, full ? "the browser gives this site no more space" : error.message);
    }
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
