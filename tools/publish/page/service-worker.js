/**
 * The service worker of a published page. It adds the headers of cross-origin isolation, which many
 * hosts cannot send, and caches every file of the page. published-files.js lists the files. A new
 * version waits until no tab shows the page, so that a page never mixes files of two versions.
 */
importScripts("published-files.js");

const worker = /** @type {any} */ (self);
/** @type {Record<string, [digest: string, size: number]>} by path */
const FILES = worker.PUBLISHED;
const SCOPE = worker.registration.scope;
const CACHE = `browsergpu-published ${SCOPE}`;
const DOCUMENTATION = "docs/"; // cached when it is read

const HEADERS = {
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Embedder-Policy": "require-corp",
  "Cross-Origin-Resource-Policy": "same-origin",
};

function isolated(response) {
  const headers = new Headers(response.headers);
  for (const [name, value] of Object.entries(HEADERS)) headers.set(name, value);
  const { status, statusText } = response;
  return new Response(response.body, { status, statusText, headers });
}

// A file's version is part of its key, so that an update fetches only what changed.
const keyOf = (path) => `${SCOPE}${path}?published=${FILES[path][0]}`;

/** Return the path of a request in FILES, or null. */
function pathOf({ method, url }) {
  if (!url.startsWith(SCOPE) || !["GET", "HEAD"].includes(method)) return null;
  const path = decodeURIComponent(new URL(url).pathname.slice(new URL(SCOPE).pathname.length));
  const file = path === "" || path.endsWith("/") ? `${path}index.html` : path;
  return Object.hasOwn(FILES, file) ? file : null;
}

async function fileOf(path, event) {
  const cache = await caches.open(CACHE);
  const kept = await cache.match(keyOf(path));
  if (kept) return kept;
  const response = isolated(await fetch(SCOPE + path, { cache: "no-cache" }));
  // The page gets its file even if the disk is full.
  if (response.ok) event.waitUntil(cache.put(keyOf(path), response.clone()).catch(() => {}));
  return response;
}

/** Cache the files that were not used yet. */
async function fill(event) {
  const cache = await caches.open(CACHE);
  for (const path of Object.keys(FILES)) {
    if (path.startsWith(DOCUMENTATION) || await cache.match(keyOf(path))) continue;
    await (await fileOf(path, event)).arrayBuffer();
  }
}

async function takeOver() {
  const cache = await caches.open(CACHE);
  const current = new Set(Object.keys(FILES).map(keyOf));
  for (const { url } of await cache.keys()) if (!current.has(decodeURI(url))) await cache.delete(url);
  await worker.clients.claim();
}

worker.addEventListener("activate", (event) => event.waitUntil(takeOver()));
worker.addEventListener("message", (event) => {
  if (event.data === "fill") event.waitUntil(fill(event));
});
worker.addEventListener("fetch", (event) => {
  const path = pathOf(event.request);
  if (path === null) return;
  if (event.request.method === "GET") event.respondWith(fileOf(path, event));
  else event.respondWith(new Response(null, { headers: { "Content-Length": String(FILES[path][1]) } }));
});
