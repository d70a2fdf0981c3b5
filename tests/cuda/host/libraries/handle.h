// What the handles of all libraries have: the device that was the current one, and the stream that
// they are set to. What a library calls its errors is its own.
#pragma once

#include <memory>
#include <utility>

#include "live.h"
#include "tests/cuda/host/queue.h"

namespace ambit::cuda::host {

/// Make a handle of the current device; false: there is none.
template <class Context>
bool create_handle(Live<Context>& live, Context** to) {
  auto context = std::make_unique<Context>();
  if (cudaGetDevice(&context->device) != cudaSuccess) return false;
  *to = live.add(std::move(context));
  return true;
}

/// Set the stream that a handle works on; false: it is of another device, or there is none.
template <class Context>
bool set_stream(Context& context, cudaStream_t stream) {
  if (device_of(stream) != context.device) return false;
  context.stream = stream;
  return true;
}

}  // namespace ambit::cuda::host
