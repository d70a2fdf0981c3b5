// Streams and events of <ambit/cuda.h>. Without a GPU these cases are skipped with a note. On the
// host runtime unordered accesses end the process.
#include <ambit/ambit.h>
#include <ambit/backend/registry.h>
#include <ambit/cuda.h>
#include <ambit/dlpack.h>
#include <ambit/dlpack_abi.h>
#include <doctest/doctest.h>

#include <functional>
#include <future>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <unordered_set>
#include <vector>

#include "has_gpu.h"
#include "tests/dies.h"

using namespace ambit;

namespace {

Device gpu() { return Device("cuda"); }
void run_in_thread(const std::function<void()>& f) { std::thread(f).join(); }

// The program's own work: a function of the CUDA runtime that the plugin has loaded.
void clear(const Tensor& t, cuda::Stream stream) {
  using Memset = int(void*, int, size_t, void*);
  for (const LoadAttempt& attempt : load_report()) {
    if (!attempt.loaded || !attempt.file.ends_with("libambit_cuda.so")) continue;
    void* library = dlopen(attempt.file.c_str(), RTLD_NOW | RTLD_NOLOAD);
    auto* memset = reinterpret_cast<Memset*>(dlsym(library, "cudaMemsetAsync"));
    const bool is_found = memset != nullptr;
    REQUIRE(is_found);
    CHECK(memset(t.data_ptr(), 0, t.nbytes(), stream.stream()) == 0);
    dlclose(library);
  }
}

}  // namespace

TEST_CASE("gpu: a thread has its own stream, unless it sets another one, or a guard does") {
  if (!has_gpu()) return;
  const cuda::Stream own = cuda::getDefaultCUDAStream();
  CHECK(cuda::getCurrentCUDAStream() == own);
  CHECK(own.device() == gpu());
  const cuda::Stream a = cuda::getStreamFromPool(), b = cuda::getStreamFromPool(true, 0);
  CHECK(!(a == b));
  CHECK(!(a == own));
  CHECK(a.stream() != b.stream());
  CHECK(std::set<int64_t>{own.id(), a.id(), b.id()}.size() == 3);
  {
    const cuda::StreamGuard guard(a);
    CHECK(guard.original_stream() == own);
    CHECK(guard.current_stream() == a);
    CHECK(cuda::getCurrentCUDAStream() == a);
    {
      const cuda::StreamGuard inner(b), again(b), back(own);
      CHECK(cuda::getCurrentCUDAStream() == own);
    }
    CHECK(cuda::getCurrentCUDAStream() == a);
    CHECK(cuda::getDefaultCUDAStream() == own);
    run_in_thread([&] { CHECK(!(cuda::getCurrentCUDAStream() == a)); });
  }
  CHECK(cuda::getCurrentCUDAStream() == own);
  cuda::setCurrentCUDAStream(a);
  cuda::setCurrentCUDAStream(b);
  cuda::setCurrentCUDAStream(b);
  CHECK(cuda::getCurrentCUDAStream() == b);
  cuda::setCurrentCUDAStream(own);
  CHECK(cuda::getCurrentCUDAStream() == own);
}

TEST_CASE("gpu: the pool has 32 streams, which are returned in turn") {
  if (!has_gpu()) return;
  std::unordered_set<cuda::Stream> seen;
  for (int i = 0; i < 100; ++i) seen.insert(cuda::getStreamFromPool());
  CHECK(seen.size() == 32);
  CHECK_THROWS_WITH_AS(cuda::getStreamFromPool(false, 99),
                       doctest::Contains("expected the index of a GPU in [0, "), BackendError);
  CHECK_THROWS_AS(cuda::getCurrentCUDAStream(-2), BackendError);
}

TEST_CASE(
    "gpu: other streams can use a stream's results, which are kept until they have been read") {
  if (!has_gpu()) return;
  std::mt19937 random(3);
  std::vector<cuda::Stream> streams{cuda::getDefaultCUDAStream()};
  for (int i = 0; i < 3; ++i) streams.push_back(cuda::getStreamFromPool(i == 2));
  // Tensors with one value each; any stream creates, reads, writes or destroys them.
  std::vector<Tensor> held(5, zeros({3000}, gpu()));
  std::vector<double> values(held.size(), 0);
  for (int step = 0; step < 200; ++step) {
    const cuda::StreamGuard guard(streams[random() % streams.size()]);
    const size_t to = random() % held.size(), from = random() % held.size();
    switch (random() % 4) {
      case 0:
        held[to] = held[from] + 1;
        values[to] = values[from] + 1;
        break;
      case 1:
        held[to] = Tensor();
        held[to] = full({3000}, step, gpu());
        values[to] = step;
        break;
      case 2:
        if (to == from) break;
        held[to].copy_(held[from]);
        values[to] = values[from];
        break;
      default:
        CHECK(held[to].cpu().equal(full({3000}, values[to])));
    }
  }
  for (size_t i = 0; i < held.size(); ++i) CHECK(held[i].cpu().equal(full({3000}, values[i])));
}

