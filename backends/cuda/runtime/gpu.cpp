#include "gpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <string_view>

#include "backends/cuda/driver/counters.h"
#include "backends/cuda/driver/error.h"

namespace ambit::cuda {
namespace {

// Far more than a machine holds; fixed, so that looking a GPU up takes no lock.
constexpr int kMaxGpus = 64;
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
    auto* c = new Census;  // leaked: asked until exit
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

// The streams of one thread, which go to other threads when it ends.
class ThreadStreams {
 public:
  ~ThreadStreams() {
    for (Stream* s : streams_) {
      if (s) s->gpu.give_back(s);
    }
  }
  Stream& on(Gpu& gpu) {
    Stream*& s = streams_[static_cast<size_t>(gpu.index())];
    if (!s) s = gpu.take_stream();
    return *s;
  }

 private:
  std::array<Stream*, kMaxGpus> streams_{};
};

// For tools that must see each tensor's memory alone, such as compute-sanitizer.
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

Stream& Gpu::stream() {
  thread_local ThreadStreams streams;
  return streams.on(*this);
}

Stream* Gpu::take_stream() {
  const std::lock_guard lock(streams_mutex_);
  if (!idle_streams_.empty()) {
    Stream* s = idle_streams_.back();
    idle_streams_.pop_back();
    return s;
  }
  auto s = std::make_unique<Stream>(*this, index_, static_cast<int>(streams_.size()));
  check(cudaStreamCreateWithFlags(&s->handle, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  check(cudaEventCreateWithFlags(&s->reached, cudaEventDisableTiming), "cudaEventCreateWithFlags");
  streams_.push_back(std::move(s));
  return streams_.back().get();
}

void Gpu::give_back(Stream* stream) {
  const std::lock_guard lock(streams_mutex_);
  idle_streams_.push_back(stream);
}

void Gpu::order(Stream& before, Stream& after) {
  check(cudaEventRecord(before.reached, before.handle), "cudaEventRecord");
  check(cudaStreamWaitEvent(after.handle, before.reached, 0), "cudaStreamWaitEvent");
}

void Gpu::order(int before, int after) {
  Stream *first, *second;
  {
    const std::lock_guard lock(streams_mutex_);
    first = streams_[static_cast<size_t>(before)].get();
    second = streams_[static_cast<size_t>(after)].get();
  }
  order(*first, *second);
}

void Gpu::synchronize() {
  count(counted_waits);
  check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  faults_.throw_if_set();
}

int gpu_count() noexcept { return census().count; }
const std::string& no_gpu_reason() noexcept { return census().reason; }

Gpu& gpu(int index) {
  static std::mutex mutex;
  int current = -1;
  check(cudaGetDevice(&current), "cudaGetDevice");  // asking is cheaper than setting
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
