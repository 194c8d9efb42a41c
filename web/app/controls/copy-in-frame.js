/**
 * Copies a displayed widget as markup without scripts, for exported pages. It runs in the widget's
 * frame, after in-frame.js.
 */
(() => {
  const page = parent;
  const QUIET = 300;
  const LONGEST = 4000;
  const CONTROLS = "input, select, textarea, button, [tabindex], [contenteditable]";

  /** Wait until widgets have drawn themselves: the document no longer changes. */
  function quiet() {
    return new Promise((resolve) => {
      let timer = setTimeout(resolve, QUIET);
      const changes = new MutationObserver(() => {
        clearTimeout(timer);
        timer = setTimeout(resolve, QUIET);
      });
      changes.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
      setTimeout(resolve, LONGEST);
    });
  }

  const dataUrl = (blob) => new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result);
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(blob);
  });

  /** Write values that only the document's objects have into its markup. */
  async function settle() {
    // The page shows the contents of Output widgets.
    for (const place of document.querySelectorAll(".widget-output")) place.remove();
    for (const one of document.querySelectorAll("script")) one.remove();
    for (const formula of document.querySelectorAll(".katex")) {
      formula.replaceWith(formula.querySelector("math") ?? formula.textContent ?? "");
    }
    for (const one of document.querySelectorAll("input")) {
      one.setAttribute("value", one.type === "password" ? "" : one.value);
      one.toggleAttribute("checked", one.checked);
    }
    for (const one of document.querySelectorAll("option")) one.toggleAttribute("selected", one.selected);
    for (const one of document.querySelectorAll("textarea")) one.textContent = one.value;
    for (const one of document.querySelectorAll(CONTROLS)) {
      one.setAttribute("tabindex", "-1");
      one.removeAttribute("contenteditable");
    }
    for (const one of document.querySelectorAll("canvas")) {
      const shown = document.createElement("img");
      shown.src = one.toDataURL();
      shown.alt = "Drawing of a widget";
      shown.className = one.className;
      shown.style.cssText = `width: ${one.clientWidth}px; height: ${one.clientHeight}px`;
      one.replaceWith(shown);
    }
    for (const one of document.querySelectorAll("[src^='blob:']")) {
      one.setAttribute("src", await dataUrl(await (await fetch(one.getAttribute("src") ?? "")).blob()));
    }
  }

  /** Whether a rule applies to something here, in any state. */
  function applies(rule) {
    if (rule instanceof CSSFontFaceRule) return false;
    if (!(rule instanceof CSSStyleRule)) return !rule.cssRules || [...rule.cssRules].some(applies);
    try {
      const selector = rule.selectorText.replace(/::?[a-z-]+(\([^()]*\))?/g, "");
      return /(^|,|[>+~ ])\s*(,|$)/.test(selector) || document.querySelector(selector) !== null;
    } catch {
      return true;
    }
  }

  /** Return the fonts of the icons that are shown, as rules. */
  async function iconFonts(fonts) {
    const used = new Set();
    for (const one of document.querySelectorAll("i, span, button, a, div")) {
      const { content, fontFamily, fontWeight } = getComputedStyle(one, "::before");
      if (content !== "none") used.add(`${fontFamily.replaceAll('"', "")} ${fontWeight}`);
    }
    const shown = fonts.filter(({ family, weight }) => used.has(`${family} ${weight}`));
    return Promise.all(shown.map(async ({ family, weight, bytes }) => {
      const url = await dataUrl(new Blob([bytes], { type: "font/woff2" }));
      return `@font-face { font-family: "${family}"; font-weight: ${weight}; src: url(${url}) }`;
    }));
  }

  async function copy({ fonts }) {
    await quiet();
    await settle();
    const rules = [...document.styleSheets].flatMap(({ cssRules }) => [...cssRules]).filter(applies)
      .map(({ cssText }) => cssText);
    const still = `:is(${CONTROLS}) { pointer-events: none }`;
    const values = document.documentElement.style;
    values.colorScheme = "light dark"; // of the reader
    const styles = [...await iconFonts(fonts), ...rules, `html { ${values.cssText} }`, still];
    for (const one of document.body.querySelectorAll("style, link")) one.remove();
    return {
      height: document.body.scrollHeight,
      styles: styles.join("\n"), html: document.body.innerHTML,
    };
  }

  addEventListener("message", async ({ source, data }) => {
    if (source !== page || data.type !== "copy") return;
    try {
      page.postMessage({ type: "copied", copy: await copy(data) }, "*");
    } catch {
      page.postMessage({ type: "copied", copy: null }, "*");
    }
  });
})();
