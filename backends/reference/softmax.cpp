// Softmax and log-softmax along one dim, and their gradient.
#include <ambit/backend/reference.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "runs.h"
#include "strided_loop.h"

namespace ambit::reference {

// exp(x - max) / sum; the exponential cannot overflow.
void softmax(Tensor& y, const Tensor& x, int64_t dim, bool log) {
  count_run();
  const Line line(x, dim);
  visit(y.dtype(), [&]<class T>() {
    T* py = y.data_ptr<T>();
    const T* px = x.data_ptr<T>();
    strided_loop(line_starts(x, dim), {x.strides()}, [&](int64_t start) {
      auto at = [&](int64_t j) { return static_cast<double>(px[start + j * line.step]); };
      double top = -std::numeric_limits<double>::infinity(), sum = 0;
      for (int64_t j = 0; j < line.length; ++j) top = std::max(top, at(j));
      for (int64_t j = 0; j < line.length; ++j) sum += std::exp(at(j) - top);
      for (int64_t j = 0; j < line.length; ++j) {
        const double shifted = at(j) - top;
        py[start + j * line.step] =
            static_cast<T>(log ? shifted - std::log(sum) : std::exp(shifted) / sum);
      }
    });
  });
}

void softmax_grad(Tensor& dx, const Tensor& dy, const Tensor& y, int64_t dim, bool log) {
  count_run();
  const Line line(y, dim);
  visit(dx.dtype(), [&]<class T>() {
    T* pdx = dx.data_ptr<T>();
    const T* pdy = dy.data_ptr<T>();
    const T* py = y.data_ptr<T>();
    strided_loop(line_starts(y, dim), {y.strides()}, [&](int64_t start) {
      auto g = [&](int64_t j) { return static_cast<double>(pdy[start + j * line.step]); };
      auto out = [&](int64_t j) { return static_cast<double>(py[start + j * line.step]); };
      double sum = 0;
      for (int64_t j = 0; j < line.length; ++j) sum += log ? g(j) : g(j) * out(j);
      for (int64_t j = 0; j < line.length; ++j) {
        pdx[start + j * line.step] =
            static_cast<T>(log ? g(j) - std::exp(out(j)) * sum : out(j) * (g(j) - sum));
      }
    });
  });
}

}  // namespace ambit::reference
