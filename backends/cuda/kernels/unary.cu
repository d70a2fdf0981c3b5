// Maps of one operand.
#include "backends/cuda/kernels.h"
#include "backends/cuda/loops/arithmetic.h"
#include "backends/cuda/loops/map.cuh"

namespace ambit::cuda {
namespace {

template <UnaryOp op, class T>
struct RealMap {
  __device__ T operator()(T x) const { return map_real<op>(x); }
};

template <class T>
struct IntegerMap {
  __device__ T operator()(T x) const { return map_integer(op, x); }
  UnaryOp op;
};

template <class T>
struct Question {
  __device__ bool operator()(T x) const { return answer(op, x); }
  UnaryOp op;
};

bool is_question(UnaryOp op) { return op >= UnaryOp::isnan; }

constexpr size_t kRealMaps = static_cast<size_t>(UnaryOp::trunc) + 1;

// The kernel of each op, found by its number.
template <class T, size_t... I>
void map_reals(Tensor& y, const Tensor& x, UnaryOp op, std::index_sequence<I...>) {
  using Map = void (*)(Tensor&, const Tensor&);
  static constexpr Map kMaps[] = {[](Tensor& to, const Tensor& from) {
    map<T, T>(RealMap<static_cast<UnaryOp>(I), T>(), to, from);
  }...};
  kMaps[static_cast<size_t>(op)](y, x);
}

}  // namespace

void unary(Tensor& y, const Tensor& x, const UnaryOp& op) {
  visit(x.dtype(), [&]<class T>() {
    if (is_question(op)) {
      map<bool, T>(Question<T>{op}, y, x);
    } else if constexpr (std::is_floating_point_v<T>) {
      map_reals<T>(y, x, op, std::make_index_sequence<kRealMaps>());
    } else {
      map<T, T>(IntegerMap<T>{op}, y, x);
    }
  });
}

}  // namespace ambit::cuda
