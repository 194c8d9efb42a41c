/** Where the page's files are: below the folder of the page, which need not be a host's root. */

const ROOT = new URL("../", import.meta.url);

/** The address of a file of the page, from its path such as `wheel/index.json`. */
export const addressOf = (path) => new URL(path, ROOT).href;
