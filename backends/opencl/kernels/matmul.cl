// y[g] [M,N] = sum over r of a[g,r] [M,K] b[g,r] [K,N] + bias of rows or y. The host defines S as
// the type of the sums, S16 as its vector, and TO_S(v), TO_S16(v), FROM_S(v), FROM_S16(v).
#define ROWS 8
typedef struct {
  long M, N, K, batches, repeats, period;
  long a_batch, a_period, a_repeat, a_row, a_step;  // strides of a; a_period for g % period
  long b_batch, b_repeat, b_step;
  long accumulate;  // true if sums start from y
} Product;

// Computes blocks of ROWS x 16; b's columns are adjacent.
__kernel void blocks(Product p, __global T* y, long y0, __global const T* a, long a0,
                     __global const T* b, long b0, __global const T* bias, long bias0) {
  const long column = get_global_id(0) * 16, blocks_of_rows = (p.M + ROWS - 1) / ROWS;
  const long g = get_global_id(1) / blocks_of_rows;
  const long row = get_global_id(1) % blocks_of_rows * ROWS;
  if (column >= p.N || g >= p.batches) return;
  const long member = g % p.period;
  const long rows = min((long)ROWS, p.M - row), columns = min((long)16, p.N - column);
  __global const T* pa = a + a0 + g / p.period * p.a_batch + member * p.a_period + row * p.a_row;
  __global const T* pb = b + b0 + g * p.b_batch + column;
  __global T* py = y + y0 + (g * p.M + row) * p.N + column;
  if (rows == ROWS && columns == 16) {
    S16 s[ROWS];
    for (int i = 0; i < ROWS; ++i) {
      s[i] = (S16)(bias ? TO_S(bias[bias0 + member * p.M + row + i]) : (S)0);
      if (p.accumulate) s[i] = TO_S16(vload16(0, py + i * p.N));
    }
    for (long r = 0; r < p.repeats; ++r) {
      for (long k = 0; k < p.K; ++k) {
        const S16 v = TO_S16(vload16(0, pb + r * p.b_repeat + k * p.b_step));
#pragma unroll
        for (int i = 0; i < ROWS; ++i) {
          s[i] = MULTIPLY_ADD((S16)TO_S(pa[r * p.a_repeat + k * p.a_step + i * p.a_row]), v, s[i]);
        }
      }
    }
    for (int i = 0; i < ROWS; ++i) vstore16(FROM_S16(s[i]), 0, py + i * p.N);
    return;
  }
  for (long i = 0; i < rows; ++i) {
    S s[16];
    for (long j = 0; j < columns; ++j) {
      s[j] = p.accumulate ? TO_S(py[i * p.N + j])
             : bias       ? TO_S(bias[bias0 + member * p.M + row + i])
                          : (S)0;
    }
    for (long r = 0; r < p.repeats; ++r) {
      for (long k = 0; k < p.K; ++k) {
        const S u = TO_S(pa[r * p.a_repeat + k * p.a_step + i * p.a_row]);
        __global const T* line = pb + r * p.b_repeat + k * p.b_step;
        for (long j = 0; j < columns; ++j) s[j] = MULTIPLY_ADD(u, TO_S(line[j]), s[j]);
      }
    }
    for (long j = 0; j < columns; ++j) py[i * p.N + j] = FROM_S(s[j]);
  }
}
