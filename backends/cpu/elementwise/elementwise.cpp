// Elementwise kernels: they choose the inner loop, of *_loops.cpp, once and walk the operands.
#include <ambit/backend/functors.h>
#include <ambit/error.h>
#include <fmt/format.h>

#include "backends/cpu/kernels.h"
#include "backends/cpu/layout/channels_last.h"
#include "backends/cpu/layout/native_scope.h"
#include "backends/cpu/layout/packing.h"
#include "inner_loops.h"

namespace ambit::cpu {
namespace {

/// Maths is worth a second thread earlier than a loop that waits for memory.
template <class Op>
int64_t grain_of(Op op) {
  return row_of(op).cost == Function::Cost::maths ? kGrain / 4 : kGrain;
}

/// Look for divisors that integers do not have, before anything is written.
template <class T>
void check_divisors(const Tensor& a, const Tensor& b, BinaryOp op) {
  const bool overflows = row_of(op).refuses == Function::Refuses::overflow;
  const auto loops = make_loops<2>({&b, &a});
  const T *divisor = b.data_ptr<T>(), *dividend = a.data_ptr<T>();
  parallel_runs(loops, kGrain, [&](int64_t n, const std::array<int64_t, 2>& offsets) {
    const T *d = divisor + offsets[0], *x = dividend + offsets[1];
    const int64_t d_stride = loops.inner_stride(0), x_stride = loops.inner_stride(1);
    bool zero = false, overflow = false;
    for (int64_t i = 0; i < n; ++i) {
      zero |= d[i * d_stride] == 0;
      if constexpr (std::is_signed_v<T>) {
        overflow |= d[i * d_stride] == -1 && x[i * x_stride] == std::numeric_limits<T>::min();
      }
    }
    if (zero) throw Error(fmt::format("{}: expected a divisor that is not zero, got 0", name(op)));
    if (overflow && overflows) {
      throw Error(fmt::format("{}: expected a quotient that fits {}, got {} / -1", name(op),
                              name(a.dtype()), std::numeric_limits<T>::min()));
    }
  });
}

void unary_as_given(Tensor& y, const Tensor& x, UnaryOp op) {
  const UnaryLoop loop = unary_loop(op, x.dtype());
  if (!loop) expect_operand_dtype(op, x.dtype());
  for_packed_runs<2>({&y, &x}, grain_of(op),
                     [loop](int64_t n, const auto& p) { loop(n, p[0], p[1]); });
}

void binary_as_given(Tensor& y, const Tensor& a, const Tensor& b, BinaryOp op) {
  const DType dtype = a.dtype();
  const BinaryLoop loop = binary_loop(op, dtype);
  if (!loop) expect_operand_dtype(op, dtype);
  if (is_integral(dtype) && row_of(op).refuses != Function::Refuses::none) {
    visit<dtypes::kIntegral>(dtype, [&]<class T>() { check_divisors<T>(a, b, op); });
  }
  for_packed_runs<3>({&y, &a, &b}, grain_of(op),
                     [loop](int64_t n, const auto& p) { loop(n, p[0], p[1], p[2]); });
}

/// Whether the result had better follow an operand that lies channels-last.
bool follows(const Tensor& y, const Tensor& x) {
  return is_channels_last(x) && y.dtype() == kFloat32;
}

}  // namespace

void unary(Tensor& y, const Tensor& x, const UnaryOp& op) {
  if (!follows(y, x)) return unary_as_given(y, x, op);
  const NativeScope native({.outputs = {&y}, .inputs = {&x}});
  Tensor out = native.output(0);
  unary_as_given(out, native.input(0), op);
}

void binary(Tensor& y, const Tensor& a, const Tensor& b, const BinaryOp& op) {
  if (!follows(y, a) && !follows(y, b)) return binary_as_given(y, a, b, op);
  const NativeScope native({.outputs = {&y}, .inputs = {&a, &b}, .inputs_follow = true});
  Tensor out = native.output(0);
  binary_as_given(out, native.input(0), native.input(1), op);
}

void compare(Tensor& y, const Tensor& a, const Tensor& b, const CompareOp& op) {
  const BinaryLoop loop = compare_loop(op, a.dtype());
  for_packed_runs<3>({&y, &a, &b}, kGrain,
                     [loop](int64_t n, const auto& p) { loop(n, p[0], p[1], p[2]); });
}

void where(Tensor& y, const Tensor& condition, const Tensor& a, const Tensor& b) {
  const WhereLoop loop = where_loop(element_size(y.dtype()));
  for_packed_runs<4>({&y, &condition, &a, &b}, kGrain,
                     [loop](int64_t n, const auto& p) { loop(n, p[0], p[1], p[2], p[3]); });
}

}  // namespace ambit::cpu
