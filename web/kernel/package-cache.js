/** Cache of packages that micropip fetched from an index, for use without a network. */
import { addressOf } from "./addresses.js";

const NAME = "browsergpu-packages";
/** The type that micropip accepts from an index. */
const INDEX_TYPE = "application/vnd.pypi.simple";

/** Make the worker's `fetch` cache other sites' packages: wheels for good, indexes offline. */
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
      // A full disk must not prevent an installation.
      if (response.ok) await cache.put(request.url, response.clone()).catch(() => {});
      return response;
    } catch (error) {
      if (kept) return kept;
      throw error;
    }
  };
}

/** Describe a package's address, or return null. A wheel's bytes never change. */
function describe(input, options) {
  const given = input instanceof Request ? input : { url: input, method: "GET", headers: {} };
  if ((options?.method ?? given.method) !== "GET") return null;
  const url = URL.parse(given.url, location.href);
  if (!url) return null;
  const { origin, pathname, href } = url;
  const own = [location.origin, new URL(addressOf("")).origin];
  const headers = new Headers(options?.headers ?? given.headers);
  if (own.includes(origin) || headers.has("authorization")) return null;
  const unchanging = /\.whl(\.metadata)?$/.test(pathname);
  const index = headers.get("accept")?.includes(INDEX_TYPE) ?? false;
  return unchanging || index ? { url: href, unchanging } : null;
}
