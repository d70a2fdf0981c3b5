// Coordinates of true elements: count per chunk, sum the counts, write.
__kernel void count_true(long n, long chunk, long chunks, __global const uchar* x, long x0,
                         __global long* counts, long c0) {
  const long c = get_global_id(0);
  if (c >= chunks) return;
  long count = 0;
  const long end = min(n, (c + 1) * chunk);
  for (long i = c * chunk; i < end; ++i) count += x[x0 + i] != 0;
  counts[c0 + c] = count;
}
__kernel void sum_counts(long chunks, __global long* counts, long c0) {
  if (get_global_id(0) != 0) return;
  long sum = 0;
  for (long c = 0; c < chunks; ++c) {
    const long count = counts[c0 + c];
    counts[c0 + c] = sum;
    sum += count;
  }
}
__kernel void write_places(long n, long chunk, long chunks, Layout l, long total, int dims,
                           __global const uchar* x, long x0, __global const long* counts, long c0,
                           __global long* y, long y0) {
  const long c = get_global_id(0);
  if (c >= chunks) return;
  long at = counts[c0 + c];
  const long end = min(n, (c + 1) * chunk);
  for (long i = c * chunk; i < end; ++i) {
    if (x[x0 + i] == 0 || at >= total) continue;
    long rest = i;
    for (int d = dims - 1; d >= 0; --d) {
      y[y0 + at * dims + d] = rest % l.sizes[d];
      rest /= l.sizes[d];
    }
    ++at;
  }
}
