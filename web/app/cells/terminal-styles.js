/** Terminal styles (SGR escape sequences) as classes of style/outputs.css. */

/**
 * Colours are numbers below 16: eight and the bright eight.
 * @typedef {{bold: boolean, italic: boolean, underline: boolean, ink: number | null,
 *   ground: number | null}} Style
 */

/** @type {Style} */
export const PLAIN = { bold: false, italic: false, underline: false, ink: null, ground: null };

const CHANGES = {
  0: PLAIN, 1: { bold: true }, 3: { italic: true }, 4: { underline: true },
  22: { bold: false }, 23: { italic: false }, 24: { underline: false },
  39: { ink: null }, 49: { ground: null },
};

/** Return the style after a sequence with these `codes`, such as "1;31". */
export function restyled(style, codes) {
  const left = codes.split(/[;:]/).map(Number); // an empty one means 0
  let next = style;
  while (left.length > 0) {
    const code = /** @type {number} */ (left.shift());
    if (code === 38) next = { ...next, ink: wideColour(left) };
    else if (code === 48) next = { ...next, ground: wideColour(left) };
    else next = { ...next, ...(CHANGES[code] ?? colour(code)) };
  }
  return next;
}

function colour(code) {
  const bright = code >= 90 ? 8 : 0;
  const within = code - (bright ? 60 : 0);
  if (within >= 30 && within <= 37) return { ink: within - 30 + bright };
  if (within >= 40 && within <= 47) return { ground: within - 40 + bright };
  return {};
}

/** Read a colour of 256 ("5;n") or any ("2;r;g;b") from the codes. Return the nearest of the 16. */
function wideColour(codes) {
  const kind = codes.shift();
  if (kind === 2) return nearest(codes.splice(0, 3));
  const number = kind === 5 ? codes.shift() : undefined;
  if (number === undefined) return null;
  if (number < 16) return number;
  if (number >= 232) return nearest(Array(3).fill(10 * (number - 232) + 8));
  const levels = [36, 6, 1].map((size) => Math.floor((number - 16) / size) % 6);
  return nearest(levels.map((level) => (level ? 40 * level + 55 : 0)));
}

// By hue, since by distance most soft colours would become greys.
/** @param {number[]} rgb */
function nearest([red = 0, green = 0, blue = 0]) {
  const most = Math.max(red, green, blue);
  const least = Math.min(red, green, blue);
  if (most - least < 48) return [0, 8, 7, 15][Math.min(3, Math.floor(most / 64))];
  const middle = (most + least) / 2;
  const bits = [red, green, blue].map((one, bit) => (one > middle ? 1 << bit : 0));
  return bits[0] + bits[1] + bits[2] + (most > 191 ? 8 : 0);
}

/** @param {Style} style */
export function classesOf({ bold, italic, underline, ink, ground }) {
  const names = [
    bold && "bold", italic && "italic", underline && "underline",
    ink !== null && `ink-${ink}`,
    // As a background, a bright and a dark colour have the same tint.
    ground !== null && `ground-${ground % 8}`,
  ];
  return names.filter(Boolean).map((name) => `ansi-${name}`).join(" ");
}
