// Maps of two operands of one dtype, and the gradients of unary maps.
#include "backends/cuda/kernels.h"
#include "backends/cuda/loops/chosen_functor.h"
#include "backends/cuda/loops/map.cuh"

namespace ambit::cuda {
namespace {

template <class T, BinaryOp op>
void map_by(Tensor& y, const Tensor& a, const Tensor& b) {
  if constexpr (arithmetic::OperandOf<T, op>) map<T, T, T>(arithmetic::Functor<op>(), y, a, b);
}

template <std::floating_point T>
void map_floats(Tensor& y, const Tensor& a, const Tensor& b, BinaryOp op) {
  switch (op) {
#define AMBIT_CASE(name, ...) \
  case BinaryOp::name:        \
    return map_by<T, BinaryOp::name>(y, a, b);
    AMBIT_BINARY_FUNCTIONS(AMBIT_CASE)
#undef AMBIT_CASE
  }
}

}  // namespace

void binary(Tensor& y, const Tensor& a, const Tensor& b, const BinaryOp& op) {
  expect_operand_dtype(op, y.dtype());
  visit(y.dtype(), [&]<class T>() {
    if constexpr (std::floating_point<T>) {
      map_floats<T>(y, a, b, op);
    } else {
      const FaultSink faults = Call::stream().gpu.faults().sink(name(op));
      map<T, T, T>(ChosenBinary<T>{op, faults}, y, a, b);
    }
  });
}

}  // namespace ambit::cuda
