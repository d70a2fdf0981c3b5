// Running sums, products and log-sum-exps along one dim.
#include <ambit/error.h>

#include <limits>
#include <string>

#include "backends/cuda/kernels.h"
#include "backends/cuda/loops/accumulator.h"
#include "backends/cuda/loops/element16.cuh"
#include "backends/cuda/loops/scan.cuh"

namespace ambit::cuda {
namespace {

template <class T>
struct Elements {
  using Value = Accumulator<T>;
  __device__ Value load(int64_t offset, int64_t) const {
    return static_cast<Value>(upcast(x[offset]));
  }
  __device__ void store(int64_t offset, Value v) const { y[offset] = downcast<T>(v); }
  const T* x;
  T* y;
};

template <class T>
struct Sum : Elements<T> {
  using typename Elements<T>::Value;
  __device__ Value first() const { return 0; }
  __device__ Value join(Value a, Value b) const { return a + b; }
};

template <class T>
struct Prod : Elements<T> {
  using typename Elements<T>::Value;
  __device__ Value first() const { return 1; }
  __device__ Value join(Value a, Value b) const { return a * b; }
};

template <class T>
struct LogSumExp : Elements<T> {
  __device__ double first() const { return -std::numeric_limits<double>::infinity(); }
  __device__ double join(double a, double b) const {
    const double high = a > b || a != a ? a : b, low = a > b || a != a ? b : a;
    // The difference of equal infinities is NaN.
    return high == low && high - low != 0 ? high : high + std::log1p(std::exp(low - high));
  }
};

template <class S>
void run(Tensor& y, const Tensor& x, const ScanParams& p) {
  using T = std::remove_pointer_t<decltype(S::y)>;
  S scan;
  scan.x = x.data_ptr<T>();
  scan.y = y.data_ptr<T>();
  run_scan(scan, y, x, p);
}

}  // namespace

void scan(Tensor& y, const Tensor& x, const ScanParams& p, const ScanOp& op) {
  if (x.numel() == 0) return;
  visit<dtypes::with_reduced_floating(dtypes::kNumbers)>(x.dtype(), [&]<class T>() {
    switch (op) {
      case ScanOp::sum:
        return run<Sum<T>>(y, x, p);
      case ScanOp::prod:
        return run<Prod<T>>(y, x, p);
      case ScanOp::logsumexp:
        if constexpr (!std::is_integral_v<T>) return run<LogSumExp<T>>(y, x, p);
        throw DTypeError(std::string("logsumexp: expected floats, got ") + name(x.dtype()));
    }
  });
}

}  // namespace ambit::cuda
