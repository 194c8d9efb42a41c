/** Scrolls a box to the end of its text like a terminal, unless the reader scrolls away. */

/** Browsers round scroll positions: pixels. */
const SLACK = 2;

class Follower {
  #box;
  /** The last scroll position set here. */
  #last = 0;
  #due = false;
  following = true;

  constructor(box) {
    this.#box = box;
    box.addEventListener("scroll", () => this.#scrolled(), { passive: true });
  }

  // Text may arrive between a scroll and its event, so only scrolling up shows the reader's intent.
  #scrolled() {
    const { scrollTop, clientHeight, scrollHeight } = this.#box;
    if (scrollTop + clientHeight >= scrollHeight - SLACK) this.following = true;
    else if (scrollTop < this.#last) this.following = false;
    this.#last = scrollTop;
  }

  /** Once per frame, however much text arrives in it. */
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

/** Follow the end of new text in `box`. */
export function followEnd(box) {
  followerOf(box).follow();
}

/** Follow the end in `box`, which replaces `before`, scrolled to `top`. */
export function followEndFrom(box, before, top) {
  const follower = followerOf(box);
  follower.following = followerOf(before).following;
  if (!follower.following) follower.scrollTo(top);
  follower.follow();
}
