// The streams of a thread.
#pragma once

#include <ambit/error.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "backends/cuda/driver/stream.h"
#include "gpu.h"
#include "graph.h"

namespace ambit::cuda {

// Far more than a machine has.
inline constexpr int kMaxGpus = 64;

/// The streams of one thread: its own, which pass to other threads when it ends, and the pool
/// streams that it has selected.
class ThreadStreams {
 public:
  ~ThreadStreams() {
    for (GpuStream* s : current_) {
      if (s && s->capture) s = s->below;
      if (s && s->is_pooled) s->holder.store(nullptr, std::memory_order_release);
    }
    // The next thread that gets this thread's own stream and fault record runs after its work.
    for (const GpuStream* s : chosen_) {
      const GpuStream* own = own_[static_cast<size_t>(s->device)];
      static_cast<void>(cudaEventRecord(s->reached, s->handle));
      static_cast<void>(cudaStreamWaitEvent(own->handle, s->reached, 0));
      static_cast<void>(cudaGetLastError());
    }
    for (GpuStream* s : own_) {
      if (s) s->gpu.give_back(s);
    }
  }

  GpuStream& on(Gpu& gpu) {
    GpuStream*& s = current_[static_cast<size_t>(gpu.index())];
    if (!s) s = &own_on(gpu);
    return *s;
  }
  GpuStream& own_on(Gpu& gpu) {
    GpuStream*& s = own_[static_cast<size_t>(gpu.index())];
    if (!s) s = gpu.take_stream();
    return *s;
  }
  GpuStream* known_own_on(const Gpu& gpu) const { return own_[static_cast<size_t>(gpu.index())]; }

  // Return the previous current stream, which stays held.
  GpuStream& enter(GpuStream& stream) {
    GpuStream& before = on(stream.gpu);
    if (before.capture) before.capture->refuse("another stream");
    hold(stream);
    current_[static_cast<size_t>(stream.device)] = &stream;
    return before;
  }
  void leave(GpuStream& before) noexcept {
    GpuStream*& s = current_[static_cast<size_t>(before.device)];
    GpuStream*& left = s->capture ? s->below : s;
    release(*left);
    left = &before;
  }
  void begin_capture(GpuStream& stream) {
    stream.below = &on(stream.gpu);
    current_[static_cast<size_t>(stream.device)] = &stream;
  }
  void end_capture(GpuStream& stream) noexcept {
    GpuStream*& s = current_[static_cast<size_t>(stream.device)];
    if (s == &stream) s = stream.below;
  }
  void hold(GpuStream& stream) {
    if (!stream.is_pooled) {
      if (&stream == &own_on(stream.gpu)) return;
      throw BackendError(
          fmt::format("cuda: expected a stream of the pool or the calling thread's own, got "
                      "another thread's own of {}",
                      stream.gpu.name()));
    }
    // Relaxed: the load only recognises this thread's own store. The acquire of null synchronises
    // with the release by the previous holder, so that `holds` and the stream's handles have one
    // owner.
    if (stream.holder.load(std::memory_order_relaxed) != this) {
      if (std::find(chosen_.begin(), chosen_.end(), &stream) == chosen_.end()) {
        chosen_.push_back(&stream);
      }
      const void* no_holder = nullptr;
      if (!stream.holder.compare_exchange_strong(no_holder, this, std::memory_order_acquire)) {
        throw BackendError(
            fmt::format("cuda: expected a stream of the pool that no other thread has made "
                        "current, got stream {} of {}, which one has",
                        stream.clock.id, stream.gpu.name()));
      }
      stream.holds = 0;
    }
    ++stream.holds;
  }
  void release(GpuStream& stream) noexcept {
    if (!stream.is_pooled || --stream.holds > 0) return;
    stream.holder.store(nullptr, std::memory_order_release);
  }

  static ThreadStreams& mine() {
    thread_local ThreadStreams streams;
    return streams;
  }

 private:
  std::array<GpuStream*, kMaxGpus> own_{}, current_{};
  std::vector<GpuStream*> chosen_;  // selected pool streams, once each
};

}  // namespace ambit::cuda
