/** Styles of foreign HTML, reduced to those that affect only its own text and boxes. */

// Longhand names, as browsers list them. None of them covers other boxes or loads a file.
const SAFE = new RegExp(`^(${[
  "--.+", "(align|justify|place)-.+", "background(-.+)?", "border(-.+)?", "box-sizing",
  "caption-side", "clear", "color", "(row-|column-)?gap", "content", "direction", "display",
  "empty-cells", "flex(-.+)?", "float", "font(-.+)?", "grid(-.+)?", "image-rendering",
  "(min-|max-)?(height|width)",
  "letter-spacing", "line-height", "list-style-(type|position)", "margin(-.+)?", "order",
  "overflow(-.+)?", "padding(-.+)?", "tab-size", "table-layout", "text-.+", "vertical-align",
  "visibility", "white-space(-.+)?", "word-.+",
].join("|")})$`);
const LOADS = /url|image|src\s*\(|element\s*\(|paint\s*\(|cross-fade/i;

/** @param {CSSStyleDeclaration} style */
function clean(style) {
  for (const name of [...style]) {
    const value = style.getPropertyValue(name);
    // An escape can hide a word. Only the text of "content" needs escapes.
    const hidden = value.includes("\\") && name !== "content";
    if (!SAFE.test(name) || LOADS.test(value) || hidden) style.removeProperty(name);
  }
}

/** Return the safe part of a style attribute. */
export function safeDeclarations(text) {
  const { style } = document.implementation.createHTMLDocument("").createElement("div");
  style.cssText = text;
  clean(style);
  return style.cssText;
}

/**
 * Return the safe part of a style sheet. It must be in a shadow tree, which limits its selectors.
 */
export function safeSheet(text) {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(text);
  cleanRules(sheet);
  return [...sheet.cssRules].map((rule) => rule.cssText).join("\n");
}

/** @param {CSSStyleSheet | CSSGroupingRule | CSSStyleRule} owner */
function cleanRules(owner) {
  for (let index = owner.cssRules.length - 1; index >= 0; index -= 1) {
    const rule = owner.cssRules[index];
    const isStyle = rule instanceof CSSStyleRule;
    if (isStyle) clean(rule.style);
    if (isStyle || rule instanceof CSSMediaRule) cleanRules(rule);
    else owner.deleteRule(index);
  }
}
