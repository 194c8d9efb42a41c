/** The user's settings, which this browser keeps. They apply at once. */

const KEY = "browsergpu-settings";
export const DEFAULTS = {
  completes: true, theme: "system", size: 100, wraps: false, notifies: false,
  darkFigures: true,
};
export const THEMES = ["system", "light", "dark"];
/** Font sizes of cells in per cent. */
export const SIZES = [85, 100, 115, 130, 150];

/** Return valid settings, with defaults in place of what is missing or wrong. */
function valid({ completes, theme, size, wraps, notifies, darkFigures }) {
  return {
    completes: typeof completes === "boolean" ? completes : DEFAULTS.completes,
    theme: THEMES.includes(theme) ? theme : DEFAULTS.theme,
    size: SIZES.includes(size) ? size : DEFAULTS.size,
    wraps: typeof wraps === "boolean" ? wraps : DEFAULTS.wraps,
    notifies: typeof notifies === "boolean" ? notifies : DEFAULTS.notifies,
    darkFigures: typeof darkFigures === "boolean" ? darkFigures : DEFAULTS.darkFigures,
  };
}

/** Has a "change" event. */
class Settings extends EventTarget {
  #values = DEFAULTS;

  constructor() {
    super();
    this.#read();
    // Another tab has changed them.
    addEventListener("storage", ({ key }) => {
      if (key === KEY || key === null) this.#read();
    });
  }

  get values() {
    return this.#values;
  }

  /** Change some settings. */
  set(changes) {
    this.#apply(valid({ ...this.#values, ...changes }));
    try {
      localStorage.setItem(KEY, JSON.stringify(this.#values));
    } catch {
      // Without storage they hold until the page is left.
    }
  }

  #read() {
    try {
      this.#apply(valid(JSON.parse(localStorage.getItem(KEY) ?? "{}") ?? {}));
    } catch {
      this.#apply(DEFAULTS);
    }
  }

  #apply(values) {
    this.#values = values;
    const root = document.documentElement;
    if (values.theme === "system") delete root.dataset.theme;
    else root.dataset.theme = values.theme;
    root.style.setProperty("--cell-scale", String(values.size / 100));
    this.dispatchEvent(new Event("change"));
  }
}

export const settings = new Settings();
