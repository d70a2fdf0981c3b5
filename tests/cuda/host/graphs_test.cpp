// Graphs of the CUDA runtime on the host: allowed and invalid captures, and launches.
#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "gpu_memory.h"
#include "handles.h"
#include "kernels/faulty_kernels.h"
#include "queue.h"
#include "tests/dies.h"

using namespace faulty;
using namespace ambit::cuda;

namespace {

void begin(const Stream& stream, cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal) {
  REQUIRE(cudaStreamBeginCapture(stream, mode) == cudaSuccess);
}

// End a capture that is expected to be invalid.
void end_invalid(const Stream& stream, cudaError_t expected = cudaErrorStreamCaptureInvalidated) {
  auto graph = reinterpret_cast<cudaGraph_t>(&expected);
  CHECK(cudaStreamEndCapture(stream, &graph) == expected);
  CHECK(graph == nullptr);
  static_cast<void>(cudaGetLastError());
  cudaStreamCaptureStatus status{};
  CHECK(cudaStreamIsCapturing(stream, &status) == cudaSuccess);
  CHECK(status == cudaStreamCaptureStatusNone);
}

struct Executable {
  explicit Executable(const Stream& captured) {
    cudaGraph_t graph = nullptr;
    REQUIRE(cudaStreamEndCapture(captured, &graph) == cudaSuccess);
    REQUIRE(cudaGraphInstantiate(&handle, graph, 0) == cudaSuccess);
    CHECK(cudaGraphDestroy(graph) == cudaSuccess);
    CHECK(cudaGraphDestroy(graph) == cudaErrorInvalidValue);
  }
  ~Executable() {
    cudaGraphExecDestroy(handle);
    static_cast<void>(cudaGetLastError());
  }
  operator cudaGraphExec_t() const { return handle; }
  cudaGraphExec_t handle = nullptr;
};

}  // namespace

TEST_CASE("captured work runs at each launch, not before") {
  const Stream stream, other;
  const Gpu<int> x(64, 0), y(64, 5);
  wait();
  int runs = 0;
  begin(stream);
  cudaStreamCaptureStatus status{};
  CHECK(cudaStreamIsCapturing(stream, &status) == cudaSuccess);
  CHECK(status == cudaStreamCaptureStatusActive);
  CHECK(add_one({1, 64, stream}, y, x) == cudaSuccess);
  CHECK(cudaMemcpyAsync(x, y, 256, cudaMemcpyDeviceToDevice, stream) == cudaSuccess);
  CHECK(host::enqueue(stream, "a count", [&] { ++runs; }) == cudaSuccess);
  const Executable graph(stream);
  CHECK(y.host()[0] == 5);
  for (int i = 0; i < 3; ++i) CHECK(cudaGraphLaunch(graph, stream) == cudaSuccess);
  CHECK(runs == 0);
  CHECK(x.host()[63] == 3);
  CHECK(runs == 3);
  // Launches of one graph are ordered on any streams.
  CHECK(cudaGraphLaunch(graph, stream) == cudaSuccess);
  CHECK(cudaGraphLaunch(graph, other) == cudaSuccess);
  CHECK(x.host()[0] == 5);
  // Launched work runs, although the graph has been destroyed.
  CHECK(cudaGraphLaunch(graph, other) == cudaSuccess);
  CHECK(cudaGraphExecDestroy(graph) == cudaSuccess);
  CHECK(x.host()[0] == 6);
  CHECK(cudaGraphLaunch(graph, other) == cudaErrorInvalidValue);
  static_cast<void>(cudaGetLastError());
}

