// The command ring: a view of Python's memory, which memory growth detaches.

let view = ring.getBuffer("u32");

export function ringWords() {
  if (view.data.length === 0) {
    view.release();
    view = ring.getBuffer("u32");
  }
  return view.data;
}

export function releaseRing() {
  view.release();
}
