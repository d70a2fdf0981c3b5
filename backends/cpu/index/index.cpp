// Reading and writing elements selected by an int64 tensor. All indices are checked before anything
// is written.
#include <ambit/backend/arithmetic.h>
#include <ambit/error.h>
#include <fmt/format.h>

#include "backends/cpu/index/indices.h"
#include "backends/cpu/kernels.h"
#include "backends/cpu/layout/lines.h"
#include "backends/cpu/layout/packing.h"

namespace ambit::cpu {

void check_indices(const char* op, const Tensor& index, int64_t bound) {
  const auto loops = make_loops<1>({&index});
  const int64_t* data = index.data_ptr<int64_t>();
  const int64_t stride = loops.inner_stride(0);
  parallel_runs(loops, kGrain, [&](int64_t n, const std::array<int64_t, 1>& at) {
    for (int64_t i = 0; i < n; ++i) {
      const int64_t v = data[at[0] + i * stride];
      if (v >= 0 && v < bound) continue;
      throw IndexError(fmt::format("{}: expected an index in [0, {}), got {}", op, bound, v));
    }
  });
}

namespace {

/// Return loops over the shape of index, with stride 0 along dim for `indexed` (operand 2), whose
/// position along dim comes from the index. Operands: index, other, indexed.
Loops<3> make_index_loops(const Tensor& index, const Tensor& other, const Tensor& indexed,
                          int64_t dim) {
  Loops<3> loops;
  loops.numel = index.numel();
  loops.sizes = index.sizes();
  loops.strides = {Dims(index.strides()), Dims(other.strides()), Dims(indexed.strides())};
  if (index.dim() > 0) loops.strides[2][static_cast<size_t>(dim)] = 0;
  collapse(loops.sizes, loops.strides.data(), 3);
  return loops;
}

/// Call f(n, place, other) for runs of elements; place(i) and other(i) are the offsets of element i
/// in `indexed` and `other`.
template <class F>
void for_places(const Loops<3>& loops, const Tensor& index, const Line& line, int64_t begin,
                int64_t end, const F& f) {
  const int64_t* indices = index.data_ptr<int64_t>();
  const int64_t index_step = loops.inner_stride(0), other_step = loops.inner_stride(1),
                indexed_step = loops.inner_stride(2);
  for_runs(loops, begin, end, [&](int64_t n, const std::array<int64_t, 3>& at) {
    for (int64_t i = 0; i < n; ++i) {
      f(at[2] + i * indexed_step + indices[at[0] + i * index_step] * line.step,
        at[1] + i * other_step);
    }
  });
}

/// y[place] = f(y[place], src), on one thread, because several indices may be equal.
template <class F>
void write_places(const char* op, Tensor& y, const Tensor& index, const Tensor& src, int64_t dim,
                  const F& f) {
  const Line line(y, dim);
  check_indices(op, index, line.length);
  if (index.numel() == 0) return;
  const Loops<3> loops = make_index_loops(index, src, y, dim);
  visit(y.dtype(), [&]<class T>() {
    T* to = y.data_ptr<T>();
    const T* from = src.data_ptr<T>();
    for_places(loops, index, line, 0, loops.numel,
               [&](int64_t place, int64_t other) { to[place] = f(to[place], from[other]); });
  });
}

/// Return the offset along a dim of the i-th selected row.
int64_t row_offset(const Tensor& index, int64_t i, const Line& line) {
  return index.data_ptr<int64_t>()[i * Line(index, 0).step] * line.step;
}

}  // namespace

void gather(Tensor& y, const Tensor& x, const Tensor& index, int64_t dim) {
  const Line line(x, dim);
  check_indices("gather", index, line.length);
  if (y.numel() == 0) return;
  const Loops<3> loops = make_index_loops(index, y, x, dim);
  visit(y.dtype(), [&]<class T>() {
    T* to = y.data_ptr<T>();
    const T* from = x.data_ptr<T>();
    parallel_for(loops.numel, kGrain / 4, [&](int64_t begin, int64_t end) {
      for_places(loops, index, line, begin, end,
                 [&](int64_t place, int64_t other) { to[other] = from[place]; });
    });
  });
}

void scatter(Tensor& y, const Tensor& index, const Tensor& src, int64_t dim) {
  write_places("scatter", y, index, src, dim, [](auto, auto value) { return value; });
}

void scatter_add(Tensor& y, const Tensor& index, const Tensor& src, int64_t dim) {
  write_places("scatter_add", y, index, src, dim,
               [](auto before, auto value) { return arithmetic::wrap_add(before, value); });
}

void scatter_reduce(Tensor& y, const Tensor& index, const Tensor& src, int64_t dim,
                    const ScatterOp& op) {
  constexpr const char* kOp = "scatter_reduce";
  switch (op) {
    case ScatterOp::prod:
      return write_places(kOp, y, index, src, dim, [](auto before, auto value) {
        return arithmetic::wrap_mul(before, value);
      });
    case ScatterOp::max:
      return write_places(kOp, y, index, src, dim, [](auto before, auto value) {
        return arithmetic::maximum(before, value);
      });
    case ScatterOp::min:
      return write_places(kOp, y, index, src, dim, [](auto before, auto value) {
        return arithmetic::minimum(before, value);
      });
  }
}

void nonzero(Tensor& y, const Tensor& x) {
  if (y.dim() < 2 || y.sizes()[1] == 0) return;
  const bool* from = x.data_ptr<bool>();
  int64_t* to = y.data_ptr<int64_t>();
  const size_t dims = x.sizes().size();
  for (int64_t i = 0; i < x.numel(); ++i) {
    if (!from[i]) continue;
    int64_t rest = i;
    for (size_t d = dims; d-- > 0;) {
      to[d] = rest % x.sizes()[d];
      rest /= x.sizes()[d];
    }
    to += dims;
  }
}

namespace {

/// Return true if the indices decrease by one, as those of flip do.
bool falls(const Tensor& index) {
  const int64_t* at = index.data_ptr<int64_t>();
  const int64_t n = index.numel(), step = Line(index, 0).step;
  if (at[0] - at[(n - 1) * step] != n - 1) return false;
  for (int64_t i = 1; i < n; ++i) {
    if (at[i * step] != at[0] - i) return false;
  }
  return true;
}

/// y [.., n], x [.., m], with contiguous lines. Threads process whole lines, or pieces of a line if
/// lines are long.
template <class Bits>
void select_in_lines(Bits* y, const Bits* x, const Loops<2>& lines, const Tensor& index) {
  constexpr int64_t kPiece = 4096;
  const int64_t n = index.numel(), step = Line(index, 0).step, pieces = ceil_div(n, kPiece);
  const int64_t* const at = index.data_ptr<int64_t>();
  const bool reversed = falls(index);
  const auto select = [&](Bits* to, const Bits* from, int64_t begin, int64_t end) {
    if (reversed) {
#pragma omp simd
      for (int64_t i = begin; i < end; ++i) to[i] = from[at[0] - i];
    } else {
      for (int64_t i = begin; i < end; ++i) to[i] = from[at[i * step]];
    }
  };
  parallel_for(lines.numel * pieces, grain_for(std::min(n, kPiece)), [&](int64_t i, int64_t past) {
    while (i < past) {
      const int64_t line = i / pieces, piece = i % pieces;
      const int64_t whole = pieces == 1 ? past - i : 1;  // lines processed together
      for_runs(lines, line, line + whole, [&](int64_t m, const std::array<int64_t, 2>& start) {
        for (int64_t j = 0; j < m; ++j) {
          select(y + start[0] + j * lines.inner_stride(0), x + start[1] + j * lines.inner_stride(1),
                 piece * kPiece, std::min(n, (piece + 1) * kPiece));
        }
      });
      i += whole;
    }
  });
}

}  // namespace

// y [.., n, ..], x [.., m, ..], index [n]
void index_select(Tensor& y, const Tensor& x, const Tensor& index, int64_t dim) {
  const Line from(x, dim), to(y, dim);
  check_indices("index_select", index, from.length);
  if (y.numel() == 0) return;
  const auto loops = make_line_loops<2>({&y, &x}, dim);
  const size_t size = element_size(y.dtype());
  char* py = static_cast<char*>(y.data_ptr());
  const char* px = static_cast<const char*>(x.data_ptr());
  const auto bytes = [size](int64_t elements) { return elements * static_cast<int64_t>(size); };
  const auto bytes_of_row = static_cast<size_t>(loops.numel) * size;
  constexpr int64_t kShortLine = 16;
  if (to.step == 1 && from.step == 1 && y.dim() > 0 && index.numel() >= kShortLine) {
    return visit_size(size, [&]<class Bits>() {
      select_in_lines(static_cast<Bits*>(y.data_ptr()), static_cast<const Bits*>(x.data_ptr()),
                      loops, index);
    });
  }
  const bool whole_rows =
      loops.sizes.size() == 1 && loops.inner_stride(0) == 1 && loops.inner_stride(1) == 1;
  parallel_for(index.numel(), grain_for(loops.numel), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t row = row_offset(index, i, from);
      if (whole_rows) {  // skip for_runs, which costs more than copying a short row
        std::memcpy(py + bytes(i * to.step), px + bytes(row), bytes_of_row);
        continue;
      }
      for_runs(loops, 0, loops.numel, [&](int64_t n, const std::array<int64_t, 2>& at) {
        copy_strided(n, py + bytes(at[0] + i * to.step), loops.inner_stride(0),
                     px + bytes(at[1] + row), loops.inner_stride(1), size);
      });
    }
  });
}

