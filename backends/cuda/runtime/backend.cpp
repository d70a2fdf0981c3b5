#include "backend.h"

#include <ambit/error.h>
#include <fmt/format.h>

#include <memory>
#include <set>
#include <type_traits>
#include <utility>

#include "backends/cuda/driver/counters.h"
#include "backends/cuda/driver/error.h"
#include "backends/cuda/memory/pinned_memory.h"
#include "call.h"
#include "graph.h"
#include "time_mark.h"

namespace ambit::cuda {
namespace {

// Enable peer-to-peer access from one GPU to another's memory, if there is a link.
void enable_peer_access(int from_index, int to_index) {
  static std::mutex mutex;
  static auto* const tried = new std::set<std::pair<int, int>>;
  const std::lock_guard lock(mutex);
  if (!tried->emplace(from_index, to_index).second) return;
  int possible = 0;
  check(cudaDeviceCanAccessPeer(&possible, to_index, from_index), "cudaDeviceCanAccessPeer");
  if (!possible) return;
  const cudaError_t status = cudaDeviceEnablePeerAccess(from_index, 0);
  if (status == cudaErrorPeerAccessAlreadyEnabled || status == cudaErrorTooManyPeers) {
    static_cast<void>(cudaGetLastError());
  } else {
    check(status, "cudaDeviceEnablePeerAccess");
  }
}

void copy_within(Gpu& where, void* to, const void* from, size_t bytes) {
  Call call("copy", where);
  call.use({{from, false}, {to, true}});
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, Call::stream().handle),
        "cudaMemcpyAsync");
  call.finish();
}

}  // namespace

int CudaBackend::device_count() const noexcept { return gpu_count(); }
std::string CudaBackend::reason_for_none() const { return no_gpu_reason(); }

DeviceProperties CudaBackend::properties(int index) const {
  const cudaDeviceProp& p = gpu(index).properties();
  const CudaVersions versions = cuda_versions();
  return {p.name,
          p.totalGlobalMem,
          {{"compute capability", fmt::format("{}.{}", p.major, p.minor)},
           {"CUDA of the driver", versions.driver},
           {"CUDA runtime", versions.runtime},
           {"cuSOLVER", cusolver_version_()}}};
}

void* CudaBackend::allocate(int index, size_t bytes) {
  Gpu& where = gpu(index);
  return where.allocator().allocate(bytes, where.stream().clock);
}

// The GPU need not be current, because the memory only returns to the cache.
void CudaBackend::free(int index, void* p, size_t) noexcept {
  known_gpu(index).allocator().free(p);
}

MemoryStats CudaBackend::memory_stats(int index) const { return gpu(index).allocator().stats(); }

void CudaBackend::expect_repeatable(int index, const char* what) {
  if (Graph* graph = gpu(index).stream().capture) graph->refuse(what);
}

void CudaBackend::empty_cache(int index) {
  expect_repeatable(index, "memory given back to the driver");
  gpu(index).allocator().empty_cache();
  pinned_allocator().empty_cache();
}

// A copy between GPUs runs on the target's stream and is a call on both: the source's stream waits
// for it, so that the source is not overwritten. Without a peer link the driver stages the bytes in
// pinned memory.
void CudaBackend::copy(int to_index, void* to, int from_index, const void* from, size_t bytes) {
  if (to_index == from_index) return copy_within(gpu(to_index), to, from, bytes);
  constexpr const char* kBetween = "a copy between GPUs";
  Call reading("copy", gpu(from_index));
  Call::expect_no_capture(kBetween);
  GpuStream& sender = Call::stream();
  Call writing("copy", gpu(to_index));
  Call::expect_no_capture(kBetween);
  GpuStream& receiver = Call::stream();
  enable_peer_access(from_index, to_index);
  Call::use(reading, from, writing, to);
  check(cudaEventRecord(sender.reached, sender.handle), "cudaEventRecord");
  check(cudaStreamWaitEvent(receiver.handle, sender.reached, 0), "cudaStreamWaitEvent");
  check(cudaMemcpyPeerAsync(to, to_index, from, from_index, bytes, receiver.handle),
        "cudaMemcpyPeerAsync");
  check(cudaEventRecord(receiver.reached, receiver.handle), "cudaEventRecord");
  check(cudaStreamWaitEvent(sender.handle, receiver.reached, 0), "cudaStreamWaitEvent");
  reading.queued();
  writing.finish();
}

