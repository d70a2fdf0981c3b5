// Elementwise kernels of a tensor and a number. Most use the loops for tensors, with the number
// repeated in a buffer in the L1 cache: one loop per function instead of three.
#include <ambit/backend/functors.h>

#include <algorithm>

#include "backends/cpu/kernels.h"
#include "backends/cpu/layout/native_scope.h"
#include "backends/cpu/layout/packing.h"
#include "division.h"
#include "inner_loops.h"
#include "upcast_runs.h"
#include "walk.h"

namespace ambit::cpu {
namespace {

/// A buffer that repeats a number min(n, kMost) times; loops take at most kMost at a time.
class Repeated {
 public:
  static constexpr int64_t kMost = 512;
  Repeated(const Scalar& number, DType dtype, int64_t n) {
    visit(dtype, [&]<class T>() {
      std::fill_n(static_cast<T*>(static_cast<void*>(elements_)), std::min(n, kMost),
                  arithmetic::element_of<T>(number));
    });
  }
  const char* data() const { return elements_; }

 private:
  alignas(64) char elements_[kMost * 8];
};

/// Call f(n, pointers) as for_packed_runs does, with n at most Repeated::kMost.
template <size_t N, class F>
void for_packed_pieces(const std::array<const Tensor*, N>& operands, int64_t grain, const F& f) {
  std::array<int64_t, N> step;
  for (size_t i = 0; i < N; ++i) {
    step[i] = Repeated::kMost * static_cast<int64_t>(element_size(operands[i]->dtype()));
  }
  for_packed_runs<N>(operands, grain, [&](int64_t n, std::array<char*, N> p) {
    for (; n > 0; n -= Repeated::kMost) {
      f(std::min(n, Repeated::kMost), p);
      for (size_t i = 0; i < N; ++i) p[i] += step[i];
    }
  });
}

void run(BinaryLoop loop, const Tensor& y, const Tensor& x, const ScalarOperand& number,
         int64_t grain) {
  const Repeated numbers(number.value, loop_dtype(x.dtype()), x.numel());
  const auto f = [&](int64_t n, const auto& p) {
    if (number.first) return loop(n, p[0], numbers.data(), p[1]);
    loop(n, p[0], p[1], numbers.data());
  };
  if (is_reduced_floating(x.dtype())) return for_upcast_runs<2>({&y, &x}, grain, f);
  for_packed_pieces<2>({&y, &x}, grain, f);
}

}  // namespace

void binary_scalar(Tensor& y, const Tensor& x, const ScalarOperand& number, const BinaryOp& op) {
  const BinaryLoop loop = binary_loop(op, loop_dtype(x.dtype()));
  if (!loop) expect_operand_dtype(op, x.dtype());
  if (row_of(op).refuses_some(x.dtype())) check_division(op, x, number);
  if (!propagates_channels_last(y, x)) return run(loop, y, x, number, grain_of(op));
  const NativeScope native({.outputs = {&y}, .inputs = {&x}});
  run(loop, native.output(0), native.input(0), number, grain_of(op));
}

void clamp(Tensor& y, const Tensor& x, const std::optional<Scalar>& min,
           const std::optional<Scalar>& max) {
  const DType dtype = loop_dtype(y.dtype());
  const ClampLoop loop = clamp_loop(dtype);
  visit(dtype, [&]<class T>() {
    const arithmetic::Clamp<T> limits(min, max);
    const auto run = [&](const Tensor& to, const Tensor& from) {
      for_loop_runs<2>({&to, &from}, kGrain,
                       [&](int64_t n, const auto& p) { loop(n, p[0], p[1], &limits); });
    };
    if (!propagates_channels_last(y, x)) return run(y, x);
    const NativeScope native({.outputs = {&y}, .inputs = {&x}});
    run(native.output(0), native.input(0));
  });
}

void compare_scalar(Tensor& y, const Tensor& x, const Scalar& number, const CompareOp& op) {
  const BinaryLoop loop = compare_loop(op, x.dtype());
  if (!propagates_channels_last(y, x)) return run(loop, y, x, {number}, kGrain);
  const NativeScope native({.outputs = {&y}, .inputs = {&x}});
  run(loop, native.output(0), native.input(0), {number}, kGrain);
}

void masked_fill(Tensor& y, const Tensor& x, const Tensor& mask, const Scalar& value, bool masked) {
  const WhereLoop loop = where_loop(element_size(y.dtype()));
  const Repeated values(value, y.dtype(), y.numel());
  const auto run = [&](const Tensor& to, const Tensor& from, const Tensor& where) {
    for_packed_pieces<3>({&to, &from, &where}, kGrain, [&](int64_t n, const auto& p) {
      if (masked) return loop(n, p[0], p[2], values.data(), p[1]);
      loop(n, p[0], p[2], p[1], values.data());
    });
  };
  if (!propagates_channels_last(y, x)) return run(y, x, mask);
  const NativeScope native({.outputs = {&y}, .inputs = {&x, &mask}, .inputs_follow = true});
  run(native.output(0), native.input(0), native.input(1));
}

}  // namespace ambit::cpu
