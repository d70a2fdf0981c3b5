#include "gpu.h"

#include <ambit/error.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "backends/cuda/driver/counters.h"
#include "backends/cuda/driver/error.h"
#include "thread_streams.h"

namespace ambit::cuda {
namespace {

// The size is fixed, so that lookup needs no lock.
// The release store of gpu() publishes the object; the second load is under its mutex.
constinit std::array<std::atomic<Gpu*>, kMaxGpus> gpus{};

std::string reason_for(cudaError_t status) {
  const CudaVersions versions = cuda_versions();
  if (versions.driver == "0.0") return "expected the NVIDIA driver, got none";
  if (status == cudaErrorInsufficientDriver && versions.driver != versions.runtime) {
    return fmt::format("expected a driver for CUDA {}, got one for {}", versions.runtime,
                       versions.driver);
  }
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  return fmt::format("{}{}", cudaGetErrorString(status),
                     visible ? fmt::format(" (CUDA_VISIBLE_DEVICES=\"{}\")", visible) : "");
}

struct Census {
  int count = 0;
  std::string reason;
};

const Census& census() {
  static const auto* found = [] {
    auto* c = new Census;  // leaked: used until exit
    const cudaError_t status = cudaGetDeviceCount(&c->count);
    if (status != cudaSuccess || c->count == 0) {
      c->count = 0;
      c->reason = reason_for(status == cudaSuccess ? cudaErrorNoDevice : status);
      static_cast<void>(cudaGetLastError());
    }
    c->count = std::min(c->count, kMaxGpus);
    return c;
  }();
  return *found;
}

}  // namespace

CudaVersions cuda_versions() noexcept {
  int driver = 0, runtime = 0;
  static_cast<void>(cudaDriverGetVersion(&driver));
  static_cast<void>(cudaRuntimeGetVersion(&runtime));
  const auto text = [](int v) { return fmt::format("{}.{}", v / 1000, v % 1000 / 10); };
  return {text(driver), text(runtime)};
}

// AMBIT_CUDA_CACHE=0 lets tools such as compute-sanitizer check each tensor's memory separately.
static bool caches_memory() {
  const char* value = std::getenv("AMBIT_CUDA_CACHE");
  return !value || std::string_view(value) != "0";
}

Gpu::Gpu(int index)
    : index_(index),
      name_("cuda:" + std::to_string(index)),
      allocator_(memory_, *this, name_, caches_memory()) {
  check(cudaGetDeviceProperties(&properties_, index), "cudaGetDeviceProperties");
}

GpuStream& Gpu::stream() { return ThreadStreams::mine().on(*this); }
GpuStream& Gpu::own_stream() { return ThreadStreams::mine().own_on(*this); }

void Gpu::set_stream(GpuStream& stream) {
  ThreadStreams& mine = ThreadStreams::mine();
  mine.release(mine.enter(stream));
}
GpuStream& Gpu::enter_stream(GpuStream& stream) { return ThreadStreams::mine().enter(stream); }
void Gpu::leave_stream(GpuStream& before) noexcept { ThreadStreams::mine().leave(before); }

void Gpu::use_outside(const void* p, GpuStream& stream) {
  ThreadStreams& mine = ThreadStreams::mine();
  if (GpuStream& now = mine.on(*this); now.capture) {
    if (&now != &stream) now.capture->refuse("work on another stream");
    const Access access{p, true};
    return allocator_.use_in(*now.clock.graph, {&access, 1});
  }
  mine.hold(stream);
  try {
    const Access access{p, true};
    stream.clock.begin();
    allocator_.use({&access, 1}, stream.clock);
    stream.clock.end();
  } catch (...) {
    stream.clock.end();
    mine.release(stream);
    throw;
  }
  mine.release(stream);
}

// A new thread must not get another thread's faults: a stream that may still be running, or has
// reported a fault, gets a new record. Records are created without holding the lock, because
// pinning memory may wait for the GPU.
GpuStream* Gpu::take_stream() {
  for (std::unique_ptr<FaultRecord> made;; made = std::make_unique<FaultRecord>()) {
    const std::lock_guard lock(streams_mutex_);
    if (made) add_faults(std::move(made));
    if (GpuStream* done = take_done_stream()) return done;
    recycle_faults();
    if (!spare_faults_.empty()) return idle_streams_.empty() ? new_stream() : take_busy_stream();
  }
}

// Return the most recently returned stream that is idle and has no faults, or null.
GpuStream* Gpu::take_done_stream() {
  for (size_t i = idle_streams_.size(); i-- > 0;) {
    GpuStream* s = idle_streams_[i];
    if (cudaStreamQuery(s->handle) != cudaSuccess) {
      static_cast<void>(cudaGetLastError());  // a later call reports failed work
    } else if (!s->faults->is_set()) {
      idle_streams_.erase(idle_streams_.begin() + static_cast<ptrdiff_t>(i));
      return s;
    }
  }
  return nullptr;
}

GpuStream* Gpu::take_busy_stream() {
  GpuStream* s = idle_streams_.back();
  s->faults->retire(s->handle);
  idle_streams_.pop_back();
  retired_faults_.push_back(std::exchange(s->faults, take_faults()));
  return s;
}

GpuStream* Gpu::new_stream() {
  GpuStream* s = add_stream(0);
  s->faults = take_faults();
  return s;
}

GpuStream* Gpu::add_stream(int priority) {
  auto s = std::make_unique<GpuStream>(*this, index_, static_cast<int>(streams_.size()));
  check(cudaStreamCreateWithPriority(&s->handle, cudaStreamNonBlocking, priority),
        "cudaStreamCreateWithPriority");
  check(cudaEventCreateWithFlags(&s->reached, cudaEventDisableTiming), "cudaEventCreateWithFlags");
  idle_streams_.reserve(streams_.size() + 1);  // so that give_back() cannot fail
  streams_.push_back(std::move(s));
  return streams_.back().get();
}

// The number of streams in a pool is that of PyTorch.
GpuStream& Gpu::pool_stream(bool high_priority) {
  constexpr size_t kPooled = 32;
  const std::lock_guard lock(streams_mutex_);
  std::vector<GpuStream*>& pool = pools_[high_priority];
  if (pool.size() < kPooled) {
    int least = 0, greatest = 0;
    check(cudaDeviceGetStreamPriorityRange(&least, &greatest), "cudaDeviceGetStreamPriorityRange");
    pool.reserve(kPooled);
    pool.push_back(add_stream(high_priority ? greatest : 0));
    pool.back()->is_pooled = true;
    return *pool.back();
  }
  return *pool[next_in_pool_[high_priority]++ % kPooled];
}

// Reserves space, so that moving records between the lists cannot fail.
void Gpu::add_faults(std::unique_ptr<FaultRecord> faults) {
  spare_faults_.reserve(faults_.size() + 1);
  retired_faults_.reserve(faults_.size() + 1);
  faults_.push_back(std::move(faults));
  spare_faults_.push_back(faults_.back().get());
  count(counted_fault_records);
}

FaultRecord* Gpu::take_faults() noexcept {
  FaultRecord* spare = spare_faults_.back();
  spare_faults_.pop_back();
  return spare;
}

// Records with faults are kept for throw_faults(); is_set() is final once their work is done.
void Gpu::recycle_faults() noexcept {
  std::erase_if(retired_faults_, [&](FaultRecord* faults) {
    if (!faults->is_done() || faults->is_set()) return false;
    spare_faults_.push_back(faults);
    return true;
  });
  static_cast<void>(cudaGetLastError());  // do not report a failure of that work in this thread
}

void Gpu::give_back(GpuStream* stream) noexcept {
  const std::lock_guard lock(streams_mutex_);
  idle_streams_.push_back(stream);
  has_ended_threads_.store(true, std::memory_order_relaxed);
}

void Gpu::throw_faults() {
  if (const GpuStream* own = ThreadStreams::mine().known_own_on(*this)) {
    own->faults->throw_if_set();
  }
  // A relaxed load suffices: the mutex guards the records, and this thread sees the stores of
  // threads that it has joined.
  if (!has_ended_threads_.load(std::memory_order_relaxed)) return;
  const std::lock_guard lock(streams_mutex_);
  for (const GpuStream* s : idle_streams_) s->faults->throw_if_set();
  for (FaultRecord* faults : retired_faults_) faults->throw_if_set();
}

// If the event is recorded again before the other stream waits for it, that stream waits for more
// work than necessary, never for less. All of that work was queued before the wait, so that streams
// cannot wait for each other in a cycle.
void Gpu::order(int before, int after) {
  GpuStream *first, *second;
  {
    const std::lock_guard lock(streams_mutex_);
    first = streams_[static_cast<size_t>(before)].get();
    second = streams_[static_cast<size_t>(after)].get();
  }
  check(cudaEventRecord(first->reached, first->handle), "cudaEventRecord");
  check(cudaStreamWaitEvent(second->handle, first->reached, 0), "cudaStreamWaitEvent");
}

int gpu_count() noexcept { return census().count; }
const std::string& no_gpu_reason() noexcept { return census().reason; }

Gpu& gpu(int index) {
  static std::mutex mutex;
  int current = -1;
  check(cudaGetDevice(&current), "cudaGetDevice");  // cheaper than cudaSetDevice
  if (current != index) check(cudaSetDevice(index), "cudaSetDevice");
  std::atomic<Gpu*>& known = gpus[static_cast<size_t>(index)];
  if (!known.load(std::memory_order_acquire)) {
    const std::lock_guard lock(mutex);
    if (!known.load(std::memory_order_relaxed)) {
      known.store(new Gpu(index), std::memory_order_release);
    }
  }
  return known_gpu(index);
}

Gpu& known_gpu(int index) noexcept {
  return *gpus[static_cast<size_t>(index)].load(std::memory_order_acquire);
}

}  // namespace ambit::cuda