TEST_CASE("gpu: products and convolutions run on the current stream") {
  if (!has_gpu()) return;
  const Tensor x = randn({4, 3, 8, 8}), w = randn({5, 3, 3, 3}), a = randn({20, 30});
  const Tensor want_y = conv2d(x, w), want_p = a.matmul(a.t());
  const Tensor gx = x.to(gpu()), gw = w.to(gpu()), ga = a.to(gpu());
  const auto is_close = [](const Tensor& got, const Tensor& want) {
    return got.cpu().allclose(want, 1e-4, 1e-4);  // sums of at most 30 products of numbers up to 5
  };
  std::vector<cuda::Stream> streams{cuda::getStreamFromPool(), cuda::getDefaultCUDAStream(),
                                    cuda::getStreamFromPool()};
  for (int round = 0; round < 6; ++round) {
    const cuda::StreamGuard guard(streams[static_cast<size_t>(round) % 3]);
    const Tensor y = conv2d(gx + 0, gw + 0), p = (ga + 0).matmul((ga + 0).t());
    CHECK(is_close(y, want_y));
    CHECK(is_close(p, want_p));
  }
}

TEST_CASE("gpu: an event is complete when the work before it is done") {
  if (!has_gpu()) return;
  const cuda::Stream side = cuda::getStreamFromPool();
  cuda::Event event, never;
  CHECK(!event.isCreated());
  CHECK(never.query());
  never.synchronize();
  side.wait(never);
  const Tensor x = zeros({1000}, gpu());
  {
    const cuda::StreamGuard guard(side);
    for (int i = 0; i < 20; ++i) x.add_(1);
    event.record();
  }
  CHECK(event.isCreated());
  CHECK(event.device_index() == 0);
  cuda::Event moved = std::move(event);
  moved.synchronize();
  CHECK(moved.query());
  CHECK(side.query());
  side.synchronize();
  CHECK(x.sum().item<float>() == 20000);

  cuda::Event timed(true), later(true);
  timed.recordOnce(side);
  later.record(side);
  later.synchronize();
  CHECK(timed.elapsed_time(later) >= 0);
  CHECK_THROWS_WITH_AS(timed.elapsed_time(never), doctest::Contains("one that was not"),
                       BackendError);
  CHECK_THROWS_WITH_AS(timed.elapsed_time(moved), doctest::Contains("cudaEventElapsedTime"),
                       BackendError);  // the events were created without timing
}

TEST_CASE("gpu: a program's own work is ordered by an event, or with ops by record_stream") {
  if (!has_gpu()) return;
  const cuda::Stream side = cuda::getStreamFromPool(), other = cuda::getStreamFromPool();
  for (int i = 0; i < 10; ++i) {
    const Tensor x = full({1000}, 5, gpu());
    cuda::record_stream(x, side);
    clear(x, side);
    cuda::Event cleared;
    cleared.record(side);
    cleared.block(other);
    clear(x, other);
    cuda::record_stream(x, other);
    CHECK((x + 1).sum().item<float>() == 1000);
  }
  // Memory that such work still uses is not reused.
  std::vector<Tensor> next;
  {
    const Tensor x = full({1000}, 5, gpu());
    cuda::record_stream(x, side);
    clear(x, side);
    cuda::record_stream(x, side);
  }
  for (int i = 0; i < 4; ++i) next.push_back(full({1000}, 7, gpu()));
  for (const Tensor& t : next) CHECK(t.sum().item<float>() == 7000);
  CHECK_THROWS_WITH_AS(cuda::record_stream(ones({3}), side),
                       "record_stream: expected a tensor of device cuda:0, got one of cpu",
                       BackendError);
}

TEST_CASE("gpu: DLPack exports a tensor to another library's stream, and imports it from there") {
  if (!has_gpu()) return;
  const cuda::Stream side = cuda::getStreamFromPool();
  const auto number = reinterpret_cast<int64_t>(side.stream());
  for (int i = 0; i < 10; ++i) {
    const Tensor x = full({1000}, 5, gpu());
    DLManagedTensor* lent = to_dlpack(x, {.stream = number});
    CHECK(lent->dl_tensor.device.device_type == kDLCUDA);
    clear(x, side);
    const Tensor y = from_dlpack(lent, {.stream = number});
    CHECK((y + 1).sum().item<float>() == 1000);

    // Imported memory is passed to another library, and to another thread.
    lent = to_dlpack(y, {.stream = number});
    DLManagedTensor passed_on = *lent;
    passed_on.manager_ctx = lent;
    passed_on.deleter = [](DLManagedTensor* m) {
      auto* l = static_cast<DLManagedTensor*>(m->manager_ctx);
      l->deleter(l);
    };
    clear(x, side);
    const Tensor z = from_dlpack(&passed_on, {.stream = number});
    CHECK(z.device() == gpu());
    z.add_(1);
    run_in_thread([&] { CHECK(z.sum().item<float>() == 1000); });
  }
  const Tensor x = ones({3}, gpu());
  CHECK_THROWS_WITH_AS(to_dlpack(x, {.stream = 0}), doctest::Contains("a stream of DLPack"),
                       BackendError);
  DLManagedTensor* at_once = to_dlpack(x, {.stream = -1});
  at_once->deleter(at_once);
  std::vector<float> memory(3);
  DLManagedTensor host{};
  int64_t size = 3;
  host.dl_tensor = {memory.data(), {kDLCUDA, 0}, 1, {kDLFloat, 32, 1}, &size, nullptr, 0};
  CHECK_THROWS_WITH_AS(from_dlpack(&host), doctest::Contains("expected memory of cuda:0"),
                       BackendError);
}

