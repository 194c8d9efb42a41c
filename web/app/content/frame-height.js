/** Heights of frames. */

/**
 * Make a frame as high as its content tells, so that only the page scrolls. Content as high as its
 * window would grow forever. To find it, a high frame gets its height after a quiet moment; if the
 * content then grows at once, the frame stays at `most` and scrolls. Exported pages contain this
 * function as text, so it uses nothing outside itself.
 * @param {HTMLIFrameElement & {fit?: {given: number, follows: boolean, timer: any, trial: any}}} frame
 * @param {number} told
 */
export function fitHeight(frame, told, more = 0) {
  const [LEAST, MOST, HIGHEST, QUIET_MS] = [24, 1200 + more, 10_000, 300];
  const fit = frame.fit ??= { given: 0, follows: false, timer: 0, trial: 0 };
  const give = (height) => {
    fit.given = height;
    frame.style.height = `${height}px`;
  };
  clearTimeout(fit.timer);
  if (fit.trial && told > fit.given) fit.follows = true;
  if (told <= MOST || fit.follows) {
    give(Math.min(Math.max(told, LEAST), MOST));
    return;
  }
  if (fit.given < MOST) give(MOST);
  fit.timer = setTimeout(() => {
    give(Math.min(told, HIGHEST));
    clearTimeout(fit.trial);
    fit.trial = setTimeout(() => {
      fit.trial = 0;
    }, QUIET_MS);
  }, QUIET_MS);
}
