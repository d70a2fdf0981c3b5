// im2col and its inverse, for three spatial dims.
typedef struct {
  long images, channels;      // channels: of all groups together
  long in[3], out[3], window[3], stride[3], padding[3], dilation[3];
} Windows;

// columns [images, channels, window..., out...]; if `last` [images, groups, out..., channels /
// groups, window...].
__kernel void to_columns(long n, Windows w, int last, long groups, __global const T* x, long x0,
                         __global T* columns, long c0) {
  const long i = get_global_id(0);
  if (i >= n) return;
  const long outs = w.out[0] * w.out[1] * w.out[2], taps = w.window[0] * w.window[1] * w.window[2];
  long image, channel, tap, place;
  if (last) {
    const long each = w.channels / groups;
    long rest = i;
    tap = rest % taps;
    rest /= taps;
    const long c = rest % each;
    rest /= each;
    place = rest % outs;
    rest /= outs;
    channel = rest % groups * each + c;
    image = rest / groups;
  } else {
    long rest = i;
    place = rest % outs;
    rest /= outs;
    tap = rest % taps;
    rest /= taps;
    channel = rest % w.channels;
    image = rest / w.channels;
  }
  long at = 0;
  int inside = 1;
  long rest_tap = tap, rest_place = place, scale = 1;
  for (int d = 2; d >= 0; --d) {
    const long t = rest_tap % w.window[d], o = rest_place % w.out[d];
    rest_tap /= w.window[d];
    rest_place /= w.out[d];
    const long position = o * w.stride[d] - w.padding[d] + t * w.dilation[d];
    inside &= position >= 0 && position < w.in[d];
    at += position * scale;
    scale *= w.in[d];
  }
  columns[c0 + i] = inside ? x[x0 + (image * w.channels + channel) * scale + at] : (T)0;
}

// x = sum over columns [images, channels, window..., out...] of the copies of each element.
__kernel void from_columns(long n, Windows w, __global const T* columns, long c0, __global T* x, long x0) {
  const long i = get_global_id(0);
  if (i >= n) return;
  const long size = w.in[0] * w.in[1] * w.in[2], outs = w.out[0] * w.out[1] * w.out[2];
  const long taps = w.window[0] * w.window[1] * w.window[2];
  const long plane = i / size, at = i % size;
  const long position[3] = {at / (w.in[1] * w.in[2]), at / w.in[2] % w.in[1], at % w.in[2]};
  Wide sum = 0;
  for (long tap = 0; tap < taps; ++tap) {
    const long t[3] = {tap / (w.window[1] * w.window[2]), tap / w.window[2] % w.window[1],
                       tap % w.window[2]};
    long place = 0;
    int inside = 1;
    for (int d = 0; d < 3; ++d) {
      const long from = position[d] + w.padding[d] - t[d] * w.dilation[d];
      const long o = from / w.stride[d];
      inside &= from >= 0 && from % w.stride[d] == 0 && o < w.out[d];
      place = place * w.out[d] + o;
    }
    if (inside) sum += columns[c0 + (plane * taps + tap) * outs + place];
  }
  x[x0 + i] = (T)sum;
}

// A window with an infinity next to padding gives NaN in a product of columns, but not in the sum
// without padding. The following kernels recompute non-finite elements without padding.
#define PLACE(w, at, inside, o, t)                                      \
  long at = 0;                                                          \
  int inside = 1;                                                       \
  for (int d_ = 0; d_ < 3; ++d_) {                                      \
    const long p_ = o[d_] * w.stride[d_] - w.padding[d_] + t[d_] * w.dilation[d_]; \
    inside &= p_ >= 0 && p_ < w.in[d_];                                 \
    at = at * w.in[d_] + p_;                                            \
  }
__kernel void mend_result(long n, Windows w, long filters, long groups, __global const T* x, long x0,
                          __global const T* weight, long w0, __global const T* bias, long b0,
                          __global T* y, long y0) {
  const long i = get_global_id(0);
  if (i >= n || isfinite(y[y0 + i])) return;
  const long outs = w.out[0] * w.out[1] * w.out[2], taps = w.window[0] * w.window[1] * w.window[2];
  const long size = w.in[0] * w.in[1] * w.in[2], each = w.channels / groups;
  const long place = i % outs, k = i / outs % filters, image = i / outs / filters;
  const long o[3] = {place / (w.out[1] * w.out[2]), place / w.out[2] % w.out[1], place % w.out[2]};
  Wide sum = bias ? (Wide)bias[b0 + k] : 0;
  for (long c = 0; c < each; ++c) {
    const long channel = k / (filters / groups) * each + c;
    for (long tap = 0; tap < taps; ++tap) {
      const long t[3] = {tap / (w.window[1] * w.window[2]), tap / w.window[2] % w.window[1],
                         tap % w.window[2]};
      PLACE(w, at, inside, o, t)
      if (inside) {
        sum += (Wide)x[x0 + (image * w.channels + channel) * size + at] *
               (Wide)weight[w0 + (k * each + c) * taps + tap];
      }
    }
  }
  y[y0 + i] = (T)sum;
}
__kernel void mend_weight_grad(long n, Windows w, long filters, long groups, __global const T* x, long x0,
                               __global const T* dy, long dy0, __global T* dw, long dw0) {
  const long i = get_global_id(0);
  if (i >= n || isfinite(dw[dw0 + i])) return;
  const long outs = w.out[0] * w.out[1] * w.out[2], taps = w.window[0] * w.window[1] * w.window[2];
  const long size = w.in[0] * w.in[1] * w.in[2], each = w.channels / groups;
  const long tap = i % taps, c = i / taps % each, k = i / taps / each;
  const long channel = k / (filters / groups) * each + c;
  const long t[3] = {tap / (w.window[1] * w.window[2]), tap / w.window[2] % w.window[1], tap % w.window[2]};
  Wide sum = 0;
  for (long image = 0; image < w.images; ++image) {
    for (long place = 0; place < outs; ++place) {
      const long o[3] = {place / (w.out[1] * w.out[2]), place / w.out[2] % w.out[1], place % w.out[2]};
      PLACE(w, at, inside, o, t)
      if (inside) {
        sum += (Wide)x[x0 + (image * w.channels + channel) * size + at] *
               (Wide)dy[dy0 + (image * filters + k) * outs + place];
      }
    }
  }
  dw[dw0 + i] = (T)sum;
}