TEST_CASE("child: work of its own without record_stream" * doctest::skip()) {
  const cuda::Stream side = cuda::getStreamFromPool();
  const Tensor x = full({1000}, 5, gpu());
  clear(x, side);
  const Tensor y = x + 1;
  synchronize(gpu());
  CHECK(y.sum().item<float>() > 0);  // 1000 or 6000
}

TEST_CASE("host: without record_stream there is a race") {
  if (!has_gpu()) return;
  if (!backend_of(gpu()).properties(0).name.starts_with("CUDA on the host")) return;
  check_dies("child: work of its own without record_stream", {"no event or wait orders before"},
             "AMBIT_CUDA_HOST=1 AMBIT_CUDA_HOST_CHECKS=1");
}

TEST_CASE("gpu: a stream is used by one thread at a time") {
  if (!has_gpu()) return;
  const cuda::Stream own = cuda::getCurrentCUDAStream(), side = cuda::getStreamFromPool();
  {
    const cuda::StreamGuard guard(side);
    run_in_thread([&] {
      const cuda::Stream mine = cuda::getCurrentCUDAStream();
      CHECK_THROWS_WITH_AS(cuda::setCurrentCUDAStream(side),
                           doctest::Contains("that no other thread has made current"),
                           BackendError);
      CHECK_THROWS_WITH_AS(cuda::StreamGuard{own},
                           doctest::Contains("got another thread's own of cuda:0"), BackendError);
      CHECK_THROWS_AS(cuda::record_stream(ones({3}, gpu()), side), BackendError);
      CHECK(cuda::getCurrentCUDAStream() == mine);
      CHECK(ones({3}, gpu()).sum().item<float>() == 3);
    });
  }
  // A thread that ends releases the streams it has set; later threads are ordered after its work.
  Tensor x;
  run_in_thread([&] {
    cuda::setCurrentCUDAStream(side);
    x = ones({1000}, gpu());
    for (int i = 0; i < 10; ++i) x.add_(1);
  });
  const cuda::StreamGuard guard(side);
  CHECK((x + 1).sum().item<float>() == 12000);
}

TEST_CASE(
    "gpu: an invalid index on a stream of the pool is reported to the thread that launched the "
    "kernel") {
  if (!has_gpu()) return;
  const Tensor x = ones({4, 3}, gpu()), bad = tensor({1, 7}).to(gpu());
  const cuda::Stream side = cuda::getStreamFromPool();
  {
    const cuda::StreamGuard guard(side);
    x.index_select(0, bad);
  }
  run_in_thread([&] { CHECK_NOTHROW(x.sum().item<float>()); });
  CHECK_THROWS_AS(side.synchronize(), IndexError);
  CHECK_NOTHROW(side.synchronize());
  // After the thread has ended, the next thread that waits gets the error, even if its own stream
  // belongs to another thread.
  for (int round = 0; round < 10; ++round) {
    run_in_thread([&] {
      const cuda::StreamGuard guard(side);
      x.index_select(0, bad);
    });
    std::promise<void> has_stream, is_reported;
    std::thread next([&] {
      CHECK_NOTHROW(x + 1);
      has_stream.set_value();
      is_reported.get_future().wait();
    });
    has_stream.get_future().wait();
    CHECK_THROWS_AS(synchronize(gpu()), IndexError);
    CHECK_NOTHROW(synchronize(gpu()));
    is_reported.set_value();
    next.join();
  }
}

TEST_CASE("gpu: each GPU has a current stream of its own") {
  if (!has_gpu() || device_count("cuda") < 2) return;
  const cuda::Stream first = cuda::getStreamFromPool(false, 0),
                     second = cuda::getStreamFromPool(false, 1);
  const cuda::StreamGuard on_first(first), on_second(second);
  CHECK(cuda::getCurrentCUDAStream(0) == first);
  CHECK(cuda::getCurrentCUDAStream(1) == second);
  const Tensor x = ones({1000}, Device("cuda:0")),
               y = x.to(Device("cuda:1")) + x.to(Device("cuda:1"));
  CHECK(y.to(Device("cuda:0")).sum().item<float>() == 2000);
  cuda::Event event;
  event.record(first);
  CHECK_THROWS_AS(event.record(second), BackendError);
  second.wait(event);
  second.synchronize();
}
