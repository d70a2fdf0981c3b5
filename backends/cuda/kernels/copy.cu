// Copies between any two dtypes and layouts, and fills.
#include <ambit/backend/functors.h>

#include "backends/cuda/kernels.h"
#include "backends/cuda/loops/element_bits.h"
#include "backends/cuda/loops/map.cuh"

namespace ambit::cuda {
namespace {

template <class T>
struct Same {
  __device__ T operator()(T x) const { return x; }
};

template <class T>
struct Constant {
  __device__ T operator()() const { return value; }
  T value;
};

// y = x for any dtype of x, selected at run time: the copy is memory-bound, so a kernel for each of
// 90 pairs would gain nothing.
template <class Y>
__global__ void convert_elements(Indexer<2> indexer, uint32_t n, Y* y, const void* x, DType dtype) {
  for (int64_t i = thread_index(); i < n; i += thread_count()) {
    int32_t at[2];
    indexer.find(static_cast<uint32_t>(i), at);
    const auto element = [&]<class X>(const X* data) {
      if constexpr (ReducedFloat<X>) {
        return arithmetic::convert<Y>(static_cast<float>(data[at[1]]));
      } else {
        return arithmetic::convert<Y>(data[at[1]]);
      }
    };
    // clang-format off
    switch (dtype) {
      case DType::bool8: y[at[0]] = element(static_cast<const bool*>(x)); break;
      case DType::uint8: y[at[0]] = element(static_cast<const uint8_t*>(x)); break;
      case DType::int8: y[at[0]] = element(static_cast<const int8_t*>(x)); break;
      case DType::int16: y[at[0]] = element(static_cast<const int16_t*>(x)); break;
      case DType::int32: y[at[0]] = element(static_cast<const int32_t*>(x)); break;
      case DType::int64: y[at[0]] = element(static_cast<const int64_t*>(x)); break;
      case DType::float16: y[at[0]] = element(static_cast<const Half*>(x)); break;
      case DType::bfloat16: y[at[0]] = element(static_cast<const BFloat16*>(x)); break;
      case DType::float32: y[at[0]] = element(static_cast<const float*>(x)); break;
      case DType::float64: y[at[0]] = element(static_cast<const double*>(x)); break;
      default: break;  // no kernel receives other dtypes
    }
    // clang-format on
  }
}

template <class Y>
void copy_converted(Tensor& y, const Tensor& x) {
  const auto element_bytes = static_cast<int64_t>(element_size(x.dtype()));
  const Walk<2> walk =
      collapsed<2>(y.sizes(), {IntArrayRef(y.strides()), IntArrayRef(x.strides())});
  for_each_piece(walk, [&](const Walk<2>& piece) {
    const int64_t n = piece.count();
    launch(convert_elements<Y>, grid_for(n), Indexer<2>(piece), static_cast<uint32_t>(n),
           y.data_ptr<Y>() + piece.offsets[0],
           static_cast<const char*>(x.data_ptr()) + piece.offsets[1] * element_bytes, x.dtype());
  });
}

}  // namespace

void copy(Tensor& y, const Tensor& x) {
  if (y.dtype() != x.dtype()) {
    visit<dtypes::kEvery>(y.dtype(), [&]<class Y>() { copy_converted<Y>(y, x); });
  } else {
    visit_bits(y.dtype(), [&]<class T>() { map<T, T>(Same<T>(), y, x); });
  }
}

void fill(Tensor& y, const Scalar& value) {
  visit<dtypes::kEvery>(y.dtype(), [&]<class Y>() {
    const Y v = arithmetic::element_of<Y>(value);
    visit_bits(y.dtype(), [&]<class T>() {
      if constexpr (sizeof(T) == sizeof(Y)) map<T>(Constant<T>{bits_as<T>(v)}, y);
    });
  });
}

}  // namespace ambit::cuda