TEST_CASE("a stream joins a capture by its event, and must be waited for") {
  const Stream stream, side;
  const Event fork, join;
  const Gpu<int> x(64, 1), y(64, 0);
  wait();
  for (const bool joins : {true, false}) {
    begin(stream);
    CHECK(cudaEventRecord(fork, stream) == cudaSuccess);
    CHECK(cudaStreamWaitEvent(side, fork, 0) == cudaSuccess);
    CHECK(add_one({1, 64, side}, y, x) == cudaSuccess);
    CHECK(cudaEventRecord(join, side) == cudaSuccess);
    cudaGraph_t graph = nullptr;
    CHECK(cudaStreamEndCapture(side, &graph) == cudaErrorStreamCaptureUnmatched);
    static_cast<void>(cudaGetLastError());
    if (!joins) {
      end_invalid(stream, cudaErrorStreamCaptureUnjoined);
      break;
    }
    CHECK(cudaStreamWaitEvent(stream, join, 0) == cudaSuccess);
    CHECK(add_one({1, 64, stream}, x, y) == cudaSuccess);
    const Executable done(stream);
    CHECK(cudaGraphLaunch(done, stream) == cudaSuccess);
    CHECK(x.host()[0] == 3);
  }
  // Outside of a capture its events are invalid.
  CHECK(cudaEventQuery(fork) == cudaErrorCapturedEvent);
  CHECK(cudaStreamWaitEvent(side, fork, 0) == cudaErrorCapturedEvent);
  CHECK(cudaEventRecord(fork, side) == cudaSuccess);
  CHECK(cudaEventSynchronize(fork) == cudaSuccess);
  static_cast<void>(cudaGetLastError());
}

TEST_CASE("calls that cannot be captured are refused, and invalidate the capture") {
  const Stream stream, other;
  const Event outside, inside;
  const Gpu<int> x(64, 1), y(64, 1);
  REQUIRE(cudaEventRecord(outside, other) == cudaSuccess);
  wait();
  std::vector<int> pageable(64);
  void* p = nullptr;
  const struct {
    const char* what;
    cudaError_t expected;
    std::function<cudaError_t()> call;
  } cases[] = {
      {"a wait", cudaErrorStreamCaptureUnsupported, [&] { return cudaStreamSynchronize(stream); }},
      {"a query", cudaErrorStreamCaptureUnsupported, [&] { return cudaStreamQuery(stream); }},
      {"a wait for the device", cudaErrorStreamCaptureUnsupported,
       [&] { return cudaDeviceSynchronize(); }},
      {"an event of before", cudaErrorStreamCaptureIsolation,
       [&] { return cudaStreamWaitEvent(stream, outside, 0); }},
      {"a wait for an event inside", cudaErrorCapturedEvent,
       [&] {
         CHECK(cudaEventRecord(inside, stream) == cudaSuccess);
         return cudaEventSynchronize(inside);
       }},
      {"a copy from pageable memory", cudaErrorStreamCaptureUnsupported,
       [&] { return cudaMemcpyAsync(x, pageable.data(), 256, cudaMemcpyHostToDevice, stream); }},
      {"a copy to pageable memory", cudaErrorStreamCaptureUnsupported,
       [&] { return cudaMemcpyAsync(pageable.data(), x, 256, cudaMemcpyDeviceToHost, stream); }},
      {"an allocation", cudaErrorStreamCaptureUnsupported, [&] { return cudaMalloc(&p, 64); }},
      {"an event of another capture", cudaErrorStreamCaptureMerge,
       [&] {
         begin(other, cudaStreamCaptureModeRelaxed);
         CHECK(cudaEventRecord(inside, other) == cudaSuccess);
         const cudaError_t status = cudaStreamWaitEvent(stream, inside, 0);
         end_invalid(other);
         return status;
       }},
  };
  for (const auto& c : cases) {
    INFO(c.what);
    begin(stream);
    CHECK(c.call() == c.expected);
    cudaStreamCaptureStatus status{};
    CHECK(cudaStreamIsCapturing(stream, &status) == cudaSuccess);
    CHECK(status == cudaStreamCaptureStatusInvalidated);
    CHECK(add_one({1, 64, stream}, y, x) == cudaErrorStreamCaptureInvalidated);
    CHECK(cudaEventRecord(inside, stream) == cudaErrorStreamCaptureInvalidated);
    end_invalid(stream);
  }
  CHECK(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal) ==
        cudaErrorStreamCaptureUnsupported);
  end_invalid(stream, cudaErrorIllegalState);  // there is no capture
  begin(stream);
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaErrorIllegalState);
  { const Executable empty(stream); }
  static_cast<void>(cudaGetLastError());
  CHECK(add_one({1, 64, stream}, y, x) == cudaSuccess);
  CHECK(y.host()[0] == 2);
}

