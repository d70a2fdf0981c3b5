// The emulation of cuDNN on memory of the runtime: its own checks, and the calls that fail as with
// the real library.
#include <ambit/ambit.h>
#include <doctest/doctest.h>
#include <stdlib.h>

#include <cstddef>
#include <functional>
#include <vector>

#include "cudnn_problem.h"
#include "tests/child_process.h"
#include "tests/dies.h"

using namespace ambit;
using namespace host_libraries;

TEST_CASE("a plan does not run on memory that violates its descriptors") {
  const Problem p{Kind::forward, {2, 3, 8, 8}, {4, 3, 3, 3}};
  const Operands o(p);
  GpuArray x(o.x), w(o.w), y(o.y), shifted(o.x, 2);
  CudnnScript s(emulated_cudnn());
  D plan = nullptr;
  for (D configuration : s.ranked(graph_of(s, p), CUDNN_HEUR_MODE_A)) {
    D made = s.plan(configuration, handle());
    if (made && s.workspace_bytes(made) > 0) plan = made;
  }
  REQUIRE(plan);
  GpuArray workspace(static_cast<size_t>(s.workspace_bytes(plan)));
  const auto run = [&](const Sizes& ids, const std::vector<void*>& pointers, void* scratch) {
    return s.api().execute(handle(), plan, s.pack(ids, pointers, scratch));
  };
  void *px = x.data(), *pw = w.data(), *py = y.data(), *scratch = workspace.data();
  CHECK(run({kX, kW, kY}, {px, pw, py}, scratch) == CUDNN_STATUS_SUCCESS);
  CHECK(run({kX, kW, kY}, {px, pw, py}, nullptr) == CUDNN_STATUS_BAD_PARAM_NULL_POINTER);
  CHECK(run({kX, kW, kY}, {px, nullptr, py}, scratch) == CUDNN_STATUS_BAD_PARAM_NULL_POINTER);
  CHECK(run({kX, kY}, {px, py}, scratch) == CUDNN_STATUS_BAD_PARAM);
  CHECK(run({kX, kW, kY}, {shifted.data(), pw, py}, scratch) ==
        CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER);
  CHECK(run({kX, kW, kY}, {px, pw, py}, static_cast<std::byte*>(scratch) + 4) ==
        CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER);
  D unfinished = s.make(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
  CHECK(s.api().execute(handle(), plan, unfinished) == CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED);
  CHECK(s.api().execute(handle(), plan, plan) == CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE);
  must(cudaDeviceSynchronize());
}

TEST_CASE("descriptors of another kind, which crash the real library, are refused") {
  CudnnScript s(emulated_cudnn());
  D conv = s.convolution({}), x = s.tensor({.id = 1, .sizes = {2, 3, 8, 8}});
  D operation = s.make(CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR);
  s.set(operation, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, conv);
  CHECK(s.log().back().status == CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE);
  s.set(operation, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, x);
  CHECK(s.log().back().status == CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE);
  s.graph({x});
  CHECK(s.log()[s.log().size() - 2].status == CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE);
  CHECK(s.api().make(CUDNN_BACKEND_TENSOR_DESCRIPTOR, nullptr) ==
        CUDNN_STATUS_BAD_PARAM_NULL_POINTER);
}

TEST_CASE("plans fail and need more workspace if AMBIT_CUDA_HOST_CUDNN says so") {
  const Problem p{Kind::forward, {2, 3, 8, 8}, {4, 3, 3, 3}};
  const Operands o(p);
  GpuArray x(o.x), w(o.w), y(o.y);
  setenv("AMBIT_CUDA_HOST_CUDNN", "execute:1,workspace:2=4000000000", 1);
  CudnnScript s(emulated_cudnn());
  D graph = graph_of(s, p);
  int place = 0;
  for (D configuration : s.ranked(graph, CUDNN_HEUR_MODE_A)) {
    D plan = s.plan(configuration, handle());
    if (!plan) continue;
    const int64_t bytes = s.workspace_bytes(plan);
    CHECK((bytes == 4000000000) == (place == 2));
    GpuArray workspace(place == 2 ? 0 : static_cast<size_t>(bytes));
    D pack = s.pack({kX, kW, kY}, {x.data(), w.data(), y.data()}, workspace.data());
    const cudnnStatus_t status = s.api().execute(handle(), plan, pack);
    if (place != 2) CHECK((status == CUDNN_STATUS_EXECUTION_FAILED) == (place == 1));
    must(cudaDeviceSynchronize());
    ++place;
  }
  CHECK(place > 3);
  unsetenv("AMBIT_CUDA_HOST_CUDNN");
}

// Each ends its process with a message.
TEST_CASE("cuDNN on the host ends the process at errors that the real library does not detect") {
  check_dies("child: a result over an operand", {"overlaps"});
  check_dies("child: a descriptor used after its end", {"destroyed"});
  check_dies("child: an operand freed before the plan",
             {"which was freed, in cudnnBackendExecute"});
  check_dies("child: an operand never written", {"never written, in cudnnBackendExecute"});
  check_dies("child: a workspace too small",
             {"out of the bounds of memory, in cudnnBackendExecute"});
}

TEST_CASE("a handle of cuDNN belongs to one GPU, and so do its stream and its plans") {
  const ChildResult result = run_child("child: cuDNN on two GPUs", "AMBIT_CUDA_HOST=2");
  INFO(result.output);
  CHECK(result.exit_code == 0);
}
TEST_CASE("child: cuDNN on two GPUs" * doctest::skip()) {
  const CudnnApi& api = emulated_cudnn();
  cudaStream_t here = nullptr, there = nullptr;
  cudnnHandle_t second = nullptr;
  must(cudaStreamCreate(&here));
  handle();
  must(cudaSetDevice(1));
  must(cudaStreamCreate(&there));
  REQUIRE(api.create(&second) == CUDNN_STATUS_SUCCESS);
  CHECK(api.set_stream(second, there) == CUDNN_STATUS_SUCCESS);
  CHECK(api.set_stream(second, here) == CUDNN_STATUS_INTERNAL_ERROR_TEXTURE_CREATION_FAILED);
  const Problem p{Kind::forward, {2, 3, 8, 8}, {4, 3, 3, 3}};
  const Operands o(p);
  GpuArray x(o.x), w(o.w), y(o.y);
  CudnnScript s(api);
  D plan = s.plan(s.ranked(graph_of(s, p), CUDNN_HEUR_MODE_FALLBACK).front(), handle());
  D pack = s.pack({kX, kW, kY}, {x.data(), w.data(), y.data()}, nullptr);
  CHECK(api.execute(second, plan, pack) == CUDNN_STATUS_BAD_PARAM);
  // The stream of the first GPU cannot be used while the second is the current one.
  CHECK(api.execute(handle(), plan, pack) == CUDNN_STATUS_EXECUTION_FAILED_CUDART);
  must(cudaSetDevice(0));
}

namespace {

void run_wrongly(const std::function<void(std::vector<void*>&, GpuArray&)>& spoil,
                 size_t workspace_bytes = 1 << 20) {
  const Problem p{Kind::forward, {2, 3, 8, 8}, {4, 3, 3, 3}};
  const Operands o(p);
  GpuArray x(o.x), w(o.w), y(o.y), scratch(workspace_bytes);
  std::vector<void*> pointers{x.data(), w.data(), y.data()};
  CudnnScript s(emulated_cudnn());
  for (D configuration : s.ranked(graph_of(s, p), CUDNN_HEUR_MODE_A)) {
    D plan = s.plan(configuration, handle());
    if (!plan || s.workspace_bytes(plan) == 0) continue;
    spoil(pointers, x);
    s.api().execute(handle(), plan, s.pack({kX, kW, kY}, pointers, scratch.data()));
    must(cudaDeviceSynchronize());
  }
}

}  // namespace

TEST_CASE("child: a result over an operand" * doctest::skip()) {
  run_wrongly([](std::vector<void*>& p, GpuArray&) { p[2] = p[0]; });
}
TEST_CASE("child: a descriptor used after its end" * doctest::skip()) {
  D d = nullptr;
  emulated_cudnn().make(CUDNN_BACKEND_TENSOR_DESCRIPTOR, &d);
  emulated_cudnn().destroy(d);
  emulated_cudnn().finalize(d);
}
TEST_CASE("child: an operand freed before the plan" * doctest::skip()) {
  run_wrongly([](std::vector<void*>&, GpuArray& x) { x.free(); });
}
TEST_CASE("child: an operand never written" * doctest::skip()) {
  GpuArray raw(1 << 16);
  run_wrongly([&](std::vector<void*>& p, GpuArray&) { p[0] = raw.data(); });
}
TEST_CASE("child: a workspace too small" * doctest::skip()) {
  run_wrongly([](std::vector<void*>&, GpuArray&) {}, 16);
}
