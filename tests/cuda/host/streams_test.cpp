// The CUDA runtime on the host: streams, events, copies and memory behave as CUDA documents, and
// work runs as late as possible.
#include <doctest/doctest.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "gpu_memory.h"
#include "handles.h"
#include "kernels/faulty_kernels.h"
#include "queue.h"
#include "tests/child_process.h"
#include "tests/dies.h"

using namespace faulty;
using namespace ambit::cuda;

namespace {

struct Pinned {
  explicit Pinned(size_t count) {
    void* p = nullptr;
    REQUIRE(cudaHostAlloc(&p, count * sizeof(int), cudaHostAllocPortable) == cudaSuccess);
    data = static_cast<int*>(p);
  }
  ~Pinned() { cudaFreeHost(data); }
  int* data;
};

void check_passes(const char* test_case, const std::string& environment) {
  const ChildResult child = run_child(test_case, environment);
  INFO(child.output);
  CHECK(child.exit_code == 0);
  CHECK(child.output.find("1 passed") != std::string::npos);
}

// As check_dies(), for several seeds: each seed gives another order of threads, blocks and streams.
void check_dies_always(const char* test_case, const std::vector<std::string>& texts,
                       int signal = SIGABRT) {
  for (const int seed : {1, 2, 3, 4, 5}) {
    check_dies(test_case, texts, "AMBIT_CUDA_HOST_SEED=" + std::to_string(seed), signal);
  }
}

}  // namespace

TEST_CASE("work runs when a thread waits for it, not before") {
  const Stream stream;
  int runs = 0;
  for (int i = 0; i < 5; ++i) {
    REQUIRE(host::enqueue(stream, "a count", [&, i] { CHECK(++runs == i + 1); }) == cudaSuccess);
  }
  CHECK(runs == 0);
  CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
  CHECK(runs == 5);
  CHECK(host::device_of(stream) == 0);
  CHECK(host::device_of(reinterpret_cast<cudaStream_t>(&runs)) == -1);
}

TEST_CASE("a stream holds a thousand items of work; adding more runs some") {
  const Stream stream;
  int runs = 0;
  for (int i = 0; i < 1200; ++i) host::enqueue(stream, "a count", [&] { ++runs; });
  CHECK(runs == 200);
  cudaStreamSynchronize(stream);
  CHECK(runs == 1200);
}

TEST_CASE("streams run in a random order that depends on the seed and respects events") {
  const Stream first, second;
  const Event between;
  std::vector<int> order;
  bool interleaved = false, second_ahead = false;
  for (int round = 0; round < 20; ++round) {
    order.clear();
    for (int i = 0; i < 4; ++i) host::enqueue(first, "first", [&, i] { order.push_back(i); });
    cudaEventRecord(between, first);
    for (int i = 4; i < 8; ++i) host::enqueue(first, "first", [&, i] { order.push_back(i); });
    for (int i = 10; i < 14; ++i) host::enqueue(second, "second", [&, i] { order.push_back(i); });
    cudaStreamWaitEvent(second, between, 0);
    host::enqueue(second, "second", [&] { order.push_back(14); });
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    REQUIRE(order.size() == 13);
    const auto place = [&](int v) { return std::find(order.begin(), order.end(), v); };
    CHECK(place(3) < place(14));
    interleaved = interleaved || (place(10) < place(3) && place(0) < place(13));
    second_ahead = second_ahead || place(14) < place(7);
  }
  CHECK(interleaved);
  CHECK(second_ahead);
}

TEST_CASE(
    "waiting for an event that was never recorded does nothing; later recordings do not count") {
  const Stream first, second;
  const Event event;
  CHECK(cudaStreamWaitEvent(second, event, 0) == cudaSuccess);
  CHECK(cudaEventQuery(event) == cudaSuccess);
  CHECK(cudaEventSynchronize(event) == cudaSuccess);
  bool done = false;
  host::enqueue(first, "work", [&] { done = true; });
  cudaEventRecord(event, first);
  CHECK(!done);
  CHECK(cudaEventSynchronize(event) == cudaSuccess);
  CHECK(done);
  CHECK(cudaEventQuery(event) == cudaSuccess);
}

