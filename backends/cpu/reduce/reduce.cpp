// Reductions over arbitrary dims and strides. The dims of x are ordered by stride and merged. If
// the innermost dim is reduced, each row is folded into one sum; if it is kept, rows are added to
// as many sums. With few results and much data, the data is split into blocks that do not depend on
// the number of threads, so that the results do not either.
#include <bit>
#include <cmath>
#include <limits>
#include <optional>

#include "backends/cpu/elementwise/half_loops.h"
#include "backends/cpu/elementwise/inner_loops.h"
#include "backends/cpu/elementwise/walk.h"
#include "backends/cpu/kernels.h"
#include "backends/cpu/layout/channels_last.h"
#include "backends/cpu/layout/native_scope.h"
#include "backends/cpu/layout/packing.h"
#include "backends/cpu/runtime/scratch.h"
#include "geometry.h"
#include "reduce_loops.h"

namespace ambit::cpu {
namespace {

constexpr int64_t kFewResults = 64;     // too few to share among threads
constexpr int64_t kPiece = 2048;        // elements of a row at a time
constexpr int64_t kBlock = 2 * kGrain;  // elements per task if the data is split

class Reduction {
 public:
  Reduction(const Tensor& y, const Tensor& x, ReduceOp op)
      : geometry_(geometry_of(y, x)),
        reducer_(reducer(op, loop_dtype(x.dtype()))),
        upcast_(is_reduced_floating(x.dtype()) ? upcast_loop(x.dtype()) : nullptr),
        cast_(cast_loop(loop_dtype(y.dtype()), reducer_.dtype)),
        downcast_(is_reduced_floating(y.dtype()) ? downcast_loop(y.dtype()) : nullptr),
        x_(static_cast<const char*>(x.data_ptr())),
        y_(static_cast<char*>(y.data_ptr())),
        sum_size_(reducer_.sum_size),
        x_size_(static_cast<int64_t>(element_size(x.dtype()))),
        y_size_(static_cast<int64_t>(element_size(y.dtype()))) {
    complete(geometry_.kept);
    complete(geometry_.reduced);
  }

  void run() const {
    const Loops<2>& kept = geometry_.kept;
    const int64_t per_result = geometry_.reduced.numel;
    if (kept.numel < kFewResults && kept.numel * per_result >= 2 * kBlock) return run_in_blocks();
    parallel_for(kept.numel, grain_for(per_result), [&](int64_t begin, int64_t end) {
      alignas(64) char sums[kPiece * Reducer::kMostSumSize];
      for_results(begin, end, [&](int64_t n, const std::array<int64_t, 2>& at) {
        accumulate(n, sums, at[1], 0, per_result);
        finish(n, sums);
        if (reducer_.keep_range && !reducer_.keep_range(n, sums)) [[unlikely]]
          rescale(n, sums, at[1]);
        write(n, at[0], sums);
      });
    });
  }

 private:
  /// Call f(n, offsets) for runs of at most kPiece results along the innermost kept dim.
  template <class F>
  void for_results(int64_t begin, int64_t end, const F& f) const {
    const Loops<2>& kept = geometry_.kept;
    for_runs(kept, begin, end, [&](int64_t n, const std::array<int64_t, 2>& at) {
      for (int64_t i = 0; i < n; i += kPiece) {
        f(std::min(kPiece, n - i), std::array<int64_t, 2>{at[0] + i * kept.inner_stride(0),
                                                          at[1] + i * kept.inner_stride(1)});
      }
    });
  }

