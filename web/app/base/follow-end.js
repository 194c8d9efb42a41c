/** Keeps the end of what is printed in view, as a terminal does, unless its reader scrolls away. */

/** Browsers round what is scrolled: pixels. */
const SLACK = 2;

class Follower {
  #box;
  /** Where the box was scrolled to last. */
  #last = 0;
  #due = false;
  following = true;

  constructor(box) {
    this.#box = box;
    box.addEventListener("scroll", () => this.#scrolled(), { passive: true });
  }

  // Text may come between a scroll and its event, so not being at the end tells nothing of the
  // reader: going up does.
  #scrolled() {
    const { scrollTop, clientHeight, scrollHeight } = this.#box;
    if (scrollTop + clientHeight >= scrollHeight - SLACK) this.following = true;
    else if (scrollTop < this.#last) this.following = false;
    this.#last = scrollTop;
  }

  /** Once a frame, however much comes in it. */
  follow() {
    if (this.#due) return;
    this.#due = true;
    requestAnimationFrame(() => {
      this.#due = false;
      if (this.following) this.scrollTo(this.#box.scrollHeight);
    });
  }

  scrollTo(top) {
    this.#box.scrollTop = top;
    this.#last = this.#box.scrollTop;
  }
}

/** @type {WeakMap<Element, Follower>} */
const followers = new WeakMap();

function followerOf(box) {
  const follower = followers.get(box) ?? new Follower(box);
  followers.set(box, follower);
  return follower;
}

/** Text has come into `box`. */
export function followEnd(box) {
  followerOf(box).follow();
}

/** A `box` with later text is on the page, for which `before`, scrolled to `top`, has left it. */
export function followEndFrom(box, before, top) {
  const follower = followerOf(box);
  follower.following = followerOf(before).following;
  if (!follower.following) follower.scrollTo(top);
  follower.follow();
}