TEST_CASE("a query runs some work") {
  const Stream stream;
  int runs = 0, queries = 0;
  for (int i = 0; i < 20; ++i) host::enqueue(stream, "a count", [&] { ++runs; });
  while (cudaStreamQuery(stream) == cudaErrorNotReady && queries < 1000) ++queries;
  CHECK(runs == 20);
  CHECK(queries > 1);
  CHECK(cudaGetLastError() == cudaSuccess);  // "not ready" is not an error
}

TEST_CASE("pageable memory is read at the call, pinned memory later") {
  const Stream stream;
  const Gpu<int> from_pageable(4), from_pinned(4);
  std::vector<int> pageable(4, 1);
  const Pinned pinned(4);
  std::fill_n(pinned.data, 4, 1);
  CHECK(cudaMemcpyAsync(from_pageable, pageable.data(), 16, cudaMemcpyHostToDevice, stream) ==
        cudaSuccess);
  CHECK(cudaMemcpyAsync(from_pinned, pinned.data, 16, cudaMemcpyHostToDevice, stream) ==
        cudaSuccess);
  pageable[0] = pinned.data[0] = 2;
  CHECK(from_pageable.host()[0] == 1);
  CHECK(from_pinned.host()[0] == 2);
}

TEST_CASE("the host waits for copies to pageable memory, but must synchronise for pinned memory") {
  const Stream stream;
  const Gpu<int> x(4, 7);
  std::vector<int> pageable(4);
  const Pinned pinned(4);
  pinned.data[0] = 0;
  wait();
  CHECK(cudaMemcpyAsync(pinned.data, x, 16, cudaMemcpyDeviceToHost, stream) == cudaSuccess);
  CHECK(pinned.data[0] == 0);
  CHECK(cudaMemcpyAsync(pageable.data(), x, 16, cudaMemcpyDeviceToHost, stream) == cudaSuccess);
  CHECK(pageable[0] == 7);
  CHECK(pinned.data[0] == 7);  // queued before in the stream
}

TEST_CASE("copies between devices work with and without peer access; bounds are checked") {
  check_passes("child: two devices", "AMBIT_CUDA_HOST=2");
  check_passes("child: two devices", "AMBIT_CUDA_HOST=2 AMBIT_CUDA_HOST_PEERS=0");
  const Gpu<int> x(4, 1), y(4);
  CHECK(cudaMemcpyAsync(y, x, 20, cudaMemcpyDeviceToDevice, nullptr) == cudaErrorInvalidValue);
  CHECK(cudaMemcpyAsync(y, x, 16, cudaMemcpyHostToDevice, nullptr) == cudaErrorInvalidValue);
  CHECK(cudaGetLastError() == cudaErrorInvalidValue);
  CHECK(cudaGetLastError() == cudaSuccess);
}
TEST_CASE("child: two devices" * doctest::skip()) {
  int can = -1;
  const bool peers = !std::getenv("AMBIT_CUDA_HOST_PEERS");
  CHECK(cudaDeviceCanAccessPeer(&can, 0, 1) == cudaSuccess);
  CHECK(can == peers);
  const Gpu<int> x(4, 5);
  const Stream of_0;
  const Event event_of_0;
  REQUIRE(cudaSetDevice(1) == cudaSuccess);
  const Gpu<int> y(4);
  const Stream of_1;
  // Only launches need the stream's device to be the current one, and recordings the event's
  // device.
  CHECK(fill({1, 4, of_0}, y, 1) == cudaErrorInvalidResourceHandle);
  CHECK(cudaEventRecord(event_of_0, of_1) == cudaErrorInvalidResourceHandle);
  CHECK(cudaEventRecord(event_of_0, of_0) == cudaSuccess);
  CHECK(cudaStreamWaitEvent(of_1, event_of_0, 0) == cudaSuccess);
  CHECK(cudaMemcpyPeerAsync(y, 1, x, 0, 16, of_1) == cudaSuccess);
  CHECK(cudaMemcpyPeerAsync(y, 0, x, 1, 16, of_1) == cudaErrorInvalidValue);
  CHECK(y.host()[3] == 5);
  cudaPointerAttributes attributes{};
  CHECK(cudaPointerGetAttributes(&attributes, y) == cudaSuccess);
  CHECK(attributes.type == cudaMemoryTypeDevice);
  CHECK(attributes.device == 1);
  CHECK(cudaSetDevice(2) == cudaErrorInvalidDevice);
}