  /// sums[0..n) = sums over elements [begin, end) of the reduced dims, for n results.
  void accumulate(int64_t n, char* sums, int64_t x_offset, int64_t begin, int64_t end) const {
    const Loops<1>& reduced = geometry_.reduced;
    reducer_.clear(n, sums);
    if (begin == end) return;
    const int64_t stride = reduced.inner_stride(0), next = geometry_.kept.inner_stride(1);
    if (geometry_.inner_kept) {
      for_runs(reduced, begin, end, [&](int64_t m, const std::array<int64_t, 1>& at) {
        add(n, sums, x_offset + at[0], next, m, stride);
      });
      return;
    }
    for (int64_t i = 0; i < n; ++i, x_offset += next) {
      char* sum = sums + i * sum_size_;
      if (reduced.sizes.size() == 1) {
        fold(end - begin, sum, x_offset + begin * stride, stride);
        continue;
      }
      for_runs(reduced, begin, end, [&](int64_t m, const std::array<int64_t, 1>& at) {
        fold(m, sum, x_offset + at[0], stride);
      });
    }
  }
  /// Add `rows` rows of n elements; `stride` is the distance of elements, `step` that of rows.
  void add(int64_t n, char* sums, int64_t offset, int64_t stride, int64_t rows,
           int64_t step) const {
    const char* row = x_ + offset * x_size_;
    if (upcast_) return add_upcast(n, sums, row, stride, rows, step);
    if (stride == 1) return reducer_.add(n, sums, row, rows, step);
    alignas(64) char packed[kPiece * 8];
    for (; rows > 0; --rows, row += step * x_size_) {
      copy_strided(n, packed, 1, row, stride, static_cast<size_t>(x_size_));
      reducer_.add(n, sums, packed, 1, 0);
    }
  }
  /// As add(), for reduced floating-point types; many contiguous rows at a time.
  void add_upcast(int64_t n, char* sums, const char* row, int64_t stride, int64_t rows,
                  int64_t step) const {
    alignas(64) uint16_t packed[kPiece];
    alignas(64) float wide[kPiece];
    const int64_t most = stride == 1 && step == n ? kPiece / n : 1;
    while (rows > 0) {
      const int64_t count = std::min(rows, most);
      const char* from = row;
      if (stride != 1) {
        copy_strided(n, packed, 1, row, stride, sizeof(uint16_t));
        from = reinterpret_cast<const char*>(packed);
      }
      upcast_(count * n, wide, from);
      reducer_.add(n, sums, wide, count, n);
      row += count * step * x_size_;
      rows -= count;
    }
  }
  void fold_upcast(int64_t n, char* sum, const char* row, int64_t stride) const {
    alignas(64) uint16_t packed[kPiece];
    alignas(64) float wide[kPiece];
    for (int64_t i = 0; i < n; i += kPiece) {
      const int64_t m = std::min(kPiece, n - i);
      const char* from = row + i * stride * x_size_;
      if (stride != 1) {
        copy_strided(m, packed, 1, from, stride, sizeof(uint16_t));
        from = reinterpret_cast<const char*>(packed);
      }
      upcast_(m, wide, from);
      reducer_.fold(m, sum, wide);
    }
  }
  void fold(int64_t n, char* sum, int64_t offset, int64_t stride) const {
    const char* row = x_ + offset * x_size_;
    if (upcast_) return fold_upcast(n, sum, row, stride);
    if (stride == 1) return reducer_.fold(n, sum, row);
    alignas(64) char packed[kPiece * 8];
    for (int64_t i = 0; i < n; i += kPiece) {
      const int64_t m = std::min(kPiece, n - i);
      copy_strided(m, packed, 1, row + i * stride * x_size_, stride, static_cast<size_t>(x_size_));
      reducer_.fold(m, sum, packed);
    }
  }

  /// Replace the sums of n results by the results.
  void finish(int64_t n, char* sums) const {
    if (reducer_.finish) reducer_.finish(n, sums, geometry_.reduced.numel);
  }
  void write(int64_t n, int64_t y_offset, const char* sums) const {
    const int64_t stride = geometry_.kept.inner_stride(0);
    if ((stride == 1 || n == 1) && !downcast_) return cast_(n, y_ + y_offset * y_size_, sums);
    alignas(64) char results[kPiece * 8];
    cast_(n, results, sums);
    const char* from = results;
    alignas(64) uint16_t narrow[kPiece];
    if (downcast_) {
      downcast_(n, narrow, results);
      from = reinterpret_cast<const char*>(narrow);
    }
    copy_strided(n, y_ + y_offset * y_size_, stride, from, 1, static_cast<size_t>(y_size_));
  }

