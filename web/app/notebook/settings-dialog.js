/** The dialog of the settings. */
import { SIZES, THEMES, settings } from "../base/settings.js";
import { element } from "../base/dom.js";
import { allowNotifications } from "../kernel/notifications.js";

const THEME_NAMES = { system: "As the system", light: "Light", dark: "Dark" };

/**
 * Connect the fields of the dialog with the settings. Returns a function that opens it.
 * @param {{dialog: HTMLDialogElement, completes: HTMLInputElement, wraps: HTMLInputElement,
 *   darkFigures: HTMLInputElement, notifies: HTMLInputElement, refused: HTMLElement, theme: HTMLSelectElement, size: HTMLSelectElement}} fields
 */
export function settingsDialog({
  dialog, completes, wraps, darkFigures, notifies, refused, theme, size,
}) {
  theme.append(...THEMES.map((value) => element("option", { value }, THEME_NAMES[value])));
  size.append(...SIZES.map((value) => element("option", { value: String(value) }, `${value} %`)));
  const show = () => {
    const { values } = settings;
    completes.checked = values.completes;
    wraps.checked = values.wraps;
    darkFigures.checked = values.darkFigures;
    notifies.checked = values.notifies;
    theme.value = values.theme;
    size.value = String(values.size);
  };
  settings.addEventListener("change", show);
  dialog.addEventListener("change", () => settings.set({
    completes: completes.checked, wraps: wraps.checked, darkFigures: darkFigures.checked,
    theme: theme.value, size: Number(size.value),
  }));
  notifies.addEventListener("change", async (event) => {
    event.stopPropagation(); // it applies once the browser agrees
    refused.textContent = notifies.checked ? await allowNotifications() : "";
    settings.set({ notifies: notifies.checked && !refused.textContent });
  });
  return () => {
    refused.textContent = "";
    show();
    dialog.showModal();
  };
}
