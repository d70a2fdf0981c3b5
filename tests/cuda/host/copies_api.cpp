// CUDA's copies, in the order that it documents: pageable memory is read during the call and
// written later; pinned memory is read later; the host waits for copies to pageable memory, but not
// to pinned memory.
#include <ambit/api.h>

#include <cstring>
#include <memory>
#include <vector>

#include "api.h"
#include "at_work.h"
#include "capture.h"
#include "memory.h"
#include "shadow.h"

namespace ambit::cuda::host {
namespace {

uintptr_t address(const void* p) { return reinterpret_cast<uintptr_t>(p); }
bool is_device(const void* p) { return device_memory().holds(address(p)); }

// The memory as the driver sees it at the call: one live allocation.
bool is_valid(const void* p, size_t bytes) {
  if (!is_device(p)) return p != nullptr;
  const Allocation* a = device_memory().find(address(p));
  return a && bytes <= a->begin + a->bytes - address(p);
}

// Copy, with checks for GPU memory.
void copy_now(void* to, const void* from, size_t bytes) {
  const bool checks = settings().checks;
  at_work.is_copy = true;
  if (checks && is_device(from)) check_range(Access::copy_read, address(from), bytes);
  if (checks && is_device(to)) check_range(Access::write, address(to), bytes);
  at_work.is_copy = false;
  std::memmove(to, from, bytes);
  if (checks && is_device(from) && is_device(to)) {
    copy_unwritten(address(to), address(from), bytes);
  }
}

cudaError_t queue_copy(Streams& all, Queue& queue, void* to, const void* from, size_t bytes) {
  if (bytes == 0) return cudaSuccess;
  if (!is_valid(to, bytes) || !is_valid(from, bytes)) return cudaErrorInvalidValue;
  const auto is_pageable = [&](const void* p) {
    return !is_device(p) && !pinned_memory().holds(address(p), bytes);
  };
  // CUDA can capture some of these; the graph's copies then use the memory at every launch.
  if (queue.capture && (is_pageable(from) || is_pageable(to))) return refuse_in_capture(queue);
  Work work{"a copy", nullptr, nullptr};
  if (is_pageable(from)) {
    const auto* bytes_from = static_cast<const char*>(from);
    const auto taken = std::make_shared<std::vector<char>>(bytes_from, bytes_from + bytes);
    work.run = [=] { copy_now(to, taken->data(), bytes); };
  } else {
    work.run = [=] { copy_now(to, from, bytes); };
  }
  const cudaError_t status = all.add(queue, std::move(work));
  if (status == cudaSuccess && is_pageable(to)) all.finish(queue);
  return status;
}

bool fits(cudaMemcpyKind kind, const void* to, const void* from) {
  switch (kind) {
    case cudaMemcpyHostToHost:
      return !is_device(to) && !is_device(from);
    case cudaMemcpyHostToDevice:
      return is_device(to) && !is_device(from);
    case cudaMemcpyDeviceToHost:
      return !is_device(to) && is_device(from);
    case cudaMemcpyDeviceToDevice:
      return is_device(to) && is_device(from);
    case cudaMemcpyDefault:
      return true;
  }
  return false;
}

}  // namespace
}  // namespace ambit::cuda::host

using namespace ambit::cuda::host;

extern "C" {

AMBIT_API cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                                      cudaStream_t stream) {
  return call([&](Streams& all) {
    Queue* queue = all.find(stream, current_device());
    if (!queue) return cudaErrorInvalidResourceHandle;
    if (bytes > 0 && !fits(kind, to, from)) return cudaErrorInvalidValue;
    return queue_copy(all, *queue, to, from, bytes);
  });
}

AMBIT_API cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from,
                                          int from_device, size_t bytes, cudaStream_t stream) {
  return call([&](Streams& all) {
    Queue* queue = all.find(stream, current_device());
    if (!queue) return cudaErrorInvalidResourceHandle;
    const auto is_of = [](const void* p, int device) {
      return device_memory().holds(address(p)) && device_memory().device_at(address(p)) == device;
    };
    if (bytes > 0 && (!is_of(to, to_device) || !is_of(from, from_device))) {
      return cudaErrorInvalidValue;
    }
    return queue_copy(all, *queue, to, from, bytes);
  });
}

AMBIT_API cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  const cudaError_t prohibited =
      call([](Streams& all) { return prohibited_by_captures(all, current_device()); });
  if (prohibited != cudaSuccess) return prohibited;
  const cudaError_t status = cudaMemcpyAsync(to, from, bytes, kind, nullptr);
  return status == cudaSuccess ? cudaStreamSynchronize(nullptr) : status;
}

AMBIT_API cudaError_t cudaMemsetAsync(void* to, int value, size_t bytes, cudaStream_t stream) {
  return call([&](Streams& all) {
    Queue* queue = all.find(stream, current_device());
    if (!queue) return cudaErrorInvalidResourceHandle;
    if (bytes == 0) return cudaSuccess;
    if (!device_memory().holds(address(to)) || !is_valid(to, bytes)) return cudaErrorInvalidValue;
    return all.add(*queue, {"a memset", nullptr, [=] {
                              if (settings().checks) {
                                check_range(Access::write, address(to), bytes);
                              }
                              std::memset(to, value, bytes);
                            }});
  });
}
}
