// Streams, events, guards and graphs of a GPU under libtorch's names, with libtorch's header names.
// Without a GPU these cases are skipped with a note.
#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/CUDAEvent.h>
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <doctest/doctest.h>
#include <torch/cuda.h>

#include <ambit/ambit.h>

#include "has_gpu.h"

namespace {

torch::Tensor on_gpu(double value) { return torch::full({64, 64}, value, at::kCUDA); }

}  // namespace

TEST_CASE("gpu: a libtorch program's graph is replayed on new inputs, on a stream of the pool") {
  if (!has_gpu()) return;
  const torch::Tensor w = on_gpu(0.5);
  torch::Tensor x = on_gpu(1), y;
  y = torch::relu(x.mm(w));  // warm-up
  at::cuda::CUDAGraph graph;
  {
    const c10::cuda::CUDAStreamGuard guard(at::cuda::getStreamFromPool());
    graph.capture_begin();
    y = torch::relu(x.mm(w));
    graph.capture_end();
  }
  for (const double value : {1., 3., -2.}) {
    x.copy_(on_gpu(value));
    graph.replay();
    CHECK(y.cpu().equal(torch::full({64, 64}, value < 0 ? 0 : value * 32)));
  }
  graph.reset();
  CHECK_THROWS_AS(graph.replay(), c10::Error);
}

TEST_CASE(
    "gpu: kernels use the current stream; events order streams and measure time if requested") {
  if (!has_gpu()) return;
  const at::cuda::CUDAStream side = at::cuda::getStreamFromPool(),
                             own = c10::cuda::getCurrentCUDAStream();
  CUstream_st* const of_kernels = side;
  CHECK(of_kernels == side.stream());
  CHECK(of_kernels != own.stream());
  constexpr unsigned kKeepsTime = 0;  // cudaEventDefault
  at::cuda::CUDAEvent before(kKeepsTime), after(kKeepsTime), plain;
  before.record(side);
  torch::Tensor y;
  {
    const at::cuda::CUDAStreamGuard guard(side);
    y = on_gpu(2).mm(on_gpu(1));
  }
  after.record(side);
  plain.record(side);
  plain.block(own);
  CHECK(y.cpu().equal(torch::full({64, 64}, 128.)));
  after.synchronize();
  CHECK(after.query());
  CHECK(before.elapsed_time(after) >= 0);
  CHECK_THROWS_AS(before.elapsed_time(plain), c10::Error);
}

TEST_CASE("gpu: a guard of an index selects the GPU that \"cuda\" means") {
  if (!has_gpu()) return;
  const int last = torch::cuda::device_count() - 1;
  {
    const at::cuda::CUDAGuard guard(last);
    CHECK(torch::ones({1}, at::kCUDA).device().index() == last);
  }
  {
    const at::cuda::OptionalCUDAGuard none, guard(torch::Device(at::kCUDA, last));
    CHECK(torch::ones({1}, at::kCUDA).device().index() == last);
  }
  CHECK(torch::ones({1}, at::kCUDA).device().index() == 0);
}