TEST_CASE("a race between the work of two streams is found") {
  check_dies_always("child: no event", {"a race", "which no event or wait orders before"});
  check_dies_always("child: a copy not waited for", {"a race", "a copy"});
  const Stream first, second;
  const Event event;
  const Gpu<int> x(64, 1), y(64);
  wait();
  fill({1, 64, first}, x, 2);
  cudaEventRecord(event, first);
  cudaStreamWaitEvent(second, event, 0);
  add_one({1, 64, second}, y, x);
  CHECK(y.host()[0] == 3);  // the host's wait orders the following work
  fill({1, 64, first}, x, 4);
  cudaStreamSynchronize(first);
  add_one({1, 64, second}, y, x);
  CHECK(y.host()[0] == 5);
}
TEST_CASE("child: no event" * doctest::skip()) {
  const Stream first, second;
  const Gpu<int> x(64, 1), y(64);
  wait();
  fill({1, 64, first}, x, 2);
  add_one({1, 64, second}, y, x);
  wait();
}
TEST_CASE("child: a copy not waited for" * doctest::skip()) {
  const Stream first, second;
  const Gpu<int> x(64, 1), y(64, 1);
  wait();
  cudaMemcpyAsync(y, x, 256, cudaMemcpyDeviceToDevice, first);
  fill({1, 64, second}, x, 3);
  wait();
}

TEST_CASE("invalid launches are refused as by CUDA") {
  const Gpu<int> y(64);
  CHECK(fill({0, 64, nullptr}, y, 1) == cudaErrorInvalidConfiguration);
  CHECK(fill({1, 0, nullptr}, y, 1) == cudaErrorInvalidConfiguration);
  CHECK(fill({1, 1025, nullptr}, y, 1) == cudaErrorInvalidConfiguration);
  CHECK(fill({0x80000000u, 1, nullptr}, y, 1) == cudaErrorInvalidConfiguration);
  CHECK(fill({1, 64, reinterpret_cast<cudaStream_t>(0x10)}, y, 1) ==
        cudaErrorInvalidResourceHandle);
}

TEST_CASE("allocations fail at the configured size and at the configured call") {
  check_passes("child: little memory", "AMBIT_CUDA_HOST_MEMORY=8");
  check_passes("child: the third fails", "AMBIT_CUDA_HOST_FAIL_MALLOC=3");
  void* p = nullptr;
  CHECK(cudaMalloc(&p, size_t{1} << 60) == cudaErrorInvalidValue);
  CHECK(p == nullptr);
  CHECK(cudaMalloc(&p, 0) == cudaSuccess);
  CHECK(cudaFree(p) == cudaSuccess);
  REQUIRE(cudaMalloc(&p, 100) == cudaSuccess);
  CHECK(cudaFree(static_cast<char*>(p) + 4) == cudaErrorInvalidValue);
  CHECK(cudaFree(p) == cudaSuccess);
  CHECK(cudaFree(p) == cudaErrorInvalidValue);
  static_cast<void>(cudaGetLastError());
}
TEST_CASE("child: little memory" * doctest::skip()) {
  void *p = nullptr, *q = nullptr;
  CHECK(cudaMalloc(&p, size_t{6} << 20) == cudaSuccess);
  CHECK(cudaMalloc(&q, size_t{6} << 20) == cudaErrorMemoryAllocation);
  for (int i = 0; i < 100; ++i) {  // addresses are reused
    REQUIRE(cudaFree(p) == cudaSuccess);
    REQUIRE(cudaMalloc(&p, size_t{6} << 20) == cudaSuccess);
  }
  size_t free = 0, total = 0;
  CHECK(cudaMemGetInfo(&free, &total) == cudaSuccess);
  CHECK(free == size_t{2} << 20);
  CHECK(total == size_t{8} << 20);
}
TEST_CASE("child: the third fails" * doctest::skip()) {
  void* p = nullptr;
  CHECK(cudaMalloc(&p, 16) == cudaSuccess);
  CHECK(cudaMalloc(&p, 16) == cudaSuccess);
  CHECK(cudaMalloc(&p, 16) == cudaErrorMemoryAllocation);
  CHECK(cudaMalloc(&p, 16) == cudaSuccess);
}

TEST_CASE("cudaFree waits for all work") {
  const Stream stream;
  bool done = false;
  host::enqueue(stream, "work", [&] { done = true; });
  { const Gpu<int> x(4); }
  CHECK(done);
}