// From pageable memory cudaMemcpyAsync returns after reading everything. Memory that another
// library pinned may be freed at any time, so the host waits. During the copy, only calls that use
// the same block wait for it.
void CudaBackend::copy_from_host(int index, void* to, const void* host, size_t bytes,
                                 bool non_blocking) {
  Call call("copy", gpu(index));
  Call::expect_no_capture("a copy from host memory, which would be read at each replay");
  call.use({{to, true}});
  const GpuStream& stream = Call::stream();
  check(cudaMemcpyAsync(to, host, bytes, cudaMemcpyHostToDevice, stream.handle), "cudaMemcpyAsync");
  call.queued();
  if (!is_page_locked(host)) {
    count(counted_waits);
    call.finish();
  } else if (non_blocking && pinned_allocator().use(host, fence_after(stream))) {
    call.finish();
  } else {
    call.wait();
  }
}

void CudaBackend::copy_to_host(int index, void* host, const void* from, size_t bytes,
                               bool non_blocking) {
  Call call("copy", gpu(index));
  Call::expect_no_capture("a copy to the host, as that of item()");
  call.use({{from, false}});
  const GpuStream& stream = Call::stream();
  check(cudaMemcpyAsync(host, from, bytes, cudaMemcpyDeviceToHost, stream.handle),
        "cudaMemcpyAsync");
  call.queued();
  if (non_blocking && pinned_allocator().use(host, fence_after(stream))) {
    call.finish();
  } else {
    call.wait();
  }
}

// Wait only for the copies, not for the stream: work queued after them may continue.
void CudaBackend::wait_for_copies(int index, const void* host) {
  Gpu& source = gpu(index);
  pinned_allocator().wait(host);
  source.throw_faults();
}

void CudaBackend::synchronize(int index) { gpu(index).synchronize(); }
void CudaBackend::expect_true(int index, const void* fact, const char* otherwise) {
  Call call("expect_true", gpu(index));
  call.use({{fact, false}});
  report_unless_(fact, Call::stream().gpu.faults().sink(otherwise));
  call.finish();
}
void CudaBackend::activate(int index) { static_cast<void>(gpu(index)); }

std::unique_ptr<TimeMark> CudaBackend::mark_time(int index) { return make_time_mark(index); }

void* CudaBackend::allocate_pinned(size_t bytes) { return pinned_allocator().allocate(bytes); }
void CudaBackend::free_pinned(void* p, size_t) noexcept { pinned_allocator().free(p); }
bool CudaBackend::is_pinned(const void* host, size_t) { return is_page_locked(host); }

namespace {

// Convert a stream number of the Python array API: 1 and 2 equal CUDA's handles of the legacy
// default stream and the per-thread default stream.
cudaStream_t outside_stream(int64_t number) {
  if (number <= 0) {
    throw BackendError(fmt::format(
        "cuda: expected a stream of DLPack: 1, 2 or a cudaStream_t, or -1 for none, got {}",
        number));
  }
  return reinterpret_cast<cudaStream_t>(static_cast<uintptr_t>(number));
}

// Make `after` wait, on the GPU, for the work now queued on `before`.
void order_streams(cudaStream_t before, cudaStream_t after) {
  cudaEvent_t reached = nullptr;
  check(cudaEventCreateWithFlags(&reached, cudaEventDisableTiming), "cudaEventCreateWithFlags");
  const std::unique_ptr<std::remove_pointer_t<cudaEvent_t>, cudaError_t (*)(cudaEvent_t)> owned(
      reached, cudaEventDestroy);
  check(cudaEventRecord(reached, before), "cudaEventRecord");
  check(cudaStreamWaitEvent(after, reached, 0), "cudaStreamWaitEvent");
}

}  // namespace

void CudaBackend::lend(int index, void* p, std::optional<int64_t> stream) {
  if (!stream) return synchronize(index);
  const cudaStream_t outside = outside_stream(*stream);
  Call call("to_dlpack", gpu(index));
  Call::expect_no_capture("memory lent to another library");
  call.use({{p, true}});
  order_streams(Call::stream().handle, outside);
  call.finish();
}

// The calling thread's stream waits for the other library's. Other streams are ordered after it,
// because it is recorded as the writer of the memory.
void CudaBackend::borrow(int index, void* p, size_t bytes, std::optional<int64_t> stream) {
  Gpu& where = gpu(index);
  if (bytes > 0) {
    cudaPointerAttributes of{};
    check(cudaPointerGetAttributes(&of, p), "cudaPointerGetAttributes");
    if (of.type != cudaMemoryTypeDevice || of.device != index) {
      throw BackendError(
          fmt::format("cuda: expected memory of {}, got other memory", where.name()));
    }
    where.allocator().borrow();
  }
  Call call("from_dlpack", where);
  Call::expect_no_capture("memory of another library");
  call.use({{p, true}});
  if (stream && *stream != -1) {
    order_streams(outside_stream(*stream), Call::stream().handle);
  }
  call.finish();
}

void CudaBackend::end_borrow(int index, void*, size_t) noexcept try {
  gpu(index).wait_quietly();  // the error is reported by a later call
} catch (const Error&) {      // an unusable GPU does no work
}

}  // namespace ambit::cuda
