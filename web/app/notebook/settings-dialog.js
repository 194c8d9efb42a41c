/** The dialog of the settings. */
import { SIZES, THEMES, settings } from "../base/settings.js";
import { element } from "../base/dom.js";

const THEME_NAMES = { system: "As the system", light: "Light", dark: "Dark" };

/**
 * Connect the fields of the dialog with the settings. Returns a function that opens it.
 * @param {{dialog: HTMLDialogElement, completes: HTMLInputElement, wraps: HTMLInputElement,
 *   theme: HTMLSelectElement, size: HTMLSelectElement}} fields
 */
export function settingsDialog({ dialog, completes, wraps, theme, size }) {
  theme.append(...THEMES.map((value) => element("option", { value }, THEME_NAMES[value])));
  size.append(...SIZES.map((value) => element("option", { value: String(value) }, `${value} %`)));
  const show = () => {
    const { values } = settings;
    completes.checked = values.completes;
    wraps.checked = values.wraps;
    theme.value = values.theme;
    size.value = String(values.size);
  };
  settings.addEventListener("change", show);
  dialog.addEventListener("change", () => settings.set({
    completes: completes.checked, wraps: wraps.checked, theme: theme.value,
    size: Number(size.value),
  }));
  return () => {
    show();
    dialog.showModal();
  };
}
