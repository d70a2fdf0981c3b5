// Elementwise ops of two operands of one dtype, and the gradients of unary ops.
#include "backends/cuda/kernels.h"
#include "backends/cuda/loops/chosen_functor.h"
#include "backends/cuda/loops/element16.cuh"
#include "backends/cuda/loops/map.cuh"

namespace ambit::cuda {
namespace {

// With reduced floating-point elements, numbers have the type of the computation.
template <class T, class Operand>
using OperandType = std::conditional_t<std::same_as<Operand, Number<float>>, float, T>;

// Operands a and b are tensors or Numbers. T: float, double, or Element16, which is upcast to
// float.
template <class T, BinaryOp op, class A, class B>
void map_by(Tensor& y, const A& a, const B& b) {
  using F = arithmetic::Functor<op>;
  if constexpr (std::same_as<T, Element16>) {
    if constexpr (arithmetic::OperandOf<float, op>) {
      map<T, OperandType<T, A>, OperandType<T, B>>(On16<F>{F(), Dtype16(y.dtype())}, y, a, b);
    }
  } else if constexpr (arithmetic::OperandOf<T, op>) {
    map<T, T, T>(F(), y, a, b);
  }
}

template <class T, class A, class B>
void map_chosen(Tensor& y, const A& a, const B& b, BinaryOp op) {
  switch (op) {
#define AMBIT_CASE(name, ...) \
  case BinaryOp::name:        \
    return map_by<T, BinaryOp::name>(y, a, b);
    AMBIT_BINARY_FUNCTIONS(AMBIT_CASE)
#undef AMBIT_CASE
  }
}

template <std::integral T, class A, class B>
void map_chosen(Tensor& y, const A& a, const B& b, BinaryOp op) {
  const FaultSink faults = Call::stream().gpu.faults().sink(name(op));
  map<T, T, T>(ChosenBinary<T>{op, faults}, y, a, b);
}

}  // namespace

void binary(Tensor& y, const Tensor& a, const Tensor& b, const BinaryOp& op) {
  if (is_reduced_floating(y.dtype())) {
    expect_operand_dtype(op, kFloat32);
    return map_chosen<Element16>(y, a, b, op);
  }
  expect_operand_dtype(op, y.dtype());
  visit(y.dtype(), [&]<class T>() { map_chosen<T>(y, a, b, op); });
}

// With reduced floating-point elements the number is a float.
void binary_scalar(Tensor& y, const Tensor& x, const ScalarOperand& number, const BinaryOp& op) {
  const auto run = [&]<class T, class N>() {
    const Number<N> n{arithmetic::element_of<N>(number.value)};
    if (number.first) return map_chosen<T>(y, n, x, op);
    map_chosen<T>(y, x, n, op);
  };
  if (is_reduced_floating(y.dtype())) {
    expect_operand_dtype(op, kFloat32);
    return run.template operator()<Element16, float>();
  }
  expect_operand_dtype(op, y.dtype());
  visit(y.dtype(), [&]<class T>() { run.template operator()<T, T>(); });
}

void clamp(Tensor& y, const Tensor& x, const std::optional<Scalar>& min,
           const std::optional<Scalar>& max) {
  if (is_reduced_floating(y.dtype())) {
    using F = arithmetic::Clamp<float>;
    return map<Element16, Element16>(On16<F>{F(min, max), Dtype16(y.dtype())}, y, x);
  }
  visit(y.dtype(), [&]<class T>() { map<T, T>(arithmetic::Clamp<T>(min, max), y, x); });
}

void clamp_grad(Tensor& dx, const Tensor& dy, const Tensor& x, const std::optional<Scalar>& min,
                const std::optional<Scalar>& max, bool passes_nan) {
  if (is_reduced_floating(dx.dtype())) {
    using F = arithmetic::ClampGrad<float>;
    const On16<F> f{F(min, max, passes_nan), Dtype16(dx.dtype())};
    return map<Element16, Element16, Element16>(f, dx, dy, x);
  }
  visit<dtypes::kFloating>(dx.dtype(), [&]<class T>() {
    map<T, T, T>(arithmetic::ClampGrad<T>(min, max, passes_nan), dx, dy, x);
  });
}

}  // namespace ambit::cuda
