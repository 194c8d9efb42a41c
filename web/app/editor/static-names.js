/** The kernel's variables after the last run, for completion while it is busy. */

const DOTTED = /([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)\.(\w*)$/;
const NAME = /(?<![\w.)\]'"])([A-Za-z_]\w*)$/;

/** Python's names, as outline.py reports them. */
export class StaticNames {
  /** @type {Record<string, [kind: string, owner: string]>} */
  #names = {};
  /** @type {Map<string, [name: string, kind: string, owner: string][]>} */
  #members = new Map();

  constructor(kernel) {
    kernel.addEventListener("outline", ({ detail: { names, members } }) => {
      this.#names = names;
      for (const [owner, list] of Object.entries(members)) this.#members.set(owner, list);
    });
    kernel.addEventListener("state", ({ detail: { state } }) => {
      if (state !== "loading") return;
      this.#names = {};
      this.#members.clear();
    });
  }

  /** Complete like the kernel: `{typed, options}`. */
  complete(before) {
    const dotted = DOTTED.exec(before);
    if (dotted) {
      const [, path, typed] = dotted;
      const members = this.#members.get(this.#owner(path)) ?? [];
      return answer(typed, members.map(([name, kind]) => [name, kind]));
    }
    const typed = NAME.exec(before)?.[1] ?? "";
    return answer(typed, Object.entries(this.#names).map(([name, [kind]]) => [name, kind]));
  }

  /** Return the owner of a dotted name's attributes, "" if unknown. */
  #owner(path) {
    const [first, ...rest] = path.split(".");
    let owner = this.#names[first]?.[1] ?? "";
    for (const name of rest) {
      owner = this.#members.get(owner)?.find(([member]) => member === name)?.[2] ?? "";
    }
    return owner;
  }
}

function answer(typed, pairs) {
  const wanted = typed.toLowerCase();
  const options = pairs
    .filter(([label]) => label.toLowerCase().startsWith(wanted))
    .map(([label, type]) => ({ label, type }));
  return { typed: typed.length, options };
}
