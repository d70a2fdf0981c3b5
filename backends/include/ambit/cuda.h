// Streams and events of the devices `cuda`, and by <ambit/cuda_graph.h> graphs, named as
// c10::cuda's: what is queued on one stream may run beside what is queued on another. Tensors need
// no events: ambit orders streams by what they use, whichever they are. Needs neither CUDA's
// headers nor a GPU to compile; the functions are those of libambit_cuda.so, found when the first
// is called.
//   cuda::Stream side = cuda::getStreamFromPool();
//   {
//     cuda::StreamGuard guard(side);
//     y = x.matmul(w);      // on `side`, after what x and w need
//   }
//   z = y + 1;              // on this thread's own stream, after the product
#pragma once

#include <ambit/cuda_graph.h>
#include <ambit/cuda_table.h>
#include <ambit/device.h>
#include <ambit/error.h>
#include <ambit/tensor.h>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

struct CUstream_st;  // what a cudaStream_t points to
struct CUevent_st;   // and a cudaEvent_t

namespace ambit::cuda {
namespace detail {

/// The table that the plugin exports as ambit_cuda_streams(): a program links ambit alone. Streams
/// are never destroyed. Errors: BackendError.
struct StreamFunctions {
  void* (*from_pool)(int device, bool high_priority);
  void* (*current)(int device);
  void* (*own)(int device);
  void (*set_current)(void* stream);
  void* (*enter)(void* stream);
  void (*leave)(void* before);
  int (*device)(void* stream);
  int64_t (*id)(void* stream);
  void* (*handle)(void* stream);
  bool (*query)(void* stream);
  void (*synchronize)(void* stream);
  void (*use)(void* stream, const void* memory);

  void* (*make_event)(int device, bool timing);
  void (*destroy_event)(void* event);
  void (*record)(void* event, void* stream);
  void (*block)(void* event, void* stream);
  bool (*query_event)(int device, void* event);
  void (*synchronize_event)(int device, void* event);
  float (*elapsed)(int device, void* from, void* to);
};

inline const StreamFunctions& streams() {
  static const auto* const found = find_table<StreamFunctions>("ambit_cuda_streams");
  return *found;
}
/// Which GPU an index is: of -1 Device(kCUDA), cuda:0 or what a DeviceGuard has chosen.
inline int chosen(int device_index) {
  return device_index == -1 ? Device(kCUDA).index() : device_index;
}

}  // namespace detail

class Event;

/// A queue of work on one GPU: a name for it, copied freely. A thread queues its work on its
/// current stream of each GPU, at first one of its own.
class Stream {
 public:
  int device_index() const { return detail::streams().device(stream_); }
  Device device() const { return Device("cuda:" + std::to_string(device_index())); }
  /// Return a number that tells it from the other streams of its GPU.
  int64_t id() const { return detail::streams().id(stream_); }
  /// Return the cudaStream_t, for kernels and libraries of your own: record_stream() goes with
  /// them.
  CUstream_st* stream() const {
    return static_cast<CUstream_st*>(detail::streams().handle(stream_));
  }
  operator CUstream_st*() const { return stream(); }

  /// Return whether all work queued on it is done. Errors: BackendError when that has failed.
  bool query() const { return detail::streams().query(stream_); }
  /// Wait, on the host, for all work queued on it. Errors: what failed in it; IndexError and Error
  /// of bad data that the calling thread's kernels have met.
  void synchronize() const { detail::streams().synchronize(stream_); }
  /// Let all work queued from now on wait, on the GPU, for what the event stands for. One that was
  /// never recorded stands for nothing.
  void wait(const Event& event) const;

  friend bool operator==(const Stream& a, const Stream& b) { return a.stream_ == b.stream_; }

 private:
  explicit Stream(void* stream) : stream_(stream) {}
  friend Stream getStreamFromPool(bool isHighPriority, int device_index);
  friend Stream getCurrentCUDAStream(int device_index);
  friend Stream getDefaultCUDAStream(int device_index);
  friend void setCurrentCUDAStream(Stream stream);
  friend void record_stream(const Tensor& t, Stream stream);
  friend class StreamGuard;
  friend class Event;

