/** Copies of saved widgets for exported pages: frames that show them without any script. */
import { element } from "../base/dom.js";
import { showAtOnce } from "../content/active-frame.js";
import { widgetFrame } from "./widget-frame.js";

/** The time until a widget whose scripts do not finish is left out. */
const PATIENCE = 60_000;
/** The width of outputs on exported pages. */
const WIDTH = "50rem";

/** Return a style element's text as HTML, in which nothing ends the element early. */
const styleOf = (text) => `<style>${text.replaceAll("</", "<\\/")}</style>`;

function frameWith({ styles, html, height }) {
  const frame = element("iframe", {
    title: "Widget", sandbox: "", srcdoc: `<!doctype html><meta charset="utf-8">${styleOf(styles)}${html}`,
  });
  frame.style.height = `${height}px`;
  return frame;
}

/** Whether a frame's answer can be shown: its scripts may be anyone's. */
const isCopy = (copied) => typeof copied?.styles === "string" && typeof copied.html === "string"
  && Number.isFinite(copied.height);

/**
 * Resolves to a frame that shows a widget as it is now, null if its scripts fail.
 * @param {import("./widget-models.js").WidgetModels} models
 */
export async function widgetCopy(models, id) {
  const stage = element("div", { className: "widget-stage", inert: true });
  stage.style.width = WIDTH;
  try {
    const copied = await new Promise((resolve) => {
      const frame = widgetFrame(models, id, null, resolve);
      stage.append(frame);
      document.body.append(stage);
      void showAtOnce(frame);
      setTimeout(resolve, PATIENCE, null);
    });
    return isCopy(copied) ? frameWith(copied) : null;
  } finally {
    stage.remove();
  }
}
