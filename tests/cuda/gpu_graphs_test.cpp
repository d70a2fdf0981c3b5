// CUDA graphs by <ambit/cuda.h>: work that cannot be captured is refused; a graph owns its memory,
// and is ordered with the work of other threads and streams. gpu_graph_steps_test.cpp tests
// training. Without a GPU these cases are skipped with a note. On the host runtime, unordered
// accesses and use of freed memory end the process.
#include <ambit/ambit.h>
#include <ambit/backend/registry.h>
#include <ambit/cuda.h>
#include <ambit/dlpack.h>
#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "has_gpu.h"
#include "tests/child_process.h"

using namespace ambit;

namespace {

Device gpu() { return Device("cuda"); }
void run_in_thread(const std::function<void()>& f) { std::thread(f).join(); }

/// A step of an optimizer that has stepped before.
template <class Optimizer, class Options>
std::function<void()> second_step_of(const Options& options) {
  const Tensor p = ones({3}, gpu()).requires_grad_();
  p.mutable_grad() = ones({3}, gpu());
  const auto optimizer = std::make_shared<Optimizer>(std::vector{p}, options);
  optimizer->step();
  return [optimizer] { optimizer->step(); };
}

}  // namespace

TEST_CASE("gpu: work that cannot be captured is refused, at once and at the end of the capture") {
  if (!has_gpu()) return;
  const Tensor x = ones({2, 3, 4, 4}, gpu()), y = ones({3}, gpu()), host = ones({3});
  const Tensor w = ones({2, 3, 2, 2}, gpu());
  conv2d(x, w);
  cuda::Event event;
  event.record();
  cuda::CUDAGraph empty;
  empty.capture_begin();
  empty.capture_end();
  const auto now = [] { return cuda::getCurrentCUDAStream(); };
  const struct {
    const char* got;
    std::function<void()> f;
  } cases[] = {
      {"a copy to the host", [&] { y.sum().item<float>(); }},
      {"a copy to the host", [&] { y.cpu(); }},
      {"a copy from host memory", [&] { host.to(gpu()); }},
      {"a copy from host memory", [&] { y.copy_(host.pin_memory(), true); }},
      {"a wait of the host", [&] { synchronize(gpu()); }},
      {"a wait of the host", [&] { now().synchronize(); }},
      {"a query", [&] { now().query(); }},
      {"an event", [&] { cuda::Event().record(); }},
      {"a wait for an event", [&] { event.block(now()); }},
      {"another stream", [&] { const cuda::StreamGuard guard(cuda::getStreamFromPool()); }},
      {"work on another stream", [&] { cuda::record_stream(y, cuda::getDefaultCUDAStream()); }},
      {"random numbers that are not the next ones", [&] { rand({3}, Generator(gpu(), 5), gpu()); }},
      {"a step's number", second_step_of<optim::Adam>(optim::AdamOptions(0.1))},
      {"a step's number", second_step_of<optim::AdamW>(optim::AdamWOptions(0.1).amsgrad(true))},
      {"a step's number", second_step_of<optim::NAdam>(optim::NAdamOptions(0.1))},
      {"a rate that decays",
       second_step_of<optim::Adagrad>(optim::AdagradOptions(0.1).lr_decay(0.1))},
      {"a choice among cuDNN's plans by their times",
       [&] {
         set_benchmark(true);
         try {
           conv2d(x, w, Tensor(), {.dilation = {2}});
         } catch (...) {
           set_benchmark(false);
           throw;
         }
         set_benchmark(false);
       }},
      {"memory given back", [&] { empty_cache(gpu()); }},
      {"memory lent", [&] { to_dlpack(y, {.stream = 2}); }},
      {"the replay of a graph", [&] { empty.replay(); }},
      {"another capture", [&] { cuda::CUDAGraph().capture_begin(); }},
  };
  for (const auto& c : cases) {
    INFO(std::string(c.got));
    cuda::CUDAGraph graph;
    graph.capture_begin();
    const Tensor z = y + 1;
    CHECK_THROWS_WITH_AS(
        c.f(), doctest::Contains((std::string("can repeat, got ") + c.got).c_str()), BackendError);
    CHECK_THROWS_WITH_AS(graph.capture_end(),
                         doctest::Contains((std::string("nothing was refused, got ")).c_str()),
                         BackendError);
    CHECK_THROWS_WITH_AS(graph.replay(), doctest::Contains("got an empty one"), BackendError);
    CHECK((y + 1).sum().item<float>() == 6);
    graph.capture_begin();
    const Tensor twice = y * 2;
    graph.capture_end();
    graph.replay();
    CHECK(twice.sum().item<float>() == 6);
  }
  const ChildResult ran = run_child("child: a capture without warm-up");
  INFO(ran.output);
  CHECK(ran.exit_code == 0);
  CHECK(ran.output.find("1 passed") != std::string::npos);
  if (device_count("cuda") < 2) return;
  cuda::CUDAGraph graph;
  graph.capture_begin();
  CHECK_THROWS_WITH_AS(y.to(Device("cuda:1")), doctest::Contains("a copy between GPUs"),
                       BackendError);
  // Another GPU can be used.
  CHECK(ones({5}, Device("cuda:1")).sum().item<float>() == 5);
}

