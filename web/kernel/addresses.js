/**
 * Addresses of the page's files, relative to the page's folder, which may be any path of a host.
 */

const ROOT = new URL("../", import.meta.url);

/** Return the address of a file of the page, from its path such as `wheel/index.json`. */
export const addressOf = (path) => new URL(path, ROOT).href;
