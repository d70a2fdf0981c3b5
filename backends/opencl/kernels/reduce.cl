// Reductions. The host defines V as the accumulator type, NOTHING, ELEMENT(x), MERGE(a, b) and
// FINISH(v, count), and Y as the result type; or MOMENTS for variances.
#ifdef MOMENTS
typedef struct {
  Wide count, mean, squares;
} V;
V merge(V a, V b) {
  if (a.count == 0) return b;
  if (b.count == 0) return a;
  V v;
  v.count = a.count + b.count;
  const Wide share = b.count / v.count, apart = b.mean - a.mean;
  v.mean = a.mean + apart * share;
  v.squares = a.squares + b.squares + apart * apart * (a.count * share);
  return v;
}
V element(T e) {
  V v;
  v.count = 1;
  v.mean = (Wide)e;
  v.squares = v.mean - v.mean;  // NaN for infinities and NaN
  return v;
}
V nothing() {
  V v;
  v.count = 0;
  v.mean = 0;
  v.squares = 0;
  return v;
}
#define NOTHING nothing()
#define ELEMENT(x) element(x)
#define MERGE(a, b) merge(a, b)
#else
#define NOTHING ((V)FIRST)
#endif

// Fold elements [begin, end) of output o: those at `base` plus the offsets of `reduced`.
V fold(__global const T* x, long base, Layout reduced, long begin, long end) {
  V v = NOTHING;
  const int last = (int)reduced.dims - 1;
  const long inner = last < 0 ? 1 : reduced.sizes[last];
  const long step = last < 0 ? 0 : reduced.strides[0][last];
  Layout outer = reduced;
  outer.dims = last < 0 ? 0 : last;
  long i = begin;
  while (i < end) {
    const long row = i / inner;
    long j = i - row * inner;
    const long stop = min(inner, j + (end - i));
    OFFSETS1(outer, row, at)
    __global const T* p = x + base + at;
    i += stop - j;
    for (; j < stop; ++j) v = MERGE(v, ELEMENT(p[j * step]));
  }
  return v;
}

// One work item per output.
__kernel void whole(long outputs, long count, Layout kept, Layout reduced, __global const T* x, long x0,
                    __global Y* y, long y0) {
  const long o = get_global_id(0);
  if (o >= outputs) return;
  OFFSETS1(kept, o, base)
  const V v = fold(x, x0 + base, reduced, 0, count);
  y[y0 + o] = FINISH(v, count);
}

// One work item per part of each output; finish() merges the parts.
__kernel void parts(long outputs, long count, long each, long parts, Layout kept, Layout reduced,
                    __global const T* x, long x0, __global uchar* memory, long m0) {
  const long i = get_global_id(0);
  if (i >= outputs * parts) return;
  const long o = i / parts, part = i % parts;
  OFFSETS1(kept, o, base)
  ((__global V*)(memory + m0))[i] = fold(x, x0 + base, reduced, part * each, min(count, (part + 1) * each));
}
__kernel void finish(long outputs, long count, long parts, __global const uchar* memory, long m0,
                     __global Y* y, long y0) {
  const long o = get_global_id(0);
  if (o >= outputs) return;
  __global const V* kept_values = (__global const V*)(memory + m0);
  V v = NOTHING;
  for (long p = 0; p < parts; ++p) v = MERGE(v, kept_values[o * parts + p]);
  y[y0 + o] = FINISH(v, count);
}
