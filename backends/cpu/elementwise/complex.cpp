// Elementwise kernels of complex numbers: by an inner loop, else by the function of single numbers,
// else by kernels of real numbers.
#include "complex.h"

#include <ambit/autograd.h>
#include <ambit/backend/complex_functions.h>
#include <ambit/ops/creation.h>

#include "backends/cpu/layout/packing.h"
#include "complex_loops.h"
#include "walk.h"

namespace ambit::cpu {
namespace {

/// Elements that a function of some 20 ns per element computes in the time of kGrain additions.
constexpr int64_t kMapGrain = kGrain / 32;

/// As for_packed_runs, which has no buffers for elements of complex128: those operands are copied
/// if they are not contiguous. The output, operand 0, is only written.
template <size_t N, class F>
void for_complex_runs(const std::array<const Tensor*, N>& operands, int64_t grain, const F& f) {
  bool is_packable = true;
  for (const Tensor* t : operands) is_packable = is_packable && t->dtype() != kComplexDouble;
  if (is_packable) return for_packed_runs<N>(operands, grain, f);
  std::array<Tensor, N> dense;
  const bool is_direct = operands[0]->is_contiguous();
  dense[0] = is_direct ? *operands[0] : empty(operands[0]->sizes(), operands[0]->options());
  for (size_t i = 1; i < N; ++i) dense[i] = operands[i]->contiguous();
  parallel_for(operands[0]->numel(), grain, [&](int64_t begin, int64_t end) {
    std::array<char*, N> p;
    for (size_t i = 0; i < N; ++i) {
      const auto size = static_cast<int64_t>(element_size(dense[i].dtype()));
      p[i] = static_cast<char*>(dense[i].data_ptr()) + begin * size;
    }
    f(end - begin, p);
  });
  if (is_direct) return;
  Tensor y = *operands[0];
  kernels::copy(y, dense[0]);
}

/// Call f(i) for each element of y, of T.
template <class T, class F>
void fill(int64_t n, char* y, const F& f) {
  for (int64_t i = 0; i < n; ++i) reinterpret_cast<T*>(y)[i] = T(f(i));
}

}  // namespace

void complex_unary(Tensor& y, const Tensor& x, UnaryOp op) {
  const NoGradGuard no_grad;
  const bool is_real = op == UnaryOp::abs;
  const bool is_usual = y.dtype() == (is_real ? real_dtype(x.dtype()) : x.dtype());
  if (const UnaryLoop loop = is_usual ? complex_unary_loop(op, x.dtype()) : nullptr) {
    const int64_t grain = op == UnaryOp::square ? kGrain : kMapGrain;
    return for_complex_runs<2>({&y, &x}, grain,
                               [loop](int64_t n, const auto& p) { loop(n, p[0], p[1]); });
  }
  const ComplexMap map = is_usual ? complex_map(op) : nullptr;
  if (!map) return by_parts::unary(y, x, op);
  visit<dtypes::kComplex>(x.dtype(), [&]<class T>() {
    for_complex_runs<2>({&y, &x}, kMapGrain, [map](int64_t n, const auto& p) {
      const T* in = reinterpret_cast<const T*>(p[1]);
      fill<T>(n, p[0], [&](int64_t i) { return map(in[i]); });
    });
  });
}

void complex_binary(Tensor& y, const Tensor& a, const Tensor& b, BinaryOp op) {
  const NoGradGuard no_grad;
  const DType dtype = a.dtype();
  const bool is_usual = y.dtype() == dtype && b.dtype() == dtype;
  if (is_usual && (op == BinaryOp::add || op == BinaryOp::sub)) {
    const BinaryLoop loop = binary_loop(op, real_dtype(dtype));
    return for_complex_runs<3>({&y, &a, &b}, kGrain / 2,
                               [loop](int64_t n, const auto& p) { loop(2 * n, p[0], p[1], p[2]); });
  }
  if (const BinaryLoop loop = is_usual ? complex_binary_loop(op, dtype) : nullptr) {
    const int64_t grain = op == BinaryOp::mul ? kGrain / 2 : kMapGrain;
    return for_complex_runs<3>({&y, &a, &b}, grain,
                               [loop](int64_t n, const auto& p) { loop(n, p[0], p[1], p[2]); });
  }
  const ComplexMap2 map = is_usual ? complex_map(op) : nullptr;
  if (!map) return by_parts::binary(y, a, b, op);
  visit<dtypes::kComplex>(dtype, [&]<class T>() {
    for_complex_runs<3>({&y, &a, &b}, kMapGrain, [map](int64_t n, const auto& p) {
      const T *left = reinterpret_cast<const T*>(p[1]), *right = reinterpret_cast<const T*>(p[2]);
      fill<T>(n, p[0], [&](int64_t i) { return map(left[i], right[i]); });
    });
  });
}

}  // namespace ambit::cpu
