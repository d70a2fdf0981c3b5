// y = op(a, b), for every binary function.
#include "backends/cpu/runtime/simd_targets.h"
#include "inner_loops.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/elementwise/binary_loops.cpp"
#include <ambit/backend/functors.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "inner_loops-inl.h"
#include "math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ambit::cpu::HWY_NAMESPACE {
namespace {

/// The loop of a function over elements of T: over its functor,
template <BinaryOp op, class T>
constexpr BinaryLoop kLoop = element_binary<T, T, arithmetic::Functor<op>>;
/// unless it has vector code of its own.
template <class T>
constexpr BinaryLoop kLoop<BinaryOp::gelu_grad, T> = vector_binary<T, GeluGrad>;
template <class T>
constexpr BinaryLoop kLoop<BinaryOp::gelu_tanh_grad, T> = vector_binary<T, GeluTanhGrad>;
template <class T>
constexpr BinaryLoop kLoop<BinaryOp::logaddexp, T> = vector_binary<T, LogAddExp>;

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
