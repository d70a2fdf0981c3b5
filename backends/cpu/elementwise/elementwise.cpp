// Elementwise kernels: choose the inner loop (*_loops.cpp) once, then apply it to the operands.
#include <ambit/backend/functors.h>

#include "backends/cpu/kernels.h"
#include "backends/cpu/layout/native_scope.h"
#include "backends/cpu/layout/packing.h"
#include "chains.h"
#include "complex.h"
#include "division.h"
#include "inner_loops.h"
#include "upcast_runs.h"
#include "walk.h"

namespace ambit::cpu {
namespace {

void unary_as_given(Tensor& y, const Tensor& x, UnaryOp op) {
  const UnaryLoop loop = unary_loop(op, loop_dtype(x.dtype()));
  if (!loop && x.is_complex()) return complex_unary(y, x, op);
  if (!loop) expect_operand_dtype(op, x.dtype());
  for_loop_runs<2>({&y, &x}, grain_of(op),
                   [loop](int64_t n, const auto& p) { loop(n, p[0], p[1]); });
}

void binary_as_given(Tensor& y, const Tensor& a, const Tensor& b, BinaryOp op) {
  const DType dtype = a.dtype();
  const BinaryLoop loop = binary_loop(op, loop_dtype(dtype));
  if (!loop && is_complex(dtype)) return complex_binary(y, a, b, op);
  if (!loop) expect_operand_dtype(op, dtype);
  if (row_of(op).refuses_some(dtype)) check_division(op, a, b);
  for_loop_runs<3>({&y, &a, &b}, grain_of(op),
                   [loop](int64_t n, const auto& p) { loop(n, p[0], p[1], p[2]); });
}

/// A loop, or a chain of other loops if it is null.
struct TernaryMap {
  [[gnu::noinline]] void operator()(int64_t n, void* y, const void* a, const void* b, const void* c,
                                    bool one_for_all) const {
    if (loop) return loop(n, y, a, b, c, one_for_all);
    run_chain(chain, dtype, n, y, a, b, c, one_for_all);
  }

  TernaryLoop loop;
  DType dtype{};
  std::span<const Step> chain = {};
};

// `c`: a tensor; if it is undefined, `one` points to the value for all elements.
void ternary_as_given(const TernaryMap& map, const Tensor& y, const Tensor& a, const Tensor& b,
                      const Tensor& c, const void* one, int64_t grain) {
  if (c.defined()) {
    return for_loop_runs<4>({&y, &a, &b, &c}, grain, [&](int64_t n, const auto& p) {
      map(n, p[0], p[1], p[2], p[3], false);
    });
  }
  for_loop_runs<3>({&y, &a, &b}, grain,
                   [&](int64_t n, const auto& p) { map(n, p[0], p[1], p[2], one, true); });
}

void run_ternary(const TernaryMap& map, const Tensor& y, const Tensor& a, const Tensor& b,
                 const Tensor& c, const void* one, int64_t grain) {
  if (!propagates_channels_last(y, a) && !propagates_channels_last(y, b))
    return ternary_as_given(map, y, a, b, c, one, grain);
  const NativeScope native({.outputs = {&y}, .inputs = {&a, &b, &c}, .inputs_follow = true});
  ternary_as_given(map, native.output(0), native.input(0), native.input(1), native.input(2), one,
                   grain);
}

}  // namespace

void unary(Tensor& y, const Tensor& x, const UnaryOp& op) {
  if (!propagates_channels_last(y, x)) return unary_as_given(y, x, op);
  const NativeScope native({.outputs = {&y}, .inputs = {&x}});
  Tensor out = native.output(0);
  unary_as_given(out, native.input(0), op);
}

void binary(Tensor& y, const Tensor& a, const Tensor& b, const BinaryOp& op) {
  if (!propagates_channels_last(y, a) && !propagates_channels_last(y, b))
    return binary_as_given(y, a, b, op);
  const NativeScope native({.outputs = {&y}, .inputs = {&a, &b}, .inputs_follow = true});
  Tensor out = native.output(0);
  binary_as_given(out, native.input(0), native.input(1), op);
}

void ternary(Tensor& y, const Tensor& a, const Tensor& b, const Tensor& c, const Scalar& number,
             const TernaryOp& op) {
  const DType dtype = loop_dtype(y.dtype());
  const auto chain = chain_of(op);
  const TernaryMap map{chain.empty() ? ternary_loop(op, dtype) : nullptr, dtype, chain};
  if (!map.loop) expect_operand_dtype(op, dtype);
  visit(dtype, [&]<class T>() {
    const T element = c.defined() ? T{} : arithmetic::element_of<T>(number);
    run_ternary(map, y, a, b, c, &element, grain_of(op));
  });
}

void clamp_grad(Tensor& dx, const Tensor& dy, const Tensor& x, const std::optional<Scalar>& min,
                const std::optional<Scalar>& max, bool passes_nan) {
  const DType dtype = loop_dtype(dx.dtype());
  visit<dtypes::kFloating>(dtype, [&]<class T>() {
    const arithmetic::ClampGrad<T> limits(min, max, passes_nan);
    run_ternary({clamp_grad_loop(dtype)}, dx, dy, x, {}, &limits, kGrain);
  });
}

void compare(Tensor& y, const Tensor& a, const Tensor& b, const CompareOp& op) {
  const BinaryLoop loop = compare_loop(op, a.dtype());
  const auto run = [loop](const Tensor& to, const Tensor& left, const Tensor& right) {
    for_packed_runs<3>({&to, &left, &right}, kGrain,
                       [loop](int64_t n, const auto& p) { loop(n, p[0], p[1], p[2]); });
  };
  if (!propagates_channels_last(y, a) && !propagates_channels_last(y, b)) return run(y, a, b);
  const NativeScope native({.outputs = {&y}, .inputs = {&a, &b}, .inputs_follow = true});
  run(native.output(0), native.input(0), native.input(1));
}

void where(Tensor& y, const Tensor& condition, const Tensor& a, const Tensor& b) {
  const WhereLoop loop = where_loop(element_size(y.dtype()));
  const auto run = [loop](const Tensor& to, const Tensor& mask, const Tensor& yes,
                          const Tensor& no) {
    for_packed_runs<4>({&to, &mask, &yes, &no}, kGrain,
                       [loop](int64_t n, const auto& p) { loop(n, p[0], p[1], p[2], p[3]); });
  };
  if (!propagates_channels_last(y, a) && !propagates_channels_last(y, b))
    return run(y, condition, a, b);
  const NativeScope native(
      {.outputs = {&y}, .inputs = {&condition, &a, &b}, .inputs_follow = true});
  run(native.output(0), native.input(0), native.input(1), native.input(2));
}

}  // namespace ambit::cpu
