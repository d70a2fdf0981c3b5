#include "call.h"

#include <cstdlib>
#include <mutex>
#include <string_view>

#include "backends/cuda/driver/counters.h"
#include "backends/cuda/driver/error.h"
#include "graph.h"

namespace ambit::cuda {
namespace {

bool synchronizes_each_call() {
  static const bool wanted = [] {
    const char* value = std::getenv("AMBIT_SYNC");
    return value && std::string_view(value) == "1";
  }();
  return wanted;
}

}  // namespace

Call::Call(const char* op, Gpu& gpu) : stream_(gpu.stream()), outer_(current_work()) {
  if (!stream_.capture) count(counted_calls);
  stream_.clock.begin();
  current_work() = {op, &stream_};
}

Call::~Call() {
  queued();
  current_work() = outer_;
}

void Call::use(Call& reader, const void* from, Call& writer, void* to) {
  static std::mutex mutex;
  const Access read{from, false}, written{to, true};
  StreamCalls before_read, before_write;
  {
    const std::lock_guard lock(mutex);
    before_read = reader.allocator().enlist({&read, 1}, reader.stream_.clock);
    before_write = writer.allocator().enlist({&written, 1}, writer.stream_.clock);
  }
  reader.allocator().wait_for_calls(before_read, reader.stream_.clock);
  writer.allocator().wait_for_calls(before_write, writer.stream_.clock);
}

void Call::finish() {
  queued();
  if (synchronizes_each_call() && !stream_.capture) wait();
}

void Call::wait() {
  queued();
  count(counted_waits);
  check(cudaStreamSynchronize(stream_.handle), "cudaStreamSynchronize");
  stream_.gpu.throw_faults();
}

GpuStream& Call::stream() { return *current_work().stream; }
const char* Call::op() noexcept { return current_work().op; }

void Call::expect_no_capture(const char* what) {
  if (Graph* graph = stream().capture) graph->refuse(what);
}

}  // namespace ambit::cuda
