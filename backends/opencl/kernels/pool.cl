// Maximum pooling in three spatial dims.
typedef struct {
  long planes;
  long in[3], out[3], window[3], stride[3], padding[3], dilation[3];
  int adaptive;
  int unused;
} Pool;

// The elements of window o along a dim: begin, begin + step, ... before end.
void range(Pool p, int d, long o, long* begin, long* end, long* step) {
  if (p.adaptive) {
    *begin = o * p.in[d] / p.out[d];
    *end = ((o + 1) * p.in[d] + p.out[d] - 1) / p.out[d];
    *step = 1;
    return;
  }
  *step = p.dilation[d];
  *begin = o * p.stride[d] - p.padding[d];
  const long last = *begin + *step * (p.window[d] - 1) + 1;
  if (*begin < 0) *begin += (-*begin + *step - 1) / *step * *step;
  *end = min(last, p.in[d]);
}

// The last NaN wins; otherwise the first of equals. index may be null.
__kernel void max_pool(long n, Pool p, __global const T* x, long x0, __global T* y, long y0,
                       __global int* index, long i0) {
  const long i = get_global_id(0);
  if (i >= n) return;
  const long outs = p.out[0] * p.out[1] * p.out[2], size = p.in[0] * p.in[1] * p.in[2];
  const long plane = i / outs, place = i % outs;
  const long o[3] = {place / (p.out[1] * p.out[2]), place / p.out[2] % p.out[1], place % p.out[2]};
  long begin[3], end[3], step[3];
  for (int d = 0; d < 3; ++d) range(p, d, o[d], begin + d, end + d, step + d);
  __global const T* px = x + x0 + plane * size;
  long best = (begin[0] * p.in[1] + begin[1]) * p.in[2] + begin[2];
  T v = px[best];
  for (long d = begin[0]; d < end[0]; d += step[0]) {
    for (long h = begin[1]; h < end[1]; h += step[1]) {
      for (long w = begin[2]; w < end[2]; w += step[2]) {
        const long at = (d * p.in[1] + h) * p.in[2] + w;
        const T e = px[at];
        if (e > v || e != e) {
          v = e;
          best = at;
        }
      }
    }
  }
  y[y0 + i] = v;
  if (index) index[i0 + i] = (int)best;
}

// One work item per plane, in which windows may overlap.
__kernel void max_pool_grad(long planes, long outs, long size, __global Fault* fault, ulong op,
                            __global const T* dy, long dy0,
                            __global const int* index, long i0, __global T* dx, long dx0) {
  const long plane = get_global_id(0);
  if (plane >= planes) return;
  __global T* px = dx + dx0 + plane * size;
  for (long i = 0; i < size; ++i) px[i] = 0;
  for (long o = 0; o < outs; ++o) {
    const long at = index[i0 + plane * outs + o];
    if (at < 0 || at >= size) {
      report(fault, FAULT_INDEX, op, at, size);
      continue;
    }
    px[at] += dy[dy0 + plane * outs + o];
  }
}