TEST_CASE("child: a capture without warm-up" * doctest::skip()) {
  const Tensor x = ones({1, 3, 4, 4}, gpu()), w = ones({2, 3, 2, 2}, gpu()),
               m = ones({3, 3}, gpu());
  cuda::CUDAGraph graph;
  graph.capture_begin();
  CHECK_THROWS_WITH_AS(conv2d(x, w), doctest::Contains("a first call of cuDNN"), BackendError);
  CHECK_THROWS_WITH_AS(m.matmul(m), doctest::Contains("a first call of cuBLASLt"), BackendError);
  CHECK_THROWS_AS(graph.capture_end(), BackendError);
  CHECK(m.matmul(m).sum().item<float>() == 27);
}

TEST_CASE("gpu: wrong begin, end or replay of a graph is an error") {
  if (!has_gpu()) return;
  const Tensor x = ones({3}, gpu());
  CHECK_THROWS_WITH_AS(cuda::CUDAGraph(99), doctest::Contains("the index of a GPU in [0, "),
                       BackendError);
  cuda::CUDAGraph graph(0);
  CHECK_THROWS_WITH_AS(graph.capture_end(), doctest::Contains("this thread is capturing"),
                       BackendError);
  CHECK_THROWS_WITH_AS(graph.replay(), doctest::Contains("got an empty one"), BackendError);
  graph.capture_begin();
  CHECK_THROWS_WITH_AS(graph.capture_begin(), doctest::Contains("is being captured"), BackendError);
  run_in_thread([&] {
    CHECK_THROWS_WITH_AS(graph.capture_end(), doctest::Contains("this thread is capturing"),
                         BackendError);
  });
  const Tensor y = x + 1;
  graph.capture_end();
  CHECK_THROWS_WITH_AS(graph.capture_begin(), doctest::Contains("was captured"), BackendError);
  run_in_thread([&] {
    CHECK_THROWS_WITH_AS(graph.replay(), doctest::Contains("that has captured the graph"),
                         BackendError);
  });
  cuda::CUDAGraph moved = std::move(graph);
  moved.replay();
  CHECK(y.sum().item<float>() == 6);
  // A capture that is not ended is dropped: by an exception, by reset(), by the end of the thread.
  try {
    cuda::CUDAGraph dropped;
    dropped.capture_begin();
    x.index({99});
  } catch (const Error&) {
  }
  moved.reset();
  moved.capture_begin();
  const Tensor never = x + 1;
  moved.reset();
  std::optional<cuda::CUDAGraph> left;
  run_in_thread([&] {
    left.emplace().capture_begin();
    x.add_(1);
  });
  left.reset();
  run_in_thread([&] { CHECK((x + 1).sum().item<float>() == 6); });
  CHECK((x + 1).sum().item<float>() == 6);
}

