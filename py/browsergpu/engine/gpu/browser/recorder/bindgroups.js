// Bind groups: one for each layout and buffers, cached until one of the buffers is destroyed.
import { buffers, bufferOf } from "./buffers.js";
import { counters } from "./counters.js";
import { layouts } from "./layouts.js";

const MOST_GROUPS = 4096; // then the cache is cleared: creating a group takes microseconds

export let liveGroups = 0;

function forgetGroups() {
  for (const shared of layouts.values()) shared.groups.clear();
  for (const entry of buffers.values()) entry.groups.clear();
  liveGroups = 0;
}

// Removes the groups of a buffer that is being destroyed.
/** @param {BufferEntry} entry */
export function forgetGroupsOf(entry) {
  for (const cached of entry.groups) {
    cached.shared.groups.delete(cached.key);
    for (const other of cached.entries) if (other !== entry) other.groups.delete(cached);
    liveGroups -= 1;
  }
}

// The buffers' ids as one number, or as text if an id is too large for that or if the key includes
// sizes.
/** @param {Step} step @param {Uint32Array} words @param {number} at @returns {GroupKey} */
function groupKey({ bindings, keyWidth, sized, bindingWords }, words, at) {
  if (sized) return words.subarray(at, at + bindingWords).join();
  let key = 0;
  for (let i = at; i < at + bindings; i++) {
    if (words[i] >= keyWidth) return words.subarray(at, at + bindings).join();
    key = key * keyWidth + words[i];
  }
  return key;
}

/** @param {Step} step @param {Uint32Array} words @param {number} at where the ids begin */
export function bindGroupFor(step, words, at) {
  const { shared } = step;
  const key = groupKey(step, words, at);
  let cached = shared.groups.get(key);
  if (cached === undefined) {
    if (liveGroups >= MOST_GROUPS) forgetGroups();
    const entries = shared.bindings.map((_, i) => bufferOf(words[at + i]));
    const group = device.createBindGroup({
      layout: shared.layout,
      label: shared.layout.label,
      entries: shared.bindings.map(({ binding }, i) => ({
        binding,
        resource: {
          buffer: entries[i].buffer,
          size: (step.sized && 4 * words[at + step.bindings + i]) || undefined,
        },
      })),
    });
    cached = { group, entries, batch: -1, shared, key };
    shared.groups.set(key, cached);
    for (const entry of entries) entry.groups.add(cached);
    liveGroups += 1;
    counters.bind_groups_created += 1;
  }
  return cached;
}
