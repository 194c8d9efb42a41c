/** Links within a notebook: to a heading by its text, as Jupyter names it, or to an id. */
import { decoded } from "./addresses.js";

/** A heading's names: as Jupyter makes it, and as GitHub does. */
const namesOf = (text) => {
  const plain = text.trim();
  return [plain.replaceAll(" ", "-"), plain.toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .replaceAll(" ", "-")];
};

/** Find a target among the foreign boxes below `root`. */
function find(root, name) {
  const trees = [...root.querySelectorAll(".foreign > div")].map((host) => host.shadowRoot);
  for (const tree of trees) {
    const target = tree?.getElementById(name);
    if (target) return target;
  }
  for (const tree of trees) {
    for (const heading of tree?.querySelectorAll("h1, h2, h3, h4, h5, h6") ?? []) {
      if (namesOf(heading.textContent ?? "").includes(name)) return heading;
    }
  }
}

/** Follow a click in a shadow tree on a link within the notebook. Ignore other links. */
export function followAnchor(event) {
  const link = event.target.closest('a[href^="#"]');
  if (!link) return;
  event.preventDefault();
  const root = event.currentTarget.host.getRootNode();
  find(root, decoded(link.getAttribute("href").slice(1)))?.scrollIntoView({ block: "start" });
}