TEST_CASE("gpu: a guard that ends within a capture changes the rest of the capture") {
  if (!has_gpu()) return;
  const cuda::Stream own = cuda::getCurrentCUDAStream(), side = cuda::getStreamFromPool();
  const Tensor x = ones({3}, gpu());
  cuda::CUDAGraph graph;
  Tensor y;
  {
    const cuda::StreamGuard guard(side);
    graph.capture_begin();
    y = x + 1;
  }
  CHECK(!(cuda::getCurrentCUDAStream() == own));
  y.add_(1);
  graph.capture_end();
  CHECK(cuda::getCurrentCUDAStream() == own);
  run_in_thread([&] { const cuda::StreamGuard free(side); });
  graph.replay();
  CHECK(y.sum().item<float>() == 9);
}

TEST_CASE("gpu: other threads continue during a capture, but cannot use its tensors") {
  if (!has_gpu()) return;
  const Tensor x = ones({1000}, gpu());
  cuda::CUDAGraph graph;
  graph.capture_begin();
  const Tensor y = x + 1;
  run_in_thread([&] {
    const Tensor z = (x + 2).to(gpu());
    CHECK(z.sum().item<float>() == 3000);
    CHECK(empty({1 << 22}, gpu()).fill_(1).mean().item<float>() == 1);
    synchronize(gpu());
    empty_cache(gpu());
    cuda::CUDAGraph other;
    other.capture_begin();
    const Tensor w = x * 5;
    CHECK_THROWS_WITH_AS(y * 2, doctest::Contains("that another stream is still"), BackendError);
    other.capture_end();
    other.replay();
    CHECK(w.sum().item<float>() == 5000);
    CHECK_THROWS_WITH_AS(y + 1, doctest::Contains("that another stream is still"), BackendError);
  });
  y.add_(x);
  graph.capture_end();
  graph.replay();
  run_in_thread([&] { CHECK((y + 1).sum().item<float>() == 4000); });
}

TEST_CASE("gpu: memory of a graph is not reused during its lifetime") {
  if (!has_gpu()) return;
  constexpr int64_t kLarge = 300'000;  // floats: another kind of segment
  for (const int64_t n : {int64_t{1000}, kLarge}) {
    INFO(n);
    Tensor x = full({n}, 3, gpu());
    cuda::CUDAGraph graph;
    graph.capture_begin();
    Tensor y;
    {
      const Tensor scratch = x + 1, more = scratch * 2;
      y = more + 1;
    }
    Tensor dropped = y * 2;
    graph.capture_end();
    x = dropped =
        Tensor();  // no tensor refers to the memory that the graph reads, nor to its scratch memory
    std::vector<Tensor> others;
    for (int i = 0; i < 6; ++i) others.push_back(full({n}, 7, gpu()));
    run_in_thread([&] { others.push_back(full({n}, 7, gpu())); });
    for (int i = 0; i < 2; ++i) graph.replay();
    CHECK(y.cpu().equal(full({n}, 9)));
    for (const Tensor& t : others) CHECK(t.cpu().equal(full({n}, 7)));
  }
}

TEST_CASE("gpu: a destroyed graph gives its memory back") {
  if (!has_gpu()) return;
  constexpr int64_t kLarge = 3 << 20;  // floats, 12 MiB: separate segments
  const Tensor x = ones({kLarge}, gpu());
  synchronize(gpu());
  empty_cache(gpu());
  const MemoryStats before = memory_stats(gpu());
  Tensor y;
  {
    cuda::CUDAGraph graph;
    graph.capture_begin();
    y = (x + 1) * 2;
    graph.capture_end();
    empty_cache(gpu());  // keeps the graph's memory
    CHECK(memory_stats(gpu()).cached >= before.cached + kLarge * sizeof(float));
    graph.replay();
  }
  const MemoryStats after = memory_stats(gpu());
  CHECK(after.in_use == before.in_use + kLarge * sizeof(float));
  const Tensor z = x + 2;  // gets memory of the graph
  CHECK(memory_stats(gpu()).system_allocations == after.system_allocations);
  CHECK(y.cpu().equal(full({kLarge}, 4)));
  CHECK(z.cpu().equal(full({kLarge}, 3)));
  y = Tensor();
  empty_cache(gpu());
  CHECK(memory_stats(gpu()).in_use == before.in_use + kLarge * sizeof(float));
  CHECK(memory_stats(gpu()).cached == before.cached);
}