  /// Return the same reduction with another function.
  Reduction with(ReduceOp op) const {
    Reduction other = *this;
    other.reducer_ = reducer(op, kFloat64);
    return other;
  }
  /// Recompute the 2-norms whose squares exceed the range of double. Most of them are norms of
  /// zeros, whose sum of magnitudes is 0: `totals`, or null if the caller has not computed these
  /// sums.
  [[gnu::noinline]] void rescale(int64_t n, char* sums, int64_t x_offset,
                                 const char* totals = nullptr) const {
    auto* norms = reinterpret_cast<double*>(sums);
    const Reduction magnitudes = with(ReduceOp::abs_sum);
    const int64_t count = geometry_.reduced.numel, next = geometry_.kept.inner_stride(1);
    alignas(64) char own[kPiece * sizeof(double)];
    if (!totals && geometry_.inner_kept) magnitudes.accumulate(n, own, x_offset, 0, count);
    for (int64_t i = 0; i < n; ++i) {
      if (reducer_.keep_range(1, norms + i)) continue;
      const int64_t offset = x_offset + i * next;
      char* const at = own + i * sum_size_;
      if (!totals && !geometry_.inner_kept) magnitudes.accumulate(1, at, offset, 0, count);
      const double total = *reinterpret_cast<const double*>(totals ? totals + i * sum_size_ : at);
      norms[i] = total == 0 ? 0 : scaled_norm(offset, total);
    }
  }
  /// The 2-norm of the elements of one result, given the sum of their magnitudes.
  double scaled_norm(int64_t x_offset, double total) const {
    const double most = std::min(total, std::numeric_limits<double>::max());
    const double scale = std::ldexp(1.0, std::ilogb(most));
    const Loops<1>& reduced = geometry_.reduced;
    const auto* x = reinterpret_cast<const double*>(x_) + x_offset;
    double sum = 0;
    for_runs(reduced, 0, reduced.numel, [&](int64_t m, const std::array<int64_t, 1>& at) {
      // Sums of a few squares each, so that the error does not grow with every element.
      for (int64_t first = 0; first < m; first += 256) {
        double squares = 0;
        for (int64_t i = first; i < std::min(m, first + 256); ++i) {
          const double part = x[at[0] + i * reduced.inner_stride(0)] / scale;
          squares += part * part;
        }
        sum += squares;
      }
    });
    return std::sqrt(sum) * scale;
  }

  /// Compute the sums of all results. Each result's elements are split into `blocks` blocks of
  /// `step` elements; `sums` has room for one sum per block and result.
  void sum_blocks(int64_t blocks, int64_t step, char* sums) const {
    const int64_t results = geometry_.kept.numel, per_result = geometry_.reduced.numel;
    parallel_for(blocks, 1, [&](int64_t first, int64_t past) {
      for (int64_t b = first; b < past; ++b) {
        char* to = sums + b * results * sum_size_;
        for_results(0, results, [&](int64_t n, const std::array<int64_t, 2>& at) {
          accumulate(n, to, at[1], b * step, b + 1 == blocks ? per_result : (b + 1) * step);
          to += n * sum_size_;
        });
      }
    });
    reducer_.merge(results, sums, sums + results * sum_size_, blocks - 1, results);
  }

  void run_in_blocks() const {
    const int64_t results = geometry_.kept.numel, per_result = geometry_.reduced.numel;
    // A power of two, which as many threads share equally. x may repeat elements and then has up to
    // 2^63 of them: nothing here exceeds that.
    const auto wanted = static_cast<int64_t>(
        std::bit_ceil(static_cast<uint64_t>((results * per_result - 1) / kBlock + 1)));
    const int64_t step = (per_result - 1) / wanted + 1, blocks = (per_result - 1) / step + 1;
    const auto bytes = static_cast<size_t>(blocks * results * sum_size_);
    const Scratch sums(bytes);
    sum_blocks(blocks, step, sums.data());
    finish(results, sums.data());
    std::optional<Scratch> magnitudes;
    if (reducer_.keep_range && !reducer_.keep_range(results, sums.data())) {
      with(ReduceOp::abs_sum).sum_blocks(blocks, step, magnitudes.emplace(bytes).data());
    }
    int64_t place = 0;
    for_results(0, results, [&](int64_t n, const std::array<int64_t, 2>& at) {
      if (magnitudes) rescale(n, sums.data() + place, at[1], magnitudes->data() + place);
      write(n, at[0], sums.data() + place);
      place += n * sum_size_;
    });
  }

  Geometry geometry_;
  Reducer reducer_;
  // upcast_ is null unless x is float16 or bfloat16, downcast_ unless y is.
  UnaryLoop upcast_, cast_, downcast_;
  const char* x_;
  char* y_;
  int64_t sum_size_, x_size_, y_size_;
};

}  // namespace

void reduce(Tensor& y, const Tensor& x, const ReduceOp& op) {
  if (y.numel() == 0) return;
  if (!is_channels_last(x)) return Reduction(y, x, op).run();
  const NativeScope native({.row_major = {&y}, .inputs = {&x}});
  Reduction(y, native.input(0), op).run();
}

}  // namespace ambit::cpu
