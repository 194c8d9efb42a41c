/**
 * Python's home folder, which the browser keeps: the files lie in memory, where Python reads and
 * writes them, and what changed is copied into the site's own file system (OPFS) after each run.
 * All tabs share what is kept; each kernel sees it as it was when the kernel started. Of a file that
 * two tabs wrote, the later one stays, as on a disk.
 */

const FOLDER = "browsergpu-files";
/** Between two looks while a run goes on, where Python lets go of the thread. */
const LOOK_MS = 1000;
/** A file that was changed so shortly before it was read may change again within its time. */
const TICK_MS = 2;

/**
 * What the browser keeps: `files` maps paths below the home folder to bytes, or to null for a folder.
 * `folder` is null where the browser keeps nothing, and `reason` says why.
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

/** Whether a name is of a cache or a setting, which nobody would look for. */
function isLeftOut(name, isTop) {
  return name === "." || name === ".." || name === "__pycache__" || (isTop && name.startsWith("."));
}

export class HomeFolder {
  #fs;
  #home;
  #folder;
  #reason;
  #report;
  /** What is kept of each path: when it was changed and its size, or null for a folder. */
  #kept = new Map();
  /** @type {Map<string, string>} why a file is not kept */
  #problems = new Map();
  #storing = Promise.resolve();
  #told = "";

  /**
   * `fs` is Emscripten's; `kept` is what `readKept` found, which is put into the folder `home`.
   * `report` gets `[{path, size, problem}]` when the files are others than before; `problem` says why
   * one is not kept.
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

  /** Put a file there; gives its `whole` path and the bytes of the file `before`, or null. */
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

  /** Delete a file; gives its bytes, for who wants it back. */
  async delete(path) {
    const bytes = this.read(path);
    this.#fs.unlink(`${this.#home}/${path}`);
    await this.keep();
    return bytes;
  }

  /** Keep what has changed, and report. Never rejects: what could not be kept is reported. */
  keep() {
    this.#storing = this.#storing.then(async () => {
      if (this.#folder) await this.#store();
      this.tell();
    });
    return this.#storing;
  }

  /** Keep what changes while something goes on; gives the function that ends it. */
  watch() {
    let ended = false;
    const look = async () => {
      const begun = performance.now();
      await this.keep();
      // Large files that grow must not be copied all the time.
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

  /** What lies in the folder now. */
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

  /** When a file was changed and its size; null for a folder, undefined for what is neither. */
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

  /** Copy a file, all of it or nothing, or make a folder. */
  async #copy(path, isFolder) {
    try {
      if (isFolder) {
        await this.#folderOf(`${path}/`);
        this.#kept.set(path, null);
        return;
      }
      const about = this.#about(path);
      if (!about) return; // changed since it was looked at: the next look has it
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
      // Another tab was faster, or it went with its folder.
      if (error.name !== "NotFoundError") return;
    }
    this.#kept.delete(path);
    this.#problems.delete(path);
  }

  /** The kept folder that a path lies in, made where it is not there. */
  async #folderOf(path) {
    let folder = this.#folder;
    for (const name of path.split("/").slice(0, -1)) {
      folder = await folder.getDirectoryHandle(name, { create: true });
    }
    return folder;
  }
}
