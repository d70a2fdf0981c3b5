// Inner loops y = op(a, b, c) of the ternary functions that are not chains.
#include "backends/cpu/runtime/simd_targets.h"
#include "inner_loops.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/elementwise/ternary_loops.cpp"
#include <ambit/backend/functors.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "activations-inl.h"
#include "inner_loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ambit::cpu::HWY_NAMESPACE {
namespace {

/// The loop of a function for elements of T. By default it calls the functor for each element.
template <TernaryOp op, class T>
constexpr TernaryLoop kLoop =
    element_ternary<BitsOf<op == TernaryOp::add_scaled, T>, arithmetic::Functor<op>>;
/// These functions have vector implementations.
#define AMBIT_VECTORS(name, F) \
  template <class T>           \
  constexpr TernaryLoop kLoop<TernaryOp::name, T> = vector_ternary<T, F>;
AMBIT_VECTORS(elu_grad, EluGrad)
AMBIT_VECTORS(celu_grad, CeluGrad)
AMBIT_VECTORS(softplus_grad, SoftplusGrad)
AMBIT_VECTORS(logit_loss_grad, LogitLossGrad)
AMBIT_VECTORS(leaky_relu_grad, LeakyReluGrad)
AMBIT_VECTORS(smooth_l1_grad, SmoothL1Grad)
AMBIT_VECTORS(huber_grad, HuberGrad)
AMBIT_VECTORS(maximum_grad, MaximumGrad)
AMBIT_VECTORS(minimum_grad, MinimumGrad)
AMBIT_VECTORS(logaddexp_grad, LogAddExpGrad)
#undef AMBIT_VECTORS

#define AMBIT_LOOPS(name, set, ...) \
  loops_by_dtype<dtypes::set>([]<class T>() { return kLoop<TernaryOp::name, T>; }),
constexpr std::array kLoops{AMBIT_TERNARY_LOOPS(AMBIT_LOOPS)};
#undef AMBIT_LOOPS

template <class F>
constexpr auto kFloatingLoops = loops_by_dtype<dtypes::kFloating>([]<class T>() {
  return vector_ternary<T, F>;
});

TernaryLoop find_ternary(TernaryOp op, DType dtype) {
  if (op == TernaryOp::atan_grad) return kFloatingLoops<AtanGrad>[static_cast<size_t>(dtype)];
  if (op == TernaryOp::asinh_grad) return kFloatingLoops<AsinhGrad>[static_cast<size_t>(dtype)];
  return kLoops[static_cast<size_t>(op)][static_cast<size_t>(dtype)];
}

}  // namespace
}  // namespace ambit::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ambit::cpu {

HWY_EXPORT(find_ternary);
TernaryLoop ternary_loop(TernaryOp op, DType dtype) {
  return HWY_DYNAMIC_DISPATCH(find_ternary)(op, dtype);
}

}  // namespace ambit::cpu
#endif
