#include "backend.h"

#include <ambit/error.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "bug.h"

namespace planted {
namespace {

using ambit::sim::device_view;

int used(int index) { return has("ignored_index") ? 0 : index; }

}  // namespace

void* PlantedBackend::allocate(int index, size_t bytes) {
  if (has("misaligned")) return static_cast<char*>(SimBackend::allocate(index, bytes + 8)) + 8;
  if (!has("null_when_out_of_memory")) return SimBackend::allocate(used(index), bytes);
  try {
    return SimBackend::allocate(index, bytes);
  } catch (const ambit::OutOfMemoryError&) {
    return nullptr;
  }
}

void PlantedBackend::free(int index, void* p, size_t bytes) noexcept {
  if (has("misaligned")) return SimBackend::free(index, static_cast<char*>(p) - 8, bytes + 8);
  if (has("null_when_out_of_memory") && !p) return;
  static std::atomic<int> calls = 0;
  if (has("leak") && ++calls % 7 == 0) return;
  // The block is overwritten at once by its next owner, although queued work still reads it.
  if (has("early_reuse")) std::memset(device_view(p), 0xff, bytes);
  SimBackend::free(used(index), p, bytes);
}

ambit::MemoryStats PlantedBackend::memory_stats(int index) const {
  return SimBackend::memory_stats(used(index));
}

void PlantedBackend::empty_cache(int index) {
  if (!has("cache_kept")) SimBackend::empty_cache(used(index));
}

void PlantedBackend::copy(int to_index, void* to, int from_index, const void* from, size_t bytes) {
  if (!has("unordered_devices")) {
    return SimBackend::copy(used(to_index), to, used(from_index), from, bytes);
  }
  device(to_index).launch_copy([=] { std::memmove(device_view(to), device_view(from), bytes); });
}

void PlantedBackend::copy_from_host(int index, void* to, const void* host, size_t bytes,
                                    bool non_blocking) {
  if (has("early_copy_in")) {
    std::memcpy(device_view(to), host, bytes);
  } else if (has("late_host_read")) {
    device(index).launch_copy([=] { std::memcpy(device_view(to), host, bytes); });
  } else {
    // The bug: copy only whole words of 16 bytes, not the remaining bytes.
    const size_t copied = has("short_copy") && bytes > 16 ? bytes / 16 * 16 : bytes;
    SimBackend::copy_from_host(used(index), to, host, copied, non_blocking);
  }
}

void PlantedBackend::copy_to_host(int index, void* host, const void* from, size_t bytes,
                                  bool non_blocking) {
  if (has("missed_synchronise")) {
    std::memcpy(host, device_view(from), bytes);
    return;
  }
  try {
    SimBackend::copy_to_host(used(index), host, from, bytes, non_blocking);
  } catch (...) {
    if (!has("lost_error")) throw;
  }
}

void PlantedBackend::wait_for_copies(int index, const void* host) {
  if (!has("unawaited_copy")) SimBackend::wait_for_copies(index, host);
}

void PlantedBackend::synchronize(int index) {
  if (has("idle_synchronise")) return;
  try {
    SimBackend::synchronize(used(index));
  } catch (...) {
    if (!has("lost_error")) throw;
  }
}

}  // namespace planted
