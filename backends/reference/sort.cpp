// Sorting along one dim, and positions in sorted rows. NaN is the largest number; sorting is
// stable.
#include <ambit/backend/reference.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "runs.h"
#include "strided_loop.h"

namespace ambit::reference {
namespace {

template <class T>
bool less(T a, T b) {
  return a < b || (b != b && a == a);
}

// y, index [.., k, ..] = the first k of each line of x [.., n, ..] in order, and their positions
void sort_lines(Tensor& y, Tensor& index, const Tensor& x, int64_t dim, bool descending) {
  const Line from(x, dim), to(y, dim), to_index(index, dim);
  int64_t* pi = index.data_ptr<int64_t>();
  visit(x.dtype(), [&]<class T>() {
    const T* px = x.data_ptr<T>();
    T* py = y.data_ptr<T>();
    std::vector<int64_t> order(static_cast<size_t>(from.length));
    strided_loop(line_starts(x, dim), {y.strides(), index.strides(), x.strides()},
                 [&](int64_t i, int64_t j, int64_t start) {
                   const auto at = [&](int64_t place) { return px[start + place * from.step]; };
                   std::iota(order.begin(), order.end(), int64_t{0});
                   std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
                     return descending ? less(at(b), at(a)) : less(at(a), at(b));
                   });
                   for (int64_t n = 0; n < to.length; ++n) {
                     const int64_t place = order[static_cast<size_t>(n)];
                     py[i + n * to.step] = at(place);
                     pi[j + n * to_index.step] = place;
                   }
                 });
  });
}

}  // namespace

void sort(Tensor& y, Tensor& index, const Tensor& x, int64_t dim, bool descending) {
  count_run();
  sort_lines(y, index, x, dim, descending);
}

void topk(Tensor& y, Tensor& index, const Tensor& x, int64_t dim, bool largest) {
  count_run();
  sort_lines(y, index, x, dim, largest);
}

// index, x [R,M]; sorted [R,N] or [1,N]
void searchsorted(Tensor& index, const Tensor& sorted, const Tensor& x, bool right) {
  count_run();
  const int64_t rows = x.size(0), columns = x.size(1), length = sorted.size(1);
  int64_t* pi = index.data_ptr<int64_t>();
  visit(x.dtype(), [&]<class T>() {
    const T* px = x.data_ptr<T>();
    for (int64_t row = 0; row < rows; ++row) {
      const T* ps = sorted.data_ptr<T>() + (sorted.size(0) == 1 ? 0 : row * length);
      for (int64_t i = row * columns; i < (row + 1) * columns; ++i) {
        int64_t low = 0, high = length;
        while (low < high) {
          const int64_t mid = low + (high - low) / 2;
          const bool is_below = right ? !(ps[mid] > px[i]) : !(ps[mid] >= px[i]);
          is_below ? low = mid + 1 : high = mid;
        }
        pi[i] = low;
      }
    }
  });
}

}  // namespace ambit::reference
