#include "call.h"

#include <cstdlib>
#include <string_view>

#include "backends/cuda/driver/counters.h"
#include "backends/cuda/driver/error.h"

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

Call::Call(const char* op, Gpu& gpu) : op_(op), stream_(gpu.stream()), launching_(gpu.launching()) {
  count(counted_calls);
  current_work() = {op_, &stream_};
}

Call::~Call() { current_work() = {}; }

void Call::order_behind(const void* p) {
  if (p) stream_.gpu.allocator().use(p, stream_.id);
}

void Call::finish() {
  if (synchronizes_each_call()) wait();
}

void Call::wait() {
  count(counted_waits);
  check(cudaStreamSynchronize(stream_.handle), "cudaStreamSynchronize");
  stream_.gpu.faults().throw_if_set();
}

Stream& Call::stream() { return *current_work().stream; }
const char* Call::op() noexcept { return current_work().op; }

}  // namespace ambit::cuda
