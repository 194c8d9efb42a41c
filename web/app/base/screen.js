/** The screen, as Python needs it for figures. */
import { settings } from "./settings.js";

const dark = matchMedia("(prefers-color-scheme: dark)");

/** Call `tell()` when figures will be drawn for another theme. */
export function onNewScreen(tell) {
  let { isDark: before } = screenNow();
  const compare = () => {
    const { isDark } = screenNow();
    if (isDark === before) return;
    before = isDark;
    tell();
  };
  dark.addEventListener("change", compare);
  settings.addEventListener("change", compare);
}

/** Return device pixels per CSS pixel, and whether figures are drawn on dark paper. */
export function screenNow() {
  const { theme, darkFigures } = settings.values;
  const isDark = theme === "system" ? dark.matches : theme === "dark";
  return { density: devicePixelRatio, isDark: isDark && darkFigures };
}
