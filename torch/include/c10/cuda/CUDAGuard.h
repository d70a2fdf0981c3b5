// Guards of devices named "cuda" and of their streams.
#pragma once

#include <ambit/device.h>
#include <c10/cuda/CUDAStream.h>

#include <deque>
#include <optional>
#include <vector>

namespace ambit::cuda {

class CUDAGuard : public DeviceGuard {
 public:
  explicit CUDAGuard(int device_index) : DeviceGuard(Device(kCUDA, device_index)) {}
  explicit CUDAGuard(Device device) : DeviceGuard(device) {}
};
/// An optional guard.
class OptionalCUDAGuard {
 public:
  OptionalCUDAGuard() = default;
  explicit OptionalCUDAGuard(std::optional<Device> device) {
    if (device) guard_.emplace(*device);
  }

 private:
  std::optional<CUDAGuard> guard_;
};
/// Make the stream current for a scope, and its device Device(kCUDA).
class CUDAStreamGuard : public CUDAGuard, public StreamGuard {
 public:
  explicit CUDAStreamGuard(Stream stream) : CUDAGuard(stream.device()), StreamGuard(stream) {}
};
/// Make streams of several devices current for a scope, without changing Device(kCUDA).
class CUDAMultiStreamGuard {
 public:
  explicit CUDAMultiStreamGuard(const std::vector<Stream>& streams) {
    for (const Stream& stream : streams) guards_.emplace_back(stream);
  }
  ~CUDAMultiStreamGuard() {
    while (!guards_.empty()) guards_.pop_back();  // reverse order: two may share a device
  }
  CUDAMultiStreamGuard(const CUDAMultiStreamGuard&) = delete;
  CUDAMultiStreamGuard& operator=(const CUDAMultiStreamGuard&) = delete;

 private:
  std::deque<StreamGuard> guards_;  // deque: guards cannot move
};

}  // namespace ambit::cuda
