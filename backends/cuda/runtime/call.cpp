#include "call.h"

#include <cstdlib>
#include <string_view>

#include "counters.h"
#include "error.h"

namespace ambit::cuda {
namespace {

thread_local const char* current_op = "cuda";
thread_local Stream* current_stream = nullptr;

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
  current_op = op_;
  current_stream = &stream_;
}

Call::~Call() {
  current_op = "cuda";
  current_stream = nullptr;
}

void Call::use(const void* p) {
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

Stream& Call::stream() { return *current_stream; }
const Stream* Call::stream_or_null() noexcept { return current_stream; }
const char* Call::op() noexcept { return current_op; }

}  // namespace ambit::cuda
