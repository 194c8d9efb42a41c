/**
 * Defines the element <browsergpu-cell> in any page; docs/embedding.md describes it. Include it as a
 * classic script, since older browsers take no import map after the first module.
 */
(() => {
  const script = /** @type {HTMLScriptElement} */ (document.currentScript);
  const site = new URL(".", script.src).href;

  async function define() {
    const answer = await fetch(`${site}index.html`);
    if (!answer.ok) throw new Error(`${answer.url}: HTTP ${answer.status}`);
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const { imports } = JSON.parse(page.querySelector('script[type="importmap"]')?.textContent ?? "");
    // Only for the site's modules: the page may have packages of the same names.
    const own = Object.entries(imports).map(([name, path]) => [name, new URL(path, site).href]);
    const map = document.createElement("script");
    map.type = "importmap";
    map.nonce = script.nonce;
    map.textContent = JSON.stringify({ scopes: { [site]: Object.fromEntries(own) } });
    document.head.append(map);
    const { defineCell } = await import(`${site}app/embedding/cell-element.js`);
    if (document.readyState === "loading") {
      await new Promise((resolve) => document.addEventListener("DOMContentLoaded", resolve));
    }
    defineCell(page);
  }

  define().catch((error) => {
    const note = document.createElement("p");
    note.role = "alert";
    note.textContent = `The cells of this page cannot run: ${error.message}.`;
    document.querySelector("browsergpu-cell")?.before(note);
    console.error(error);
  });
})();
