/** What micropip once fetched from an index is there again without a network. */

const NAME = "browsergpu-packages";
/** What micropip accepts when it asks an index for a package's files. */
const INDEX_TYPE = "application/vnd.pypi.simple";

/** Have the worker's `fetch` keep packages of other sites: wheels for good, indexes until asked. */
export function keepPackages() {
  if (!("caches" in self)) return;
  const original = self.fetch;
  self.fetch = async (input, options) => {
    const request = describe(input, options);
    if (!request) return original.call(self, input, options);
    const cache = await caches.open(NAME);
    const kept = await cache.match(request.url);
    if (kept && request.unchanging) return kept;
    try {
      const response = await original.call(self, input, options);
      // A full disk keeps nothing from being installed.
      if (response.ok) await cache.put(request.url, response.clone()).catch(() => {});
      return response;
    } catch (error) {
      if (kept) return kept;
      throw error;
    }
  };
}

/** The address, where it is one of a package; a wheel's bytes never change. */
function describe(input, options) {
  const given = input instanceof Request ? input : { url: input, method: "GET", headers: {} };
  if ((options?.method ?? given.method) !== "GET") return null;
  const { origin, pathname, href } = new URL(given.url, location.href);
  const headers = new Headers(options?.headers ?? given.headers);
  if (origin === location.origin || headers.has("authorization")) return null;
  const unchanging = /\.whl(\.metadata)?$/.test(pathname);
  const index = headers.get("accept")?.includes(INDEX_TYPE) ?? false;
  return unchanging || index ? { url: href, unchanging } : null;
}
