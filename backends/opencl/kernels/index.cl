// Reading and writing elements selected by an int64 tensor.
__kernel void gather(long n, Layout l, long length, long step, __global Fault* fault, ulong op,
                     __global T* y, long y0, __global const T* x, long x0, __global const long* index,
                     long i0) {
  const long i = get_global_id(0);
  if (i >= n) return;
  OFFSETS3(l, i, iy, ix, ii)
  const long at = index[i0 + ii];
  if (at < 0 || at >= length) {
    report(fault, FAULT_INDEX, op, at, length);
    return;
  }
  y[y0 + iy] = x[x0 + ix + at * step];
}

// One work item per line along dim, which may refer to a place twice: the last store wins, and sums
// are in order. ADD is defined for scatter_add.
#ifdef ADD
#define STORE(place, v) place = wrap_add(place, v)
#else
#define STORE(place, v) place = v
#endif
__kernel void scatter(long lines, Layout l, long count, long index_step, long src_step, long length,
                      long step, __global Fault* fault, ulong op, __global T* y, long y0,
                      __global const long* index, long i0, __global const T* src, long s0) {
  const long i = get_global_id(0);
  if (i >= lines) return;
  OFFSETS3(l, i, iy, ii, is)
  for (long j = 0; j < count; ++j) {
    const long at = index[i0 + ii + j * index_step];
    if (at < 0 || at >= length) {
      report(fault, FAULT_INDEX, op, at, length);
      continue;
    }
    STORE(y[y0 + iy + at * step], src[s0 + is + j * src_step]);
  }
}
