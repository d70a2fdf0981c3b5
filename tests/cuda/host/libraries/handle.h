// Common part of the handles of all libraries: the device that was current, and the stream. Each
// library has its own error codes.
#pragma once

#include <memory>
#include <utility>

#include "live.h"
#include "tests/cuda/host/queue.h"

namespace ambit::cuda::host {

/// Create a handle for the current device; false if there is none.
template <class Context>
bool create_handle(Live<Context>& live, Context** to) {
  auto context = std::make_unique<Context>();
  if (cudaGetDevice(&context->device) != cudaSuccess) return false;
  *to = live.add(std::move(context));
  return true;
}

/// Set the stream of a handle; false if it is of another device, or does not exist.
template <class Context>
bool set_stream(Context& context, cudaStream_t stream) {
  if (device_of(stream) != context.device) return false;
  context.stream = stream;
  return true;
}

}  // namespace ambit::cuda::host