TEST_CASE("new memory is filled with NaN") {
  const Gpu<float> x(100);
  for (const float v : x.host()) CHECK(v != v);
}

TEST_CASE("a host access through a device pointer ends the process by SIGSEGV") {
  const ChildResult child = run_child("child: host read");
  INFO(child.output);
  CHECK(child.exit_code != 0);
  CHECK(child.output.find("SIGSEGV - ") != std::string::npos);
}
TEST_CASE("child: host read" * doctest::skip()) {
  const Gpu<int> x(4, 7);
  wait();
  CHECK(*static_cast<volatile int*>(x) == 7);
}

TEST_CASE("after a sticky error every call fails") {
  check_passes("child: sticky", "AMBIT_CUDA_HOST_FAIL_LAUNCH=2");
}
TEST_CASE("child: sticky" * doctest::skip()) {
  int* y = nullptr;
  CHECK(cudaMalloc(reinterpret_cast<void**>(&y), 256) == cudaSuccess);
  CHECK(fill({1, 64, nullptr}, y, 1) == cudaSuccess);
  CHECK(fill({1, 64, nullptr}, y, 1) ==
        cudaSuccess);  // the launch succeeds; the kernel fails later
  CHECK(host::sticky_error() == cudaSuccess);
  CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
  CHECK(cudaGetLastError() == cudaErrorIllegalAddress);
  CHECK(cudaGetLastError() == cudaErrorIllegalAddress);
  CHECK(cudaFree(y) == cudaErrorIllegalAddress);
  CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
  CHECK(host::sticky_error() == cudaErrorIllegalAddress);
}

TEST_CASE("there may be no devices; CUDA_VISIBLE_DEVICES hides some") {
  check_passes("child: no device", "AMBIT_CUDA_HOST=0");
  check_passes("child: no device", "CUDA_VISIBLE_DEVICES=");
  check_passes("child: one device", "AMBIT_CUDA_HOST=3 CUDA_VISIBLE_DEVICES=2,7");
}
TEST_CASE("child: no device" * doctest::skip()) {
  int count = -1;
  CHECK(cudaGetDeviceCount(&count) == cudaErrorNoDevice);
  CHECK(count == 0);
  void* p = nullptr;
  CHECK(cudaMalloc(&p, 16) == cudaErrorNoDevice);
}
TEST_CASE("child: one device" * doctest::skip()) {
  int count = -1;
  CHECK(cudaGetDeviceCount(&count) == cudaSuccess);
  CHECK(count == 1);
}

TEST_CASE("the driver shuts down at exit, before objects that are older than its first call") {
  const ChildResult child = run_child("child: exit");
  INFO(child.output);
  CHECK(child.exit_code == 7);
}
TEST_CASE("child: exit" * doctest::skip()) {
  static const struct Older {
    ~Older() {
      void* p = nullptr;
      if (cudaMalloc(&p, 16) == cudaErrorCudartUnloading) std::_Exit(7);
    }
  } older;
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
}

TEST_CASE("a library's work is checked like a kernel") {
  check_dies_always("child: library read", {"cublasLtMatmul", "never written"});
  check_dies_always("child: library write", {"cublasLtMatmul", "out of the bounds"});
}
TEST_CASE("child: library read" * doctest::skip()) {
  const Gpu<int> x(4);
  int* const p = x;
  host::enqueue(nullptr, "cublasLtMatmul", [=] { host::check_read(p, 16); });
  wait();
}
TEST_CASE("child: library write" * doctest::skip()) {
  const Gpu<int> x(4);
  int* const p = x;
  host::enqueue(nullptr, "cublasLtMatmul", [=] { host::check_write(p, 20); });
  wait();
}

TEST_CASE("host threads queue work and wait concurrently") {
  std::vector<std::thread> threads;
  std::vector<int> sums(4);
  for (size_t t = 0; t < sums.size(); ++t) {
    threads.emplace_back([&, t] {
      const Stream stream;
      const Gpu<int> x(64, static_cast<int>(t)), y(64);
      for (int i = 0; i < 50; ++i) {
        add_one({1, 64, stream}, y, x);
        add_one({1, 64, stream}, x, y);
      }
      cudaStreamSynchronize(stream);
      sums[t] = x.host()[63];
    });
  }
  for (std::thread& t : threads) t.join();
  for (size_t t = 0; t < sums.size(); ++t) CHECK(sums[t] == 100 + static_cast<int>(t));
}
