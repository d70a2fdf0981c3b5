// Kernels on lines: one work item per line processes its elements in order.

// Compute position and value of the extreme; value may be null.
__kernel void arg_reduce(long lines, long length, long step, int largest, Layout l,
                         __global const T* x, long x0, __global long* index, long i0,
                         __global T* value, long v0) {
  const long i = get_global_id(0);
  if (i >= lines) return;
  OFFSETS3(l, i, ix, ii, iv)
  __global const T* p = x + x0 + ix;
  long best = 0;
  T v = p[0];
  for (long j = 1; j < length; ++j) {
    const T e = p[j * step];
    if (beats(e, v, largest)) {
      v = e;
      best = j;
    }
  }
  index[i0 + ii] = best;
  if (value) value[v0 + iv] = v;
}

// The host defines V, FIRST and COMBINE(a, b).
#ifdef COMBINE
#if T_FLOAT
Wide log_add(Wide a, Wide b) {
  if (a == b && isinf(a)) return a;
  const int first = a > b || a != a;
  const Wide high = first ? a : b, low = first ? b : a;
  return high + log1p(exp(low - high));
}
#endif
__kernel void scan(long lines, long length, long x_step, long y_step, int reverse, int exclusive,
                   Layout l, __global const T* x, long x0, __global T* y, long y0) {
  const long i = get_global_id(0);
  if (i >= lines) return;
  OFFSETS2(l, i, ix, iy)
  V total = (V)FIRST;
  for (long k = 0; k < length; ++k) {
    const long j = reverse ? length - 1 - k : k;
    const V before = total;
    total = COMBINE(total, (V)x[x0 + ix + j * x_step]);
    y[y0 + iy + j * y_step] = (T)(exclusive ? before : total);
  }
}
#endif
