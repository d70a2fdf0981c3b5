// c10::StreamGuard: makes a stream of any device current for a scope, and its device the current
// one of its kind.
#pragma once

#include <c10/core/Stream.h>
#include <c10/cuda/CUDAGuard.h>

#include <optional>

namespace c10 {

class StreamGuard {
 public:
  explicit StreamGuard(Stream stream) : device_(stream.device()), current_(stream) {
    if (stream.cuda_stream()) cuda_.emplace(*stream.cuda_stream());
  }

  Stream current_stream() const { return current_; }
  Stream original_stream() const {
    return cuda_ ? Stream(cuda_->original_stream()) : Stream(Stream::DEFAULT, current_.device());
  }
  ambit::Device current_device() const { return device_.current_device(); }
  ambit::Device original_device() const { return device_.original_device(); }

 private:
  ambit::DeviceGuard device_;
  std::optional<ambit::cuda::StreamGuard> cuda_;
  Stream current_;
};

}  // namespace c10
