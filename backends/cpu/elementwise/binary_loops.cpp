// Inner loops y = op(a, b) of all binary functions.
#include "backends/cpu/runtime/simd_targets.h"
#include "inner_loops.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/elementwise/binary_loops.cpp"
#include <ambit/backend/functors.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "activations-inl.h"
#include "inner_loops-inl.h"

#ifndef AMBIT_CPU_CALL_BINARY
#define AMBIT_CPU_CALL_BINARY
namespace ambit::cpu {

/// y[i] = F()(a[i], b[i]), compiled once for all instruction sets: for long functions that consist
/// of calls and do not vectorise.
template <class T, class F>
[[gnu::noinline]] void call_binary(int64_t n, void* y, const void* a, const void* b) {
  const T *left = static_cast<const T*>(a), *right = static_cast<const T*>(b);
  for (int64_t i = 0; i < n; ++i) static_cast<T*>(y)[i] = F()(left[i], right[i]);
}

}  // namespace ambit::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace ambit::cpu::HWY_NAMESPACE {
namespace {

/// Return true if the bits of the result are the same for signed and unsigned integers.
constexpr bool has_no_sign(BinaryOp op) {
  return op == BinaryOp::add || op == BinaryOp::sub || op == BinaryOp::mul ||
         op == BinaryOp::left_shift || op == BinaryOp::bitwise_and || op == BinaryOp::bitwise_or ||
         op == BinaryOp::bitwise_xor;
}

/// The loop of a function for elements of T. By default it calls the functor for each element.
template <BinaryOp op, class T>
constexpr BinaryLoop kLoop =
    element_binary<BitsOf<has_no_sign(op), T>, BitsOf<has_no_sign(op), T>, arithmetic::Functor<op>>;
template <class T>
constexpr BinaryLoop kLoop<BinaryOp::zeta, T> = call_binary<T, arithmetic::Functor<BinaryOp::zeta>>;
/// These functions have vector implementations.
#define AMBIT_VECTORS(name, F) \
  template <class T>           \
  constexpr BinaryLoop kLoop<BinaryOp::name, T> = vector_binary<T, F>;
AMBIT_VECTORS(gelu_grad, GeluGrad)
AMBIT_VECTORS(gelu_tanh_grad, GeluTanhGrad)
AMBIT_VECTORS(silu_grad, SiluGrad)
AMBIT_VECTORS(mish_grad, MishGrad)
AMBIT_VECTORS(selu_grad, SeluGrad)
AMBIT_VECTORS(logsigmoid_grad, LogSigmoidGrad)
AMBIT_VECTORS(logaddexp, LogAddExp)
AMBIT_VECTORS(elu, Elu)
AMBIT_VECTORS(celu, Celu)
AMBIT_VECTORS(softplus, Softplus)
AMBIT_VECTORS(logit_loss, LogitLoss)
AMBIT_VECTORS(hardsigmoid_grad, HardSigmoidGrad)
AMBIT_VECTORS(hardswish_grad, HardSwishGrad)
AMBIT_VECTORS(leaky_relu, LeakyRelu)
AMBIT_VECTORS(smooth_l1, SmoothL1)
AMBIT_VECTORS(huber, Huber)
#undef AMBIT_VECTORS

#define AMBIT_LOOPS(name, set, ...) \
  loops_by_dtype<dtypes::set>([]<class T>() { return kLoop<BinaryOp::name, T>; }),
constexpr std::array kLoops{AMBIT_BINARY_FUNCTIONS(AMBIT_LOOPS)};
#undef AMBIT_LOOPS

BinaryLoop find_binary(BinaryOp op, DType dtype) {
  return kLoops[static_cast<size_t>(op)][static_cast<size_t>(dtype)];
}

}  // namespace
}  // namespace ambit::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ambit::cpu {

HWY_EXPORT(find_binary);
BinaryLoop binary_loop(BinaryOp op, DType dtype) {
  return HWY_DYNAMIC_DISPATCH(find_binary)(op, dtype);
}

}  // namespace ambit::cpu
#endif
