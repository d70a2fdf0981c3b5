// Prefix of every program. The host defines, for the dtype of the operands:
//   T          the element type; bool is uchar, 0 or 1
//   T_FLOAT, T_SIGNED, T_BOOL, T_BITS
//   HAS_DOUBLE 1 if the device supports double
#if HAS_DOUBLE
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
// Each operation rounds separately, so that devices agree.
#pragma OPENCL FP_CONTRACT OFF

#if HAS_DOUBLE
typedef double Wide;  // sums and products of floats
#else
typedef float Wide;
#endif

#define MOST_DIMS 6
// Sizes, and strides of up to four operands, in elements; the last dim varies fastest.
typedef struct {
  long dims;
  long sizes[MOST_DIMS];
  long strides[4][MOST_DIMS];
} Layout;

// A fault found by a kernel: it skips the element, and the host throws when it next waits.
typedef struct {
  int kind;
  int unused;
  ulong op;
  long got;
  long limit;
} Fault;
enum { FAULT_INDEX = 1, FAULT_DIVISOR = 2, FAULT_QUOTIENT = 3 };

void report(__global Fault* fault, int kind, ulong op, long got, long limit) {
  if (atomic_cmpxchg((volatile __global int*)&fault->kind, 0, kind) != 0) return;
  fault->op = op;
  fault->got = got;
  fault->limit = limit;
}

// Declare the offsets of element i of a layout, one per operand. `add` contains no commas.
#define WALK(l, i, add)                               \
  {                                                   \
    long rest_ = (i);                                 \
    for (int d_ = (int)l.dims - 1; d_ >= 0; --d_) {   \
      const long at_ = rest_ % l.sizes[d_];           \
      rest_ /= l.sizes[d_];                           \
      add                                             \
    }                                                 \
  }
#define ADD1(l, a) a += at_ * l.strides[0][d_];
#define ADD2(l, a, b) ADD1(l, a) b += at_ * l.strides[1][d_];
#define ADD3(l, a, b, c) ADD2(l, a, b) c += at_ * l.strides[2][d_];
#define ADD4(l, a, b, c, e) ADD3(l, a, b, c) e += at_ * l.strides[3][d_];
#define OFFSETS1(l, i, a) long a = 0; WALK(l, i, ADD1(l, a))
#define OFFSETS2(l, i, a, b) long a = 0, b = 0; WALK(l, i, ADD2(l, a, b))
#define OFFSETS3(l, i, a, b, c) long a = 0, b = 0, c = 0; WALK(l, i, ADD3(l, a, b, c))
#define OFFSETS4(l, i, a, b, c, e) long a = 0, b = 0, c = 0, e = 0; WALK(l, i, ADD4(l, a, b, c, e))

#define CHEBYSHEV_SUM(space)                                                          \
  Wide __attribute__((overloadable)) chebyshev_sum_of(space const Wide* c, int n, Wide t) { \
    Wide b1 = 0, b2 = 0;                                                              \
    for (int k = n - 1; k > 0; --k) {                                                 \
      const Wide b0 = 2 * t * b1 - b2 + c[k];                                         \
      b2 = b1;                                                                        \
      b1 = b0;                                                                        \
    }                                                                                 \
    return t * b1 - b2 + c[0];                                                        \
  }
CHEBYSHEV_SUM(__private)
CHEBYSHEV_SUM(__constant)
#undef CHEBYSHEV_SUM
#define chebyshev_sum(c, t) chebyshev_sum_of(c, sizeof(c) / sizeof(c[0]), t)