  void* stream_;
};

/// Return a stream of the pool: one in turn of 32 for each GPU and priority, made when they are
/// first asked for, so that one may meet others there. Device -1 is Device(kCUDA), here and below.
/// Errors: BackendError for no such GPU.
inline Stream getStreamFromPool(bool isHighPriority = false, int device_index = -1) {
  return Stream(detail::streams().from_pool(detail::chosen(device_index), isHighPriority));
}
/// Return the stream that the calling thread queues its work on.
inline Stream getCurrentCUDAStream(int device_index = -1) {
  return Stream(detail::streams().current(detail::chosen(device_index)));
}
/// Return the calling thread's own stream: unlike CUDA's default stream no other thread's.
inline Stream getDefaultCUDAStream(int device_index = -1) {
  return Stream(detail::streams().own(detail::chosen(device_index)));
}
/// Let the calling thread queue its work on `stream` from now on. Errors: BackendError, and nothing
/// has changed, for a stream that another thread queues on now, or another thread's own.
inline void setCurrentCUDAStream(Stream stream) { detail::streams().set_current(stream.stream_); }

/// Let work of your own on `stream`, queued through its stream(), use the memory of t: called
/// before, the work comes after all that uses the memory so far; called after, others come after
/// the work, and the memory is not used again before. Ops do that themselves. Errors: BackendError
/// for a tensor of another device, and as setCurrentCUDAStream().
inline void record_stream(const Tensor& t, Stream stream) {
  if (t.device() != stream.device()) {
    throw BackendError("record_stream: expected a tensor of device " + stream.device().str() +
                       ", got one of " + t.device().str());
  }
  detail::streams().use(stream.stream_, t.data_ptr());
}

/// A stream is current in a scope. Errors: as setCurrentCUDAStream().
class StreamGuard {
 public:
  explicit StreamGuard(Stream stream)
      : before_(detail::streams().enter(stream.stream_)), current_(stream) {}
  ~StreamGuard() { detail::streams().leave(before_.stream_); }
  StreamGuard(const StreamGuard&) = delete;
  StreamGuard& operator=(const StreamGuard&) = delete;

  Stream original_stream() const { return before_; }
  Stream current_stream() const { return current_; }

 private:
  const Stream before_, current_;
};

/// A place in a stream, which others and the host can wait for. Of the GPU of the stream that it is
/// first recorded on.
class Event {
 public:
  /// With `enable_timing` elapsed_time() can be asked.
  explicit Event(bool enable_timing = false) : timing_(enable_timing) {}
  ~Event() {
    if (event_) detail::streams().destroy_event(event_);
  }
  Event(Event&& other) noexcept { swap(other); }
  Event& operator=(Event&& other) noexcept {
    swap(other);
    return *this;
  }

  bool isCreated() const { return event_ != nullptr; }
  int device_index() const { return device_; }
  /// Return the cudaEvent_t, null before the first record().
  CUevent_st* event() const { return static_cast<CUevent_st*>(event_); }

  /// Stand for all work that is queued on the stream now, and for no other any more. Errors:
  /// BackendError for a stream of another GPU.
  void record(Stream stream = getCurrentCUDAStream()) {
    if (!event_) {
      const int device = stream.device_index();
      event_ = detail::streams().make_event(device, timing_);
      device_ = device;
    }
    detail::streams().record(event_, stream.stream_);
  }
  void recordOnce(Stream stream) {
    if (!event_) record(stream);
  }
  /// Let what is queued on the stream from now on wait for it, on the GPU.
  void block(Stream stream) const {
    if (event_) detail::streams().block(event_, stream.stream_);
  }
  /// Return whether it is reached; so is one that was never recorded.
  bool query() const { return !event_ || detail::streams().query_event(device_, event_); }
  /// Wait for it on the host. Errors: as Stream::synchronize().
  void synchronize() const {
    if (event_) detail::streams().synchronize_event(device_, event_);
  }
  /// Return the milliseconds from this to a later event. Errors: BackendError where one was not
  /// made with timing, recorded, and reached.
  float elapsed_time(const Event& later) const {
    if (!event_ || !later.event_) {
      throw BackendError(
          "elapsed_time: expected two events that were recorded, got one that was not");
    }
    return detail::streams().elapsed(device_, event_, later.event_);
  }

 private:
  void swap(Event& other) noexcept {
    std::swap(event_, other.event_);
    std::swap(device_, other.device_);
    std::swap(timing_, other.timing_);
  }

  void* event_ = nullptr;
  int device_ = -1;
  bool timing_ = false;
};

inline void Stream::wait(const Event& event) const { event.block(*this); }

}  // namespace ambit::cuda

template <>
struct std::hash<ambit::cuda::Stream> {
  size_t operator()(const ambit::cuda::Stream& s) const { return std::hash<void*>()(s.stream()); }
};
