// Streams and events of the devices `cuda`, named as c10::cuda's (graphs: <ambit/cuda_graph.h>).
// Work queued on different streams may run concurrently. Tensors need no events: ambit orders
// streams by the memory that their work uses. This header compiles without CUDA's headers and
// without a GPU; it finds its functions in libambit_cuda.so on the first call.
//   cuda::Stream side = cuda::getStreamFromPool();
//   {
//     cuda::StreamGuard guard(side);
//     y = x.matmul(w);      // on `side`, after the work that writes x and w
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

struct CUstream_st;  // pointee of cudaStream_t
struct CUevent_st;   // pointee of cudaEvent_t

namespace ambit::cuda {
namespace detail {

/// Function table that the plugin exports as ambit_cuda_streams(), so that a program links only
/// ambit. Streams are never destroyed. Errors: BackendError.
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
/// Return a GPU's index; -1 means Device(kCUDA): cuda:0 or the selection of a DeviceGuard.
inline int chosen(int device_index) {
  return device_index == -1 ? Device(kCUDA).index() : device_index;
}

}  // namespace detail

class Event;

/// A queue of work on one GPU. The object is a handle and cheap to copy. Each thread queues its
/// work on its current stream of each GPU; initially that is a stream of its own.
class Stream {
 public:
  /// Return the index of its GPU.
  int device_index() const { return detail::streams().device(stream_); }
  /// Return its GPU.
  Device device() const { return Device("cuda:" + std::to_string(device_index())); }
  /// Return a number that is unique among the streams of this GPU.
  int64_t id() const { return detail::streams().id(stream_); }
  /// Return the cudaStream_t, for your own kernels and libraries; use it with record_stream().
  CUstream_st* stream() const {
    return static_cast<CUstream_st*>(detail::streams().handle(stream_));
  }
  /// As stream().
  operator CUstream_st*() const { return stream(); }

  /// Return true if all queued work is done. Errors: BackendError if it failed.
  bool query() const { return detail::streams().query(stream_); }
  /// Block the host until all work queued on the stream is done. Errors: the error of failed work;
  /// IndexError or Error for invalid data that kernels of the calling thread found.
  void synchronize() const { detail::streams().synchronize(stream_); }
  /// Make all work queued from now on wait, on the GPU, for the event. No effect if the event was
  /// never recorded.
  void wait(const Event& event) const;

  /// Return true if both are handles of one stream.
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

/// Return the next stream of the pool, round-robin. The pool has 32 streams for each GPU and
/// priority, created on first use, so callers may share a stream. Device -1 means Device(kCUDA),
/// here and below. Errors: BackendError if there is no such GPU.
inline Stream getStreamFromPool(bool isHighPriority = false, int device_index = -1) {
  return Stream(detail::streams().from_pool(detail::chosen(device_index), isHighPriority));
}
/// Return the stream on which the calling thread queues its work.
inline Stream getCurrentCUDAStream(int device_index = -1) {
  return Stream(detail::streams().current(detail::chosen(device_index)));
}
/// Return the calling thread's own stream. Unlike CUDA's default stream, no other thread shares it.
inline Stream getDefaultCUDAStream(int device_index = -1) {
  return Stream(detail::streams().own(detail::chosen(device_index)));
}
/// Make the calling thread queue its work on `stream`. Errors: BackendError, without any change, if
/// another thread is using the stream now or owns it.
inline void setCurrentCUDAStream(Stream stream) { detail::streams().set_current(stream.stream_); }

/// Allow your own work on `stream`, queued through its stream(), to use the memory of t. If called
/// before queueing it, the work is ordered after all earlier uses of the memory; if called after,
/// later uses are ordered after the work, and the memory is not reused earlier. Ops do this
/// themselves. Errors: BackendError for a tensor of another device, and as setCurrentCUDAStream().
inline void record_stream(const Tensor& t, Stream stream) {
  if (t.device() != stream.device()) {
    throw BackendError("record_stream: expected a tensor of device " + stream.device().str() +
                       ", got one of " + t.device().str());
  }
  detail::streams().use(stream.stream_, t.data_ptr());
}

/// Make a stream current for a scope. Errors: as setCurrentCUDAStream().
class StreamGuard {
 public:
  /// Make the stream current.
  explicit StreamGuard(Stream stream)
      : before_(detail::streams().enter(stream.stream_)), current_(stream) {}
  /// Make the previous stream current again.
  ~StreamGuard() { detail::streams().leave(before_.stream_); }
  StreamGuard(const StreamGuard&) = delete;
  StreamGuard& operator=(const StreamGuard&) = delete;

  Stream original_stream() const { return before_; }  ///< the current stream before the scope
  Stream current_stream() const { return current_; }  ///< the guard's stream

 private:
  const Stream before_, current_;
};

/// A point in a stream that other streams and the host can wait for. It belongs to the GPU of the
/// stream on which it is first recorded.
class Event {
 public:
  /// `enable_timing` allows elapsed_time().
  explicit Event(bool enable_timing = false) : timing_(enable_timing) {}
  ~Event() {
    if (event_) detail::streams().destroy_event(event_);
  }
  /// Move the event; the other one is then not created.
  /// @{
  Event(Event&& other) noexcept { swap(other); }
  Event& operator=(Event&& other) noexcept {
    swap(other);
    return *this;
  }
  /// @}

  bool isCreated() const { return event_ != nullptr; }  ///< true after the first record()
  int device_index() const { return device_; }          ///< index of its GPU; -1 if not created
  /// Return the cudaEvent_t, null before the first record().
  CUevent_st* event() const { return static_cast<CUevent_st*>(event_); }

  /// Record all work that is queued on the stream now; this replaces an earlier recording. Errors:
  /// BackendError for a stream of another GPU.
  void record(Stream stream = getCurrentCUDAStream()) {
    if (!event_) {
      const int device = stream.device_index();
      event_ = detail::streams().make_event(device, timing_);
      device_ = device;
    }
    detail::streams().record(event_, stream.stream_);
  }
  /// Record only if it was not recorded yet. Errors: those of record().
  void recordOnce(Stream stream) {
    if (!event_) record(stream);
  }
  /// Make work queued on the stream from now on wait, on the GPU, for this event.
  void block(Stream stream) const {
    if (event_) detail::streams().block(event_, stream.stream_);
  }
  /// Return true if the event is complete or was never recorded.
  bool query() const { return !event_ || detail::streams().query_event(device_, event_); }
  /// Block the host until the event is complete. Errors: as Stream::synchronize().
  void synchronize() const {
    if (event_) detail::streams().synchronize_event(device_, event_);
  }
  /// Return the milliseconds from this event to a later one. Errors: BackendError unless both were
  /// created with timing, recorded, and are complete.
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

/// @cond
template <>
struct std::hash<ambit::cuda::Stream> {
  size_t operator()(const ambit::cuda::Stream& s) const { return std::hash<void*>()(s.stream()); }
};
/// @endcond
