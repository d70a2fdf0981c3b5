#include "graph.h"

#include <ambit/backend/philox.h>
#include <ambit/device.h>
#include <ambit/error.h>
#include <fmt/format.h>

#include "backends/cuda/driver/counters.h"
#include "backends/cuda/driver/error.h"
#include "call.h"

namespace ambit::cuda {
namespace {

constexpr const char* kReplay = "CUDAGraph::replay";
constexpr const char* kOtherNumbers =
    "random numbers that are not the next ones of the GPU's own generator";

}  // namespace

void Graph::begin() {
  if (stream_ || work_) {
    throw BackendError(
        fmt::format("CUDAGraph::capture_begin: expected an empty graph, as after reset(), got one "
                    "that {}",
                    work_ ? "was captured" : "is being captured"));
  }
  GpuStream& home = gpu_.stream();
  if (home.capture) home.capture->refuse("another capture");
  refused_.clear();
  faults_ = &gpu_.faults();
  memory_ = std::make_unique<GraphMemory>(home.clock);
  gpu_.allocator().begin_capture(*memory_);
  try {
    stream_ = &gpu_.begin_capture(*this, *memory_);
    // Allocate first: a replay writes it before its first kernel, so it must not be reused memory.
    void* base = gpu_.allocator().allocate(sizeof(RandomBase), stream_->clock);
    random_.base = static_cast<RandomBase*>(base);
  } catch (...) {
    reset();
    throw;
  }
}

cudaGraph_t Graph::end_capture(cudaError_t& status) noexcept {
  cudaGraph_t captured = nullptr;
  status = gpu_.end_capture(*stream_, captured);
  gpu_.allocator().end_capture(*memory_);
  stream_ = nullptr;
  return captured;
}

// If anything failed or was refused, discard the graph, which would be incomplete.
void Graph::end() {
  if (!stream_ || &gpu_.stream() != stream_) {
    throw BackendError(
        "CUDAGraph::capture_end: expected a graph that this thread is capturing, got another");
  }
  check_generator();
  cudaError_t status = cudaSuccess;
  const cudaGraph_t captured = end_capture(status);
  if (status == cudaSuccess && refused_.empty()) status = cudaGraphInstantiate(&work_, captured, 0);
  if (captured) static_cast<void>(cudaGraphDestroy(captured));
  if (refused_.empty() && status == cudaSuccess) return;
  const std::string why = refused_;
  reset();  // clears refused_
  if (!why.empty()) {
    throw BackendError(
        "CUDAGraph::capture_end: expected a capture in which nothing was refused, got " + why);
  }
  check(status, "the capture of a graph");
}

void Graph::replay() {
  if (!work_) {
    throw BackendError("CUDAGraph::replay: expected a graph that was captured, got an empty one");
  }
  if (Graph* other = gpu_.stream().capture) other->refuse("the replay of a graph");
  if (faults_ != &gpu_.faults()) {
    throw BackendError(
        "CUDAGraph::replay: expected the thread that has captured the graph, got another");
  }
  Call call(kReplay, gpu_);
  GpuStream& stream = Call::stream();
  gpu_.allocator().use(*memory_, stream.clock);
  if (random_.set) move_generator();
  check(cudaGraphLaunch(work_, stream.handle), "cudaGraphLaunch");
  replayed_on_ = stream.handle;
  call.finish();
}

// `p` contains the offset of the kernel's random numbers; the host's generator has already advanced
// to the offset after them. A later kernel of the capture may generate the same numbers again: the
// kernel of a gradient does so, because the mask is not saved.
const RandomBase* Graph::random_base(const RandomParams& p, int64_t n,
                                     void (*set)(RandomBase* base, const RandomBase& value)) {
  const uint64_t blocks = philox::blocks(static_cast<uint64_t>(n));
  if (!random_.set) {
    const Generator generator = default_generator(Device(gpu_.name()));
    if (p.offset + blocks != generator.offset()) refuse(kOtherNumbers);
    random_ = {generator, random_.base, set, p.seed, p.offset, p.offset};
  }
  const bool is_next = p.offset == random_.end;
  const bool again = p.offset >= random_.first && p.offset + blocks <= random_.end;
  if (p.seed != random_.seed || !(is_next || again)) refuse(kOtherNumbers);
  if (is_next) random_.end += blocks;
  return random_.base;
}

// If no other code has used the generator meanwhile, rewind it: the numbers of the capture have not
// been generated yet.
void Graph::check_generator() {
  if (!random_.set || !refused_.empty()) return;
  const Generator& generator = random_.generator;
  if (generator.seed() == random_.seed && generator.offset() == random_.end) {
    static_cast<void>(generator.advance(random_.first - random_.end));
  } else {
    refused_ = "random numbers of a generator that other code used during the capture";
  }
}

void Graph::move_generator() {
  const uint64_t first = random_.generator.advance(random_.end - random_.first);
  random_.set(random_.base, {random_.generator.seed(), first - random_.first});
}

// The memory is released without ordering between streams, so wait for the work. All replays are
// ordered by that memory.
void Graph::reset() noexcept {
  if (stream_) {
    cudaError_t status = cudaSuccess;
    if (const cudaGraph_t captured = end_capture(status)) {
      static_cast<void>(cudaGraphDestroy(captured));
    }
  }
  if (replayed_on_) {
    count(counted_waits);
    static_cast<void>(cudaStreamSynchronize(replayed_on_));  // a later call reports errors
  }
  if (work_) static_cast<void>(cudaGraphExecDestroy(work_));
  if (random_.base) gpu_.allocator().free(random_.base);
  if (memory_) gpu_.allocator().release(*memory_);
  random_ = {};
  static_cast<void>(cudaGetLastError());
  work_ = nullptr;
  replayed_on_ = nullptr;
  memory_.reset();
  refused_.clear();
}

void Graph::refuse(const char* what) {
  const std::string text =
      fmt::format("{}: expected work that a CUDA graph can repeat, got {}", Call::op(), what);
  if (refused_.empty()) refused_ = text;
  throw BackendError(text);
}

}  // namespace ambit::cuda
