// Replaces CUB's DeviceSelect. The work runs on the stream; it requires a workspace of the size
// that it requested, and overwrites it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tests/cuda/host/queue.h"

namespace cub {

struct DeviceSelect {
  /// out [count] = the items whose flag is true; with a null workspace, only return its size.
  template <class Items, class Flag, class Out, class Count>
  static cudaError_t Flagged(void* workspace, size_t& bytes, Items items, const Flag* flags,
                             Out* out, Count* count, int64_t n, cudaStream_t stream) {
    using namespace ambit::cuda;
    const size_t needed = 256 + static_cast<size_t>(n) / 64;
    if (!workspace) {
      bytes = needed;
      return cudaSuccess;
    }
    if (bytes < needed) return cudaErrorInvalidValue;
    return host::enqueue(stream, "cub::DeviceSelect::Flagged", [=] {
      host::check_write(workspace, needed);
      host::check_read(flags, static_cast<size_t>(n) * sizeof(Flag));
      Count found = 0;
      for (int64_t i = 0; i < n; ++i) {
        if (!flags[i]) continue;
        host::check_write(out + found, sizeof(Out));
        out[found++] = items[i];
      }
      host::check_write(count, sizeof(Count));
      *count = found;
    });
  }
};

}  // namespace cub
