// c10::Stream: a stream of any device. A cuda device of CUDA's backend has several; any other has
// one queue, which is its only stream.
#pragma once

#include <ambit/cuda.h>
#include <ambit/device.h>
#include <c10/core/DeviceType.h>
#include <torch/namespaces.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <ostream>

namespace c10 {

using StreamId = int64_t;

namespace detail {
/// Return true if the device's backend has streams to choose from.
inline bool has_streams(ambit::Device device) {
  static const bool has_cuda = [] {
    try {
      ambit::cuda::getCurrentCUDAStream(0);
      return true;
    } catch (const ambit::BackendError&) {  // simulated devices of that name
      return false;
    }
  }();
  return device.is_cuda() && has_cuda;
}
}  // namespace detail

class Stream {
 public:
  enum Default { DEFAULT };

  /// The device's default stream.
  explicit Stream(Default /*unused*/, ambit::Device device) : device_(device) {
    if (detail::has_streams(device)) cuda_ = ambit::cuda::getDefaultCUDAStream(device.index());
  }
  Stream(ambit::cuda::Stream stream) : device_(stream.device()), cuda_(stream) {}

  ambit::Device device() const { return device_; }
  ambit::DeviceType device_type() const { return device_.type(); }
  DeviceIndex device_index() const { return static_cast<DeviceIndex>(device_.index()); }
  StreamId id() const { return cuda_ ? cuda_->id() : 0; }
  /// Return the cudaStream_t; null for other devices.
  void* native_handle() const { return cuda_ ? cuda_->stream() : nullptr; }

  /// Return true if all queued work is done. A device without streams waits for it.
  bool query() const {
    if (cuda_) return cuda_->query();
    ambit::synchronize(device_);
    return true;
  }
  /// Wait until all queued work is done. Errors: those of ambit::synchronize().
  void synchronize() const {
    if (cuda_) return cuda_->synchronize();
    ambit::synchronize(device_);
  }
  /// Let work queued from now on wait for the event.
  template <class Event>
  void wait(const Event& event) const {
    event.block(*this);
  }

  /// Return the cuda stream, if the device has streams.
  const std::optional<ambit::cuda::Stream>& cuda_stream() const { return cuda_; }
  friend bool operator==(const Stream& a, const Stream& b) {
    return a.device_ == b.device_ && a.id() == b.id();
  }
  friend std::ostream& operator<<(std::ostream& os, const Stream& s) {
    return os << "stream " << s.id() << " on device " << s.device_;
  }

 private:
  ambit::Device device_;
  std::optional<ambit::cuda::Stream> cuda_;
};

}  // namespace c10

template <>
struct std::hash<c10::Stream> {
  size_t operator()(const c10::Stream& s) const {
    return std::hash<int64_t>()(s.id()) * 31 + static_cast<size_t>(s.device_index());
  }
};
