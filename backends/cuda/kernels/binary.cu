// Maps of two operands of one dtype, and the gradients of unary maps.
#include "backends/cuda/kernels.h"
#include "backends/cuda/loops/arithmetic.h"
#include "backends/cuda/loops/map.cuh"

namespace ambit::cuda {
namespace {

template <BinaryOp op, class T>
struct RealMap {
  __device__ T operator()(T a, T b) const { return map_real<op>(a, b); }
};

template <class T>
struct IntegerMap {
  __device__ T operator()(T a, T b) const {
    if constexpr (std::is_same_v<T, bool>) {
      return map_integer<uint8_t>(op, a, b, faults) != 0;  // so add is "or"
    } else {
      return static_cast<T>(map_integer(op, a, b, faults));
    }
  }
  BinaryOp op;
  FaultSink faults;
};

constexpr bool is_bitwise(BinaryOp op) {
  return op >= BinaryOp::bitwise_and && op <= BinaryOp::bitwise_xor;
}

template <class T, BinaryOp op>
void map_reals(Tensor& y, const Tensor& a, const Tensor& b) {
  if constexpr (!is_bitwise(op)) map<T, T, T>(RealMap<op, T>(), y, a, b);
}

// The kernel of each op, found by its number.
template <class T, size_t... I>
void map_reals(Tensor& y, const Tensor& a, const Tensor& b, BinaryOp op,
               std::index_sequence<I...>) {
  using Map = void (*)(Tensor&, const Tensor&, const Tensor&);
  static constexpr Map kMaps[] = {map_reals<T, static_cast<BinaryOp>(I)>...};
  kMaps[static_cast<size_t>(op)](y, a, b);
}

constexpr size_t kMaps = static_cast<size_t>(BinaryOp::gelu_grad) + 1;

}  // namespace

void binary(Tensor& y, const Tensor& a, const Tensor& b, const BinaryOp& op) {
  visit(y.dtype(), [&]<class T>() {
    if constexpr (std::is_floating_point_v<T>) {
      map_reals<T>(y, a, b, op, std::make_index_sequence<kMaps>());
    } else {
      const FaultSink faults = Call::stream().gpu.faults().sink(name(op));
      map<T, T, T>(IntegerMap<T>{op, faults}, y, a, b);
    }
  });
}

}  // namespace ambit::cuda