// y [.., m, ..], src [.., n, ..], index [n]
void index_add(Tensor& y, const Tensor& index, const Tensor& src, int64_t dim) {
  const Line to(y, dim), from(src, dim);
  check_indices("index_add", index, to.length);
  if (src.numel() == 0) return;
  const auto loops = make_line_loops<2>({&src, &y}, dim);
  const int64_t from_step = loops.inner_stride(0), to_step = loops.inner_stride(1);
  visit(y.dtype(), [&]<class T>() {
    T* py = y.data_ptr<T>();
    const T* ps = src.data_ptr<T>();
    const auto* row = index.data_ptr<int64_t>();
    const int64_t rows = index.numel(), row_step = Line(index, 0).step;
    // Each thread processes a part of every row, so that threads write to different sums.
    parallel_for(loops.numel, grain_for(rows), [&](int64_t begin, int64_t end) {
      for_runs(loops, begin, end, [&](int64_t n, const std::array<int64_t, 2>& at) {
        for (int64_t i = 0; i < rows; ++i) {
          const T* source = ps + at[0] + i * from.step;
          T* target = py + at[1] + row[i * row_step] * to.step;
          for (int64_t j = 0; j < n; ++j) {
            target[j * to_step] = arithmetic::wrap_add(target[j * to_step], source[j * from_step]);
          }
        }
      });
    });
  });
}

}  // namespace ambit::cpu
