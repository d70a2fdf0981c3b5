#include "time_mark.h"

#include <map>
#include <mutex>
#include <utility>

#include "backends/cuda/driver/error.h"
#include "gpu.h"

namespace ambit::cuda {
namespace {

class TimedEvent {
 public:
  explicit TimedEvent(cudaStream_t stream) {
    check(cudaEventCreate(&event_), "cudaEventCreate");
    if (const cudaError_t status = cudaEventRecord(event_, stream); status != cudaSuccess) {
      static_cast<void>(cudaEventDestroy(event_));
      check(status, "cudaEventRecord");
    }
  }
  ~TimedEvent() { static_cast<void>(cudaEventDestroy(event_)); }
  TimedEvent(const TimedEvent&) = delete;
  TimedEvent& operator=(const TimedEvent&) = delete;
  cudaEvent_t get() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

// The reference for event times. CUDA returns milliseconds as a float, which is too coarse for long
// intervals: the origin is moved forward with the events.
struct Origin {
  std::shared_ptr<TimedEvent> event;
  int64_t nanoseconds = 0;
};

class EventMark final : public TimeMark {
 public:
  EventMark(int index, cudaStream_t stream)
      : index_(index), event_(std::make_shared<TimedEvent>(stream)) {
    const std::lock_guard lock(mutex());
    Origin& origin = origins()[index_];
    if (!origin.event) origin.event = event_;
  }

  int64_t nanoseconds() noexcept override {
    constexpr float kLongStretch = 500;  // milliseconds; a float then resolves 60 ns
    if (cudaEventSynchronize(event_->get()) != cudaSuccess) return -1;
    const std::lock_guard lock(mutex());
    Origin& origin = origins().find(index_)->second;
    float ms = 0;
    if (cudaEventSynchronize(origin.event->get()) != cudaSuccess ||
        cudaEventElapsedTime(&ms, origin.event->get(), event_->get()) != cudaSuccess) {
      return -1;
    }
    const int64_t at = origin.nanoseconds + static_cast<int64_t>(static_cast<double>(ms) * 1e6);
    if (ms > kLongStretch) origin = {event_, at};
    return at;
  }

 private:
  static std::mutex& mutex() {
    static auto* const m = new std::mutex;
    return *m;
  }
  // Leaked: the driver may be gone when statics are destroyed.
  static std::map<int, Origin>& origins() {
    static auto* const all = new std::map<int, Origin>;
    return *all;
  }

  const int index_;
  const std::shared_ptr<TimedEvent> event_;
};

}  // namespace

std::unique_ptr<TimeMark> make_time_mark(int index) {
  Gpu& where = gpu(index);
  if (where.stream().capture) return nullptr;  // captured work has no time
  return std::make_unique<EventMark>(index, where.stream().handle);
}

}  // namespace ambit::cuda
