// Elementwise kernels. The host defines A, B, C, R as the types of the operands and the result,
// OPERANDS as the number of operands, and RESULT as an expression of a, b, c. REFUSED, if defined,
// is a statement that returns from the kernel if the operands have no result.
#if OPERANDS == 0
#define INPUTS
#elif OPERANDS == 1
#define INPUTS , __global const A* pa, long a0
#elif OPERANDS == 2
#define INPUTS , __global const A* pa, long a0, __global const B* pb, long b0
#else
#define INPUTS \
  , __global const A* pa, long a0, __global const B* pb, long b0, __global const C* pc, long c0
#endif
#ifndef REFUSED
#define REFUSED
#endif

#if OPERANDS == 1
#define LOAD(i, j, k) const A a = pa[a0 + (i)];
#elif OPERANDS == 2
#define LOAD(i, j, k) const A a = pa[a0 + (i)]; const B b = pb[b0 + (j)];
#elif OPERANDS == 3
#define LOAD(i, j, k)         \
  const A a = pa[a0 + (i)];   \
  const B b = pb[b0 + (j)];   \
  const C c = pc[c0 + (k)];
#endif

__kernel void linear(long n, __global Fault* fault, ulong op, __global R* py, long y0 INPUTS) {
  const long i_ = get_global_id(0);
  if (i_ >= n) return;
  LOAD(i_, i_, i_)
  REFUSED
  py[y0 + i_] = RESULT;
}

__kernel void strided(long n, Layout l, __global Fault* fault, ulong op, __global R* py,
                      long y0 INPUTS) {
  const long i_ = get_global_id(0);
  if (i_ >= n) return;
#if OPERANDS == 1
  OFFSETS2(l, i_, iy, ia)
  LOAD(ia, 0, 0)
#elif OPERANDS == 2
  OFFSETS3(l, i_, iy, ia, ib)
  LOAD(ia, ib, 0)
#else
  OFFSETS4(l, i_, iy, ia, ib, ic)
  LOAD(ia, ib, ic)
#endif
  REFUSED
  py[y0 + iy] = RESULT;
}
