// Kernels that follow each line of a tensor from its start: positions of extremes, running sums.
#include <algorithm>
#include <concepts>

#include "arithmetic.h"
#include "kernels.h"
#include "lines.h"

namespace ambit::cpu {
namespace {

/// Whether b takes the place of a: only what is strictly better, and the first NaN for good.
template <bool kLargest, class T>
bool beats(T b, T a) {
  if constexpr (std::floating_point<T>) {
    if (b != b) return a == a;
  }
  return kLargest ? b > a : b < a;
}

template <bool kLargest, class T>
int64_t find_extreme(const T* x, const Line& line) {
  int64_t best = 0;
  T value = x[0];
  for (int64_t i = 1; i < line.length; ++i) {
    const T v = x[i * line.step];
    if (!beats<kLargest>(v, value)) continue;
    best = i;
    value = v;
  }
  return best;
}

}  // namespace

// index, value [.., 1, ..], x [.., n, ..]
void arg_reduce(Tensor& value, Tensor& index, const Tensor& x, int64_t dim, bool largest) {
  if (index.numel() == 0) return;
  const Tensor& values = value.defined() ? value : index;  // the latter only for its strides
  const auto loops = make_line_loops<3>({&index, &values, &x}, dim);
  const Line line(x, dim);
  int64_t* positions = index.data_ptr<int64_t>();
  visit(x.dtype(), [&]<class T>() {
    const T* from = x.data_ptr<T>();
    T* found = value.defined() ? value.data_ptr<T>() : nullptr;
    for_lines(loops, line.length, [&](const std::array<int64_t, 3>& at) {
      const T* start = from + at[2];
      const int64_t best =
          largest ? find_extreme<true>(start, line) : find_extreme<false>(start, line);
      positions[at[0]] = best;
      if (found) found[at[1]] = start[best * line.step];
    });
  });
}

// y, x [.., n, ..]; float is summed in double
void cumsum(Tensor& y, const Tensor& x, int64_t dim) {
  if (y.numel() == 0) return;
  const auto loops = make_line_loops<2>({&y, &x}, dim);
  const Line to(y, dim), from(x, dim);
  visit(y.dtype(), [&]<class T>() {
    using Sum = std::conditional_t<std::same_as<T, float>, double, T>;
    T* py = y.data_ptr<T>();
    const T* px = x.data_ptr<T>();
    for_lines(loops, from.length, [&](const std::array<int64_t, 2>& at) {
      Sum sum = 0;
      for (int64_t i = 0; i < from.length; ++i) {
        sum = wrap_add(sum, static_cast<Sum>(px[at[1] + i * from.step]));
        py[at[0] + i * to.step] = static_cast<T>(sum);
      }
    });
  });
}

}  // namespace ambit::cpu
