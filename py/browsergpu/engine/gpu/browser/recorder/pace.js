// How far Python is ahead of the GPU. Queued GPU work cannot be cancelled, so an interrupt would
// have to wait for it. Therefore Python waits before it adds to a moment's work.
//
// The GPU's time is predicted, because WebGPU reports it only afterwards and only while Python
// yields the thread. The time of a workgroup is learned for each pipeline, since loops repeat their
// operations. A limit on commands or bytes would be too high for matrix products and too low for
// small operations. A prediction holds until an observation contradicts it: the GPU took at most
// the time from the first submit until all was known to be done, and at least the time that Python
// waited for it. A prediction that is too high costs a wait of a millisecond, which corrects it.

const MOST_AHEAD = 250; // ms: short for an interrupt, long compared with the GPU's idle time
const WORTH_SENDING = 20; // ms: the GPU should start by then, as Python may be busy
const MOST_UNTIMED = 3; // commands with unknown times
const ROUND_TRIP = 2; // ms until the GPU's end is reported
const LEAST_TIME = 0.1; // ms, the possible resolution of the clock

/** @type {Set<Pace>} of commands that the GPU is not known to have finished */
const busy = new Set();
let ahead = 0; // predicted ms of the unfinished commands, except those with unknown times
let unsent = 0; // the part of it for unsubmitted commands
let isCrowded = false; // whether there are too many commands with unknown times
let sentAt = 0; // time of the first submit of unfinished commands; 0: none
let waitsSince = 0; // time since which Python waits for them; 0: it does not wait

/** @returns {Pace} */
export function newPace() {
  return { each: 0, open: 0, sent: 0, untimed: 0 };
}

// Notes a command that waits for its pipeline.
/** @param {Pace} pace */
export function noteAsked(pace) {
  if (pace.each === 0 && ++pace.untimed > MOST_UNTIMED) isCrowded = true;
}

// Notes an encoded command.
/** @param {Pace} pace @param {number} size workgroups, or bytes @param {boolean} hasWaited */
export function noteEncoded(pace, size, hasWaited) {
  busy.add(pace);
  pace.open += size;
  ahead += size * pace.each;
  unsent += size * pace.each;
  if (!hasWaited) noteAsked(pace);
}

// Notes that the encoded commands are being submitted.
export function noteSent() {
  if (busy.size > 0) sentAt ||= performance.now();
  for (const pace of busy) {
    pace.sent += pace.open;
    pace.open = 0;
  }
  unsent = 0;
}

// Notes whether Python yields the thread until the submitted work is done.
/** @param {boolean} waits */
export function noteWaiting(waits) {
  waitsSince = waits ? performance.now() : 0;
}

// Notes that all submitted work is done.
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

// Each pipeline with an unknown time gets all the remaining time, which is too much if there are
// several.
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

// Whether the encoded work is long, even if it has few commands.
export function isWorthSending() {
  return unsent > WORTH_SENDING;
}