TEST_CASE("gpu: replays are ordered with accesses of other threads and streams to their tensors") {
  if (!has_gpu()) return;
  const Tensor x = zeros({3000}, gpu());
  cuda::CUDAGraph graph;
  x + 1;
  graph.capture_begin();
  const Tensor y = (x * 2 + 1) * 3;
  graph.capture_end();
  graph.replay();
  const auto is_whole = [](const Tensor& t) {
    const Tensor copy = t + 0;
    return (copy.max() - copy.min()).item<float>() == 0;
  };
  std::thread other([&] {
    for (int i = 0; i < 30; ++i) {
      x.fill_(i);
      CHECK(is_whole(y));
    }
  });
  std::vector<cuda::Stream> streams{cuda::getStreamFromPool(), cuda::getDefaultCUDAStream(),
                                    cuda::getStreamFromPool()};
  for (size_t i = 0; i < 30; ++i) {
    const cuda::StreamGuard guard(streams[i % 3]);
    graph.replay();
    if (i % 4 == 0) CHECK(is_whole(y));
    if (i % 5 == 0) x.fill_(-1);
  }
  other.join();
  x.fill_(5);
  graph.replay();
  CHECK(y.cpu().equal(full({3000}, 33)));
}

TEST_CASE("gpu: an invalid index in a replay is reported like that of any kernel") {
  if (!has_gpu()) return;
  const Tensor x = ones({4, 3}, gpu()), index = tensor({1, 2}).to(gpu());
  cuda::CUDAGraph graph;
  graph.capture_begin();
  const Tensor y = x.index_select(0, index);
  graph.capture_end();
  graph.replay();
  CHECK_NOTHROW(synchronize(gpu()));
  index.fill_(9);
  graph.replay();
  CHECK_THROWS_AS(synchronize(gpu()), IndexError);
  index.fill_(3);
  graph.replay();
  CHECK(y.sum().item<float>() == 6);
}

TEST_CASE("host: a lack of memory in a capture is reported, with the memory held by graphs") {
  if (!has_gpu()) return;
  if (!backend_of(gpu()).properties(0).name.starts_with("CUDA on the host")) return;
  for (const char* cache : {"1", "0"}) {
    const ChildResult ran = run_child(
        "child: little memory for a capture",
        std::string("AMBIT_CUDA_HOST=1 AMBIT_CUDA_HOST_MEMORY=32 AMBIT_CUDA_CACHE=") + cache);
    INFO(ran.output);
    CHECK(ran.exit_code == 0);
    CHECK(ran.output.find("1 passed") != std::string::npos);
  }
}
TEST_CASE("child: little memory for a capture" * doctest::skip()) {
  constexpr int64_t k12MiB = 3 << 20;  // floats of that size
  Tensor x = ones({k12MiB}, gpu());
  cuda::CUDAGraph graph;
  graph.capture_begin();
  Tensor y = x + 1;
  CHECK_THROWS_AS(y * 2, OutOfMemoryError);
  y.mul_(2);
  graph.capture_end();
  x = y = Tensor();
  CHECK_THROWS_AS(ones({k12MiB}, gpu()), OutOfMemoryError);  // the graph keeps all memory
  for (int i = 0; i < 2; ++i) graph.replay();
  graph.reset();
  CHECK(ones({k12MiB}, gpu()).mean().item<float>() == 1);
  CHECK(ones({2 * k12MiB}, gpu()).mean().item<float>() == 1);
}
