// Notes the first fault that a kernel finds in `faults`, which the kernel binds: the number of its
// check, and two more words.
fn note_fault(number: u32, words: vec2u) {
  loop {
    let found = atomicCompareExchangeWeak(&faults[0], 0u, number);
    if (found.exchanged) {
      atomicStore(&faults[1], words.x);
      atomicStore(&faults[2], words.y);
      break;
    }
    if (found.old_value != 0u) {
      break;
    }
  }
}
