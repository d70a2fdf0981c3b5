// Sorting along one dim: each line becomes items of key and position, which are sorted; results are
// gathered by position, which keeps signs of zeros and bits of NaN. Threads share the lines.
#include "backends/cpu/kernels.h"
#include "backends/cpu/layout/lines.h"
#include "backends/cpu/runtime/scratch.h"
#include "items.h"

namespace ambit::cpu {
namespace {

/// Operands of a sort along one line; it writes the first `to.length` elements.
template <class T>
struct Lines {
  const T* x;
  T* y;
  int64_t* index;
  Line from, to, to_index;

  /// Write element `place` of x as element n of the result.
  void put(int64_t n, int64_t place) const {
    y[n * to.step] = x[place * from.step];
    index[n * to_index.step] = place;
  }
};

template <bool kDescending, class T, class Place>
void sort_line(const Lines<T>& line, Item<SortKey<T>, Place>* items,
               Item<SortKey<T>, Place>* spare) {
  const int64_t n = line.from.length;
  for (int64_t i = 0; i < n; ++i) {
    items[i] = {sort_key(line.x[i * line.from.step], kDescending), static_cast<Place>(i)};
  }
  const auto* sorted = sort_items(items, spare, n);
  for (int64_t i = 0; i < line.to.length; ++i) {
    line.put(i, static_cast<int64_t>(sorted[i].place));
  }
}

/// Return true if x is not ordered before `last`; false if either is NaN.
template <bool kDescending, class T>
bool sorts_after(T x, T last) {
  return kDescending ? x <= last : x >= last;
}

/// Return true if sorts_after() holds for all n elements. Inlining would prevent vectorisation.
template <bool kDescending, class T>
[[gnu::noinline]] bool all_sort_after(const T* x, int64_t n, T last) {
  SortKey<T> others = 0;  // as wide as T
#pragma omp simd reduction(| : others)
  for (int64_t i = 0; i < n; ++i) others |= sorts_after<kDescending>(x[i], last) ? 0 : 1;
  return others == 0;
}

/// Insert an item into k sorted items, dropping the last one. Without branches, which would be
/// unpredictable.
template <class AnItem>
void insert(AnItem* items, int64_t k, AnItem item) {
  for (int64_t i = k - 1; i > 0; --i) {
    const AnItem here = items[i], before = items[i - 1];
    const bool ahead = item.key < before.key, in_place = item.key < here.key;
    items[i].key = ahead ? before.key : in_place ? item.key : here.key;
    items[i].place = ahead ? before.place : in_place ? item.place : here.place;
  }
  if (item.key < items[0].key) items[0] = item;
}

/// Select the k < n first elements in sort order. Elements are tested in blocks, most of which
/// contain none that precedes the k-th best so far. For large k, candidates are collected, and at 2
/// k of them reduced to the best k. Not inlined: shared by all index types.
template <bool kDescending, class T>
[[gnu::noinline]] void select_line(const Lines<T>& line, Item<SortKey<T>, uint64_t>* items) {
  constexpr int64_t kBlock = 16, kFew = 24;
  const int64_t n = line.from.length, k = line.to.length, step = line.from.step;
  SortKey<T> last_key = 0;  // of the k best so far, once there are k
  T last{};
  const auto set_last = [&] {
    last_key = items[k - 1].key;
    last = line.x[static_cast<int64_t>(items[k - 1].place) * step];
  };
  int64_t count = 0;
  const auto keep_best = [&] {
    std::nth_element(items, items + k - 1, items + count);
    count = k;
    set_last();
  };
  for (; count < k; ++count) {
    items[count] = {sort_key(line.x[count * step], kDescending), static_cast<uint64_t>(count)};
  }
  std::sort(items, items + k);
  set_last();
  for (int64_t begin = k; begin < n; begin += kBlock) {
    const int64_t size = std::min(kBlock, n - begin);
    const T* x = line.x + begin * step;
    T part[kBlock];
    if (step != 1) {
      for (int64_t i = 0; i < size; ++i) part[i] = x[i * step];
      x = part;
    }
    if (all_sort_after<kDescending>(x, size, last)) continue;
    for (int64_t i = 0; i < size; ++i) {
      if (sorts_after<kDescending>(x[i], last)) continue;
      const auto key = sort_key(x[i], kDescending);
      if (key >= last_key) continue;
      const Item<SortKey<T>, uint64_t> item{key, static_cast<uint64_t>(begin + i)};
      if (k <= kFew) {
        insert(items, k, item);
        set_last();
      } else {
        items[count++] = item;
        if (count == 2 * k) keep_best();
      }
    }
  }
  if (k > kFew) {
    keep_best();
    std::sort(items, items + k);
  }
  for (int64_t i = 0; i < k; ++i) line.put(i, static_cast<int64_t>(items[i].place));
}

template <bool kDescending, class T, class Place>
void run(Tensor& y, Tensor& index, const Tensor& x, int64_t dim) {
  using AnItem = Item<SortKey<T>, Place>;
  const Line from(x, dim), to(y, dim), to_index(index, dim);
  const auto loops = make_line_loops<3>({&y, &index, &x}, dim);
  const int64_t n = from.length, k = to.length;
  const bool selects = k < n / 8;
  const auto room = selects ? static_cast<size_t>(2 * k) * sizeof(Item<SortKey<T>, uint64_t>)
                            : static_cast<size_t>(2 * n) * sizeof(AnItem);
  const int64_t y_step = loops.inner_stride(0), index_step = loops.inner_stride(1),
                x_step = loops.inner_stride(2);
  // Sorting costs about 16 steps per element.
  parallel_runs(loops, grain_for(16 * n), [&](int64_t lines, std::array<int64_t, 3> at) {
    const Scratch scratch(room);
    for (int64_t i = 0; i < lines; ++i) {
      const Lines<T> line{x.data_ptr<T>() + at[2] + i * x_step,
                          y.data_ptr<T>() + at[0] + i * y_step,
                          index.data_ptr<int64_t>() + at[1] + i * index_step,
                          from,
                          to,
                          to_index};
      if (selects) {
        select_line<kDescending>(line, scratch.data<Item<SortKey<T>, uint64_t>>());
      } else {
        sort_line<kDescending>(line, scratch.data<AnItem>(), scratch.data<AnItem>() + n);
      }
    }
  });
}

void run_any(Tensor& y, Tensor& index, const Tensor& x, int64_t dim, bool descending) {
  if (y.numel() == 0) return;
  const bool many = Line(x, dim).length > int64_t{UINT32_MAX};
  visit(x.dtype(), [&]<class T>() {
    if (many) {
      descending ? run<true, T, uint64_t>(y, index, x, dim)
                 : run<false, T, uint64_t>(y, index, x, dim);
    } else {
      descending ? run<true, T, uint32_t>(y, index, x, dim)
                 : run<false, T, uint32_t>(y, index, x, dim);
    }
  });
}

}  // namespace

// y, index, x [.., n, ..]
void sort(Tensor& y, Tensor& index, const Tensor& x, int64_t dim, bool descending) {
  run_any(y, index, x, dim, descending);
}

// y, index [.., k, ..], x [.., n, ..]
void topk(Tensor& y, Tensor& index, const Tensor& x, int64_t dim, bool largest) {
  run_any(y, index, x, dim, largest);
}

}  // namespace ambit::cpu
