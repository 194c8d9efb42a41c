// How far Python is ahead of the GPU. What is in the GPU's queue cannot be taken back, so an
// interrupt would have to wait for it: Python waits itself, before it adds to a moment's work.
//
// How long the GPU will take is foretold, since WebGPU tells it only afterwards, and only while
// Python lets go of the thread. It is learnt for each pipeline, as the time of a workgroup, since a
// loop repeats what it has done; a bound on commands or bytes would be too much for products and too
// little for small things. It is believed until what is seen contradicts it: the GPU took no longer
// than from the first submit to the moment when all was known to be done, and no less than Python has
// waited for it. A guess that is too high costs a wait of a millisecond, which corrects it.

const MOST_AHEAD = 250; // ms: short for who interrupts, long beside the moment that the GPU is idle
const WORTH_SENDING = 20; // ms: the GPU begins, while Python may have other things to do
const MOST_UNTIMED = 3; // commands whose time nothing is known of
const ROUND_TRIP = 2; // ms that the news of the GPU's end may take
const LEAST_TIME = 0.1; // ms, as coarse as the clock may be

/** @type {Set<Pace>} of commands that the GPU is not known to have done */
const busy = new Set();
let ahead = 0; // ms that they will take, without those that nothing is known of
let unsent = 0; // ms of these that those will which were not sent
let isCrowded = false; // with these
let sentAt = 0; // when the first of them was sent; 0: none was
let waitsSince = 0; // since when Python waits for them; 0: it does not

/** @returns {Pace} */
export function newPace() {
  return { each: 0, open: 0, sent: 0, untimed: 0 };
}

// A command that waits for its pipeline.
/** @param {Pace} pace */
export function noteAsked(pace) {
  if (pace.each === 0 && ++pace.untimed > MOST_UNTIMED) isCrowded = true;
}

// A command that is encoded.
/** @param {Pace} pace @param {number} size workgroups, or bytes @param {boolean} hasWaited */
export function noteEncoded(pace, size, hasWaited) {
  busy.add(pace);
  pace.open += size;
  ahead += size * pace.each;
  unsent += size * pace.each;
  if (!hasWaited) noteAsked(pace);
}

// What was encoded is being sent.
export function noteSent() {
  if (busy.size > 0) sentAt ||= performance.now();
  for (const pace of busy) {
    pace.sent += pace.open;
    pace.open = 0;
  }
  unsent = 0;
}

// Python lets go of the thread until what was sent is done, or does so no more.
/** @param {boolean} waits */
export function noteWaiting(waits) {
  waitsSince = waits ? performance.now() : 0;
}

// All that was sent is done.
export function noteDone() {
  isCrowded = false;
  if (sentAt === 0) return;
  const now = performance.now();
  const least = waitsSince === 0 ? 0 : now - waitsSince - ROUND_TRIP;
  learn([...busy].filter(({ sent }) => sent > 0), least, Math.max(now - sentAt, LEAST_TIME));
  sentAt = 0;
  ahead = unsent;
  for (const pace of busy) {
    pace.sent = 0;
    if (pace.open === 0) busy.delete(pace);
  }
}

// Of those that nothing is known of, each is given all the time: too much, but for one of them.
/** @param {Pace[]} done @param {number} least ms that they took @param {number} most */
function learn(done, least, most) {
  const foretold = done.reduce((sum, { sent, each }) => sum + sent * each, 0);
  const unknown = done.filter(({ each }) => each === 0);
  if (unknown.length > 0) {
    for (const pace of unknown) pace.each = Math.max(most - foretold, LEAST_TIME) / pace.sent;
  } else {
    const seen = Math.min(Math.max(foretold, least), most);
    for (const pace of done) pace.each *= seen / foretold;
  }
}

export function isAhead() {
  return isCrowded || ahead > MOST_AHEAD;
}

// Whether what is encoded is much, though it may be few commands.
export function isWorthSending() {
  return unsent > WORTH_SENDING;
}
