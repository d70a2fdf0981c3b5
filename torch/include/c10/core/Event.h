// c10::Event: a point in the work of a device of any kind.
#pragma once

#include <ambit/error.h>
#include <c10/core/Stream.h>

#include <chrono>
#include <optional>
#include <string>

namespace c10 {

enum class EventFlag { PYTORCH_DEFAULT, BACKEND_DEFAULT, INVALID };

/// BACKEND_DEFAULT: with timing, for elapsedTime(). On a device without streams, where work runs in
/// the order of its calls, the host waits instead of another device, and record() of an event with
/// timing waits, too.
class Event {
 public:
  explicit Event(ambit::DeviceType type, EventFlag flag = EventFlag::PYTORCH_DEFAULT)
      : type_(type), flag_(flag), cuda_(flag == EventFlag::BACKEND_DEFAULT) {}
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  Event(Event&&) noexcept = default;
  Event& operator=(Event&&) noexcept = default;

  ambit::DeviceType device_type() const { return type_; }
  /// The device of the recorded stream; -1 before a recording.
  DeviceIndex device_index() const {
    return static_cast<DeviceIndex>(device_ ? device_->index() : -1);
  }
  /// Errors: those of Device.
  ambit::Device device() const { return device_.value_or(ambit::Device(type_)); }
  EventFlag flag() const { return flag_; }
  bool was_marked_for_recording() const { return device_.has_value(); }

  /// Record all work that is queued now. Errors: BackendError for a stream of another device.
  void record(const Stream& stream) {
    if (stream.device_type() != type_ || (device_ && *device_ != stream.device())) {
      throw ambit::BackendError("Event::record: expected a stream of " +
                                (device_ ? device_->str() : std::string(type_)) + ", got one of " +
                                stream.device().str());
    }
    if (stream.cuda_stream()) {
      cuda_.record(*stream.cuda_stream());
    } else if (flag_ == EventFlag::BACKEND_DEFAULT) {
      ambit::synchronize(stream.device());
      time_ = std::chrono::steady_clock::now();
    }
    device_ = stream.device();
  }
  void recordOnce(const Stream& stream) {
    if (!device_) record(stream);
  }
  /// Let work queued on the stream from now on wait for the event.
  void block(const Stream& stream) const {
    if (!device_) return;
    if (cuda_.isCreated() && stream.cuda_stream()) return cuda_.block(*stream.cuda_stream());
    if (stream.device() != *device_) synchronize();
  }
  /// Return true if the event is complete or was never recorded. A device without streams waits.
  bool query() const {
    if (cuda_.isCreated()) return cuda_.query();
    synchronize();
    return true;
  }
  /// Wait until the event is complete. Errors: those of ambit::synchronize().
  void synchronize() const {
    if (cuda_.isCreated()) return cuda_.synchronize();
    if (device_) ambit::synchronize(*device_);
  }
  /// Return the milliseconds from this event to a later one. Errors: BackendError unless both were
  /// recorded with timing on the same device.
  double elapsedTime(const Event& later) const {
    if (flag_ != EventFlag::BACKEND_DEFAULT || later.flag_ != flag_ || !device_ ||
        device_ != later.device_) {
      throw ambit::BackendError(
          "elapsedTime: expected two events that were recorded with time on the same device, got "
          "others");
    }
    if (cuda_.isCreated()) return cuda_.elapsed_time(later.cuda_);
    return std::chrono::duration<double, std::milli>(later.time_ - time_).count();
  }
  /// Return the cudaEvent_t; null for other devices.
  void* eventId() const { return cuda_.event(); }

 private:
  ambit::DeviceType type_;
  EventFlag flag_;
  std::optional<ambit::Device> device_;
  ambit::cuda::Event cuda_;
  std::chrono::steady_clock::time_point time_;
};

}  // namespace c10

namespace torch {
using c10::Event;
}  // namespace torch
