// Reading and writing elements selected by an int64 tensor. All indices are checked first, so that
// nothing is written if one is invalid.
#include <ambit/backend/reference.h>
#include <ambit/error.h>
#include <fmt/format.h>

#include <type_traits>
#include <vector>

#include "accumulator.h"
#include "runs.h"
#include "strided_loop.h"

namespace ambit::reference {
namespace {

// An index tensor broadcast to a shape: element [i][j][k] is a position along one dim of a tensor.
struct Places {
  const int64_t* data;
  Dims sizes;
  Dims strides;
};

Places places(const Tensor& index) {
  return {index.data_ptr<int64_t>(), index.sizes(), index.strides()};
}

// Return a list [n] of row indices along `dim`, broadcast along all other dims of `shape`.
Places rows(const Tensor& index, const Tensor& shape, int64_t dim) {
  Dims strides(shape.sizes().size(), 0);
  if (!strides.empty()) strides[static_cast<size_t>(dim)] = Line(index, 0).step;
  return {index.data_ptr<int64_t>(), shape.sizes(), strides};
}

// Return the strides, with 0 for dim, because the index gives the position along dim.
Dims strides_but(IntArrayRef strides, int64_t dim) {
  Dims result = strides;
  if (!result.empty()) result[static_cast<size_t>(dim)] = 0;
  return result;
}

void check(const char* op, const Places& at, int64_t bound) {
  strided_loop(at.sizes, {at.strides}, [&](int64_t i) {
    if (at.data[i] >= 0 && at.data[i] < bound) return;
    throw IndexError(
        fmt::format("{}: expected an index in [0, {}), got {}", op, bound, at.data[i]));
  });
}

void take(const char* op, Tensor& y, const Tensor& x, const Places& at, int64_t dim) {
  const Line line(x, dim);
  check(op, at, line.length);
  visit(y.dtype(), [&]<class T>() {
    T* py = y.data_ptr<T>();
    const T* px = x.data_ptr<T>();
    strided_loop(at.sizes, {y.strides(), at.strides, strides_but(x.strides(), dim)},
                 [&](int64_t i, int64_t j, int64_t k) { py[i] = px[k + at.data[j] * line.step]; });
  });
}

// y[place] = combine(y[place], src). Sums and products are accumulated in Acc for all of y, so that
// each element is rounded once.
template <class T, class Acc, class F>
void combine_into(Tensor& y, const Places& at, const Tensor& src, int64_t dim, F combine) {
  const Dims dense = contiguous_strides(y.sizes());
  const int64_t step = dense.empty() ? 0 : dense[static_cast<size_t>(dim)];
  std::vector<Acc> total(static_cast<size_t>(y.numel()));
  T* py = y.data_ptr<T>();
  const T* ps = src.data_ptr<T>();
  strided_loop(y.sizes(), {dense, y.strides()}, [&](int64_t i, int64_t j) {
    total[static_cast<size_t>(i)] = static_cast<Acc>(py[j]);
  });
  strided_loop(at.sizes, {strides_but(dense, dim), at.strides, src.strides()},
               [&](int64_t i, int64_t j, int64_t k) {
                 const auto place = static_cast<size_t>(i + at.data[j] * step);
                 total[place] = combine(total[place], static_cast<Acc>(ps[k]));
               });
  strided_loop(y.sizes(), {dense, y.strides()}, [&](int64_t i, int64_t j) {
    py[j] = static_cast<T>(total[static_cast<size_t>(i)]);
  });
}

void add(const char* op, Tensor& y, const Places& at, const Tensor& src, int64_t dim) {
  check(op, at, Line(y, dim).length);
  visit(y.dtype(), [&]<class T>() {
    using Acc = Accumulator<T>;
    combine_into<T, Acc>(y, at, src, dim, [](Acc a, Acc b) { return a + b; });
  });
}

// The maximum or minimum; NaN wins. It is not accumulated in double, which cannot represent all
// int64.
template <class T>
using Whole = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;  // vector<bool> is packed

template <class T>
void extreme(Tensor& y, const Places& at, const Tensor& src, int64_t dim, bool largest) {
  using Acc = Whole<T>;
  combine_into<T, Acc>(y, at, src, dim, [largest](Acc a, Acc b) {
    if (a != a || b != b) return a != a ? a : b;
    return (largest ? a > b : a < b) ? a : b;
  });
}

}  // namespace

void gather(Tensor& y, const Tensor& x, const Tensor& index, int64_t dim) {
  count_run();
  take("gather", y, x, places(index), dim);
}

void index_select(Tensor& y, const Tensor& x, const Tensor& index, int64_t dim) {
  count_run();
  take("index_select", y, x, rows(index, y, dim), dim);
}

void scatter(Tensor& y, const Tensor& index, const Tensor& src, int64_t dim) {
  count_run();
  const Line line(y, dim);
  const Places at = places(index);
  check("scatter", at, line.length);
  visit(y.dtype(), [&]<class T>() {
    T* py = y.data_ptr<T>();
    const T* ps = src.data_ptr<T>();
    strided_loop(at.sizes, {strides_but(y.strides(), dim), at.strides, src.strides()},
                 [&](int64_t i, int64_t j, int64_t k) { py[i + at.data[j] * line.step] = ps[k]; });
  });
}

void scatter_add(Tensor& y, const Tensor& index, const Tensor& src, int64_t dim) {
  count_run();
  add("scatter_add", y, places(index), src, dim);
}

void scatter_reduce(Tensor& y, const Tensor& index, const Tensor& src, int64_t dim,
                    const ScatterOp& op) {
  count_run();
  const Places at = places(index);
  check("scatter_reduce", at, Line(y, dim).length);
  visit(y.dtype(), [&]<class T>() {
    using Acc = Accumulator<T>;
    switch (op) {
      case ScatterOp::prod:
        return combine_into<T, Acc>(y, at, src, dim, [](Acc a, Acc b) { return a * b; });
      case ScatterOp::max:
        return extreme<T>(y, at, src, dim, true);
      case ScatterOp::min:
        return extreme<T>(y, at, src, dim, false);
    }
  });
}

void index_add(Tensor& y, const Tensor& index, const Tensor& src, int64_t dim) {
  count_run();
  add("index_add", y, rows(index, src, dim), src, dim);
}

void nonzero(Tensor& y, const Tensor& x) {
  count_run();
  int64_t* py = y.data_ptr<int64_t>();
  const bool* px = x.data_ptr<bool>();
  const IntArrayRef sizes = x.sizes();
  for (int64_t i = 0; i < x.numel(); ++i) {
    if (!px[i]) continue;
    int64_t rest = i;
    for (size_t d = sizes.size(); d-- > 0; rest /= sizes[d]) py[d] = rest % sizes[d];
    py += sizes.size();
  }
}

}  // namespace ambit::reference
