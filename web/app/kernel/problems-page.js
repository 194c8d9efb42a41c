/** The page that lists missing requirements and solutions. */
import { element, fromTemplate, refs } from "../base/dom.js";
import { PROBLEMS } from "./problems.js";

/** Show the problems. The promise resolves when the user continues anyway. */
export function showProblems(app, keys) {
  const page = fromTemplate("problems-page");
  const { heading, list, retry, anyway } = refs(page);
  heading.textContent = keys.length === 1
    ? "One thing is missing before Python can use your GPU"
    : `${keys.length} things are missing before Python can use your GPU`;
  for (const key of keys) {
    const { title, what, todo } = PROBLEMS[key];
    const card = element("section", { className: "problem" },
      element("h2", {}, title),
      element("p", {}, what),
      element("h3", {}, "What to do"),
      element("ul", {}, ...todo.map((step) => element("li", {}, step))));
    card.dataset.problem = key;
    list.append(card);
  }
  retry.addEventListener("click", () => location.reload());
  app.replaceChildren(page);
  return new Promise((resolve) => anyway.addEventListener("click", resolve));
}
