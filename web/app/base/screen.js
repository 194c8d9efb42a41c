/** The screen, as Python needs it for figures. */
import { settings } from "./settings.js";

const dark = matchMedia("(prefers-color-scheme: dark)");

/** Return device pixels per CSS pixel, and whether figures are drawn on dark paper. */
export function screenNow() {
  const { theme, darkFigures } = settings.values;
  const isDark = theme === "system" ? dark.matches : theme === "dark";
  return { density: devicePixelRatio, isDark: isDark && darkFigures };
}
