// T is an unsigned type of the element's size; `bits` holds the element.
__kernel void fill(long n, Layout l, ulong bits, __global T* y, long y0) {
  const long i = get_global_id(0);
  if (i >= n) return;
  OFFSETS1(l, i, at)
  y[y0 + at] = (T)bits;
}
