/** The widgets in a notebook file, which its metadata describe. */
import { withoutMarks } from "./ordered-json.js";
import { WIDGET } from "../controls/widget-models.js";
import { STATES } from "../controls/widget-states.js";
import { outputsIn, plainOutputs } from "../controls/widget-text.js";
import { widgets } from "../controls/widgets.js";

/** Widgets with larger states in a cell are saved as text and image only. */
const MOST_CHARACTERS = 8_000_000;

export class SavedWidgets {
  /** The states as the file has them. */
  states;
  /** @type {import("../controls/widget-models.js").WidgetModels} */
  models;

  /** `metadata` is the notebook's. */
  constructor(metadata, trust) {
    const found = metadata.widgets?.[STATES];
    const states = found?.state ?? found; // Colab leaves out the version
    this.states = states && typeof states === "object" && !Array.isArray(states) ? states : {};
    this.models = widgets.savedModels(withoutMarks(this.states), { trust, saved: this });
  }

  /** Return the contents of a widget's Output widgets. */
  outputsIn(id) {
    return outputsIn(this.models, id);
  }

  /** Return outputs without widgets: their values and outputs instead. */
  plain(outputs) {
    return outputs.flatMap((output) => {
      const id = output.data?.[WIDGET]?.model_id;
      return this.models.has(id) ? plainOutputs(this.models, id, output.data["text/plain"]) : [output];
    });
  }
}

/** Return the states of a cell's own widgets, none if they are too large for a file. */
export function ownStates(models, ids) {
  const states = models.statesOf(ids);
  return JSON.stringify(states).length <= MOST_CHARACTERS ? states : {};
}

const without = (name, object) =>
  Object.fromEntries(Object.entries(object).filter(([key]) => key !== name));

/** Return a notebook's metadata with the states of its widgets, and no others. */
export function withStates(metadata, states) {
  const found = metadata.widgets?.[STATES];
  if (Object.keys(states).length > 0) {
    const form = found?.state ? found : { version_major: 2, version_minor: 0 };
    return { ...metadata, widgets: { ...metadata.widgets, [STATES]: { ...form, state: states } } };
  }
  if (!found) return metadata;
  const others = without(STATES, metadata.widgets);
  return Object.keys(others).length > 0 ? { ...metadata, widgets: others } : without("widgets", metadata);
}
