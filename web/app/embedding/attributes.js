/** The attributes of <browsergpu-cell>, and a refusal of all others. */

const OWN = ["autorun", "readonly", "src"];
/** Attributes of every HTML element, beside the families in GLOBAL_FAMILY. */
const GLOBAL = [
  "accesskey", "class", "dir", "draggable", "hidden", "id", "inert", "is", "lang", "nonce", "part",
  "popover", "role", "slot", "spellcheck", "style", "tabindex", "title", "translate",
];
const GLOBAL_FAMILY = /^(aria-|data-|on|item)/;

/**
 * Return the values of the element's own attributes.
 * @param {Element} element
 * @returns {{autorun: boolean, readOnly: boolean, src: string | null}}
 */
export function attributesOf(element) {
  for (const { name } of element.attributes) {
    if (OWN.includes(name) || GLOBAL.includes(name) || GLOBAL_FAMILY.test(name)) continue;
    throw new Error(
      `attribute must be autorun, readonly or src, got ${name}. Correct or remove it.`,
    );
  }
  return {
    autorun: element.hasAttribute("autorun"),
    readOnly: element.hasAttribute("readonly"),
    src: element.getAttribute("src"),
  };
}
