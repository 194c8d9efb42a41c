// The largest of the numbers of a workgroup's THREADS threads, a multiple of 16.

var<workgroup> largest_of_thread: array<u32, THREADS>;

fn largest_of_row(own: vec4u, thread: u32) -> u32 {
  largest_of_thread[thread] = max(max(own.x, own.y), max(own.z, own.w));
  workgroupBarrier();
  var of_some = 0u;
  if (thread < 16u) {
    for (var i = thread; i < THREADS; i += 16u) {
      of_some = max(of_some, largest_of_thread[i]);
    }
  }
  workgroupBarrier();
  if (thread < 16u) {
    largest_of_thread[thread] = of_some;
  }
  workgroupBarrier();
  var found = 0u;
  for (var i = 0u; i < 16u; i++) {
    found = max(found, largest_of_thread[i]);
  }
  return found;
}