TEST_CASE("unsafe calls depend on the modes of captures and threads") {
  const Stream stream;
  void* p = nullptr;
  const auto malloc_elsewhere = [&] {
    cudaError_t status = cudaSuccess;
    std::thread([&] { status = cudaMalloc(&p, 64); }).join();
    if (status == cudaSuccess) cudaFree(p);
    return status;
  };
  begin(stream, cudaStreamCaptureModeGlobal);
  CHECK(malloc_elsewhere() == cudaErrorStreamCaptureUnsupported);
  end_invalid(stream);
  begin(stream, cudaStreamCaptureModeRelaxed);
  CHECK(malloc_elsewhere() == cudaSuccess);
  CHECK(cudaMalloc(&p, 64) == cudaSuccess);
  CHECK(cudaFree(p) == cudaSuccess);
  { const Executable empty(stream); }
  begin(stream, cudaStreamCaptureModeThreadLocal);
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  CHECK(cudaThreadExchangeStreamCaptureMode(&mode) == cudaSuccess);
  CHECK(mode == cudaStreamCaptureModeGlobal);
  CHECK(cudaMalloc(&p, 64) == cudaSuccess);
  CHECK(cudaThreadExchangeStreamCaptureMode(&mode) == cudaSuccess);
  CHECK(mode == cudaStreamCaptureModeRelaxed);
  std::thread([&] {
    cudaGraph_t graph = nullptr;
    CHECK(cudaStreamEndCapture(stream, &graph) == cudaErrorStreamCaptureWrongThread);
  }).join();
  CHECK(cudaFree(p) == cudaErrorStreamCaptureUnsupported);
  end_invalid(stream);
  CHECK(cudaFree(p) == cudaSuccess);
}

TEST_CASE(
    "the legacy stream cannot be used during a capture of a stream that it synchronises with") {
  const Gpu<int> x(64, 1), y(64, 1);
  wait();
  for (const unsigned flags : {cudaStreamDefault, cudaStreamNonBlocking}) {
    const Stream stream(flags);
    begin(stream);
    const bool waits = flags == cudaStreamDefault;
    CHECK(add_one({1, 64, nullptr}, y, x) ==
          (waits ? cudaErrorStreamCaptureImplicit : cudaSuccess));
    if (waits) {
      end_invalid(stream);
    } else {
      const Executable empty(stream);
    }
  }
  static_cast<void>(cudaGetLastError());
}

TEST_CASE("a graph's work is checked like other work") {
  for (const int seed : {1, 2, 3}) {
    const std::string environment = "AMBIT_CUDA_HOST_SEED=" + std::to_string(seed);
    check_dies("child: memory of a graph is freed", {"freed"}, environment);
    check_dies("child: a graph next to other work", {"a race"}, environment);
  }
}
TEST_CASE("child: memory of a graph is freed" * doctest::skip()) {
  const Stream stream;
  const Gpu<int> y(64, 0);
  auto* const x = new Gpu<int>(64, 1);
  wait();
  begin(stream);
  add_one({1, 64, stream}, y, *x);
  const Executable graph(stream);
  delete x;
  cudaGraphLaunch(graph, stream);
  wait();
}
TEST_CASE("child: a graph next to other work" * doctest::skip()) {
  const Stream stream, other;
  const Gpu<int> x(64, 1), y(64, 0);
  wait();
  begin(stream);
  add_one({1, 64, stream}, y, x);
  const Executable graph(stream);
  cudaGraphLaunch(graph, stream);
  fill({1, 64, other}, x, 2);
  wait();
}
