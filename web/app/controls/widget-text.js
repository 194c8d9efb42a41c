/** Widgets as text and outputs, for readers of files that do not show widgets. */
import { isOutput, WIDGET } from "./widget-models.js";

/** Return the value of a widget as text, "" if it has none. */
function setting({ index, value, _options_labels: labels }) {
  if (labels) return [index].flat().map((one) => labels[one]).filter((one) => one !== undefined).join(", ");
  if (Array.isArray(value)) return value.every((one) => typeof one !== "object") ? value.join(" – ") : "";
  return ["string", "number", "boolean"].includes(typeof value) ? String(value) : "";
}

function asText(state) {
  if (["ButtonModel", "PasswordModel"].includes(state._model_name)) return "";
  const { description } = state;
  const shown = setting(state);
  return description && shown ? `${description} = ${shown}` : shown;
}

/**
 * Return the contents of the Output widgets in a widget.
 * @param {import("./widget-models.js").WidgetModels} models
 */
export function outputsIn(models, id) {
  return [...models.within(id)].filter(([, state]) => isOutput(state))
    .flatMap(([one]) => models.outputs.outputsOf(one));
}

/**
 * Return the outputs that replace a widget: one with the values of its controls, or else `text`, and
 * those of its Output widgets.
 * @param {import("./widget-models.js").WidgetModels} models
 */
export function plainOutputs(models, id, text = "") {
  const outputs = outputsIn(models, id);
  const texts = [...models.within(id)].filter(([, state]) => !isOutput(state))
    .map(([, state]) => asText(state));
  const told = texts.filter(Boolean).join(", ") || (outputs.length > 0 ? "" : text);
  if (!told) return outputs;
  return [{ output_type: "display_data", data: { "text/plain": told }, metadata: {} }, ...outputs];
}

const IMAGE = /^image\//;

/**
 * Return the output of a widget with what replaces it where widgets are not shown: the texts of its
 * parts, and its first image.
 * @param {import("./widget-models.js").WidgetModels} models
 */
export function withReplacement(output, models) {
  const view = output.data[WIDGET];
  const outputs = plainOutputs(models, view.model_id, output.data["text/plain"]);
  const text = outputs.map(({ data, text: printed }) => printed ?? data?.["text/plain"] ?? "");
  const images = outputs.flatMap(({ data = {} }) => Object.entries(data).filter(([mime]) => IMAGE.test(mime)));
  const data = { "text/plain": text.filter(Boolean).join("\n"), ...Object.fromEntries(images.slice(0, 1)) };
  return { ...output, data: { ...data, [WIDGET]: view } };
}
