// Runs contiguous inner loops over strided operands: runs that are not contiguous are copied
// through small buffers in the L1 cache. So each op needs one loop, not one per kind of stride.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

#include "backends/cpu/runtime/stream.h"
#include "loops.h"

namespace ambit::cpu {

/// Call f<Bits>() with the unsigned integer type of this size in bytes.
template <class F>
void visit_size(size_t size, const F& f) {
  switch (size) {
    case 1:
      return f.template operator()<uint8_t>();
    case 2:
      return f.template operator()<uint16_t>();
    case 4:
      return f.template operator()<uint32_t>();
    default:
      return f.template operator()<uint64_t>();
  }
}

/// Copy n elements of `size` bytes; strides in elements.
void copy_strided(int64_t n, void* y, int64_t y_stride, const void* x, int64_t x_stride,
                  size_t size);

/// Return true if runs of elements of `size` bytes should be written with non-temporal stores: the
/// result exceeds the caches, and runs are long enough that few cache lines are partial.
inline bool should_stream(int64_t run_length, int64_t numel, size_t size) {
  constexpr int64_t kLongRun = 4096;
  const auto bytes = static_cast<int64_t>(size);
  return run_length * bytes >= kLongRun && outgrows_caches(numel * bytes);
}

/// Call f for n elements, piece by piece, and write the results with non-temporal stores.
template <size_t N, class F>
void stream_run(int64_t n, const std::array<char*, N>& operands, const std::array<size_t, N>& size,
                const F& f) {
  constexpr int64_t kPiece = 1024;
  alignas(64) char result[kPiece * 8];
  for (int64_t begin = 0; begin < n; begin += kPiece) {
    const int64_t m = std::min(kPiece, n - begin);
    std::array<char*, N> p = operands;
    for (size_t i = 0; i < N; ++i) p[i] += begin * static_cast<int64_t>(size[i]);
    char* y = std::exchange(p[0], result);
    f(m, p);
    stream(y, result, static_cast<size_t>(m) * size[0]);
  }
  end_stream();
}

/// Call f(n, pointers) with contiguous operands, the output first, for all elements of tensors of
/// one shape; on several threads from 2 * grain elements on.
template <size_t N, class F>
void for_packed_runs(const std::array<const Tensor*, N>& operands, int64_t grain, const F& f) {
  constexpr int64_t kPiece = 512;
  std::array<char*, N> data;
  std::array<size_t, N> size;
  bool one_run = true;
  for (size_t i = 0; i < N; ++i) {
    data[i] = static_cast<char*>(operands[i]->data_ptr());
    size[i] = element_size(operands[i]->dtype());
    one_run = one_run && operands[i]->is_contiguous();
  }
  const auto at = [&](size_t i, int64_t offset) {
    return data[i] + offset * static_cast<int64_t>(size[i]);
  };
  // In-place ops have already read the cache lines.
  const auto in_place = [&] { return std::count(data.begin(), data.end(), data[0]) > 1; };
  const auto run = [&](bool streams, int64_t n, const std::array<char*, N>& p) {
    if (streams) return stream_run(n, p, size, f);
    f(n, p);
  };
  const int64_t numel = operands[0]->numel();
  if (one_run) {
    const bool streams = should_stream(numel, numel, size[0]) && !in_place();
    return parallel_for(numel, grain, [&](int64_t begin, int64_t end) {
      std::array<char*, N> p;
      for (size_t i = 0; i < N; ++i) p[i] = at(i, begin);
      run(streams, end - begin, p);
    });
  }
  const Loops<N> loops = make_loops<N>(operands);
  bool contiguous = true;
  for (size_t i = 0; i < N; ++i) contiguous = contiguous && loops.inner_stride(i) == 1;
  if (contiguous) {
    const bool streams = should_stream(loops.inner_size(), numel, size[0]) && !in_place();
    return parallel_runs(loops, grain, [&](int64_t n, const std::array<int64_t, N>& offsets) {
      std::array<char*, N> p;
      for (size_t i = 0; i < N; ++i) p[i] = at(i, offsets[i]);
      run(streams, n, p);
    });
  }
  parallel_runs(loops, grain, [&](int64_t n, const std::array<int64_t, N>& offsets) {
    alignas(64) char buffers[N][kPiece * 8];
    for (int64_t begin = 0; begin < n; begin += kPiece) {
      const int64_t m = std::min(kPiece, n - begin);
      std::array<char*, N> p;
      for (size_t i = 0; i < N; ++i) {
        const int64_t stride = loops.inner_stride(i);
        p[i] = stride == 1 ? at(i, offsets[i] + begin) : buffers[i];
        // A stride of 0 fills its buffer once for the whole run.
        const bool pack = i > 0 && (stride == 0 ? begin == 0 : stride != 1);
        if (pack) copy_strided(m, p[i], 1, at(i, offsets[i] + begin * stride), stride, size[i]);
      }
      f(m, p);
      const int64_t y_stride = loops.inner_stride(0);
      if (y_stride != 1) {
        copy_strided(m, at(0, offsets[0] + begin * y_stride), y_stride, p[0], 1, size[0]);
      }
    }
  });
}

}  // namespace ambit::cpu
