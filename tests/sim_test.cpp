// Simulated devices: their queue is late but in order, memory freed in flight is safe, copies go
// everywhere, and two of them posing as cuda show the documents' error without a GPU.
#include <ambit/ambit.h>
#include <ambit/backend.h>
#include <ambit/kernels.h>
#include <ambit/registry.h>
#include <ambit/sim.h>
#include <doctest/doctest.h>

#include <memory>
#include <thread>
#include <vector>

using namespace ambit;

namespace {

// Not a constant: main() says first which devices are simulated.
Device sim0() { return Device("sim:0"); }

// A view of a float tensor's memory that does not wait for the device.
const float* peek(const Tensor& t) {
  return static_cast<const float*>(sim::controls().device_view(t.device(), t.data_ptr()));
}

// A float tensor in pinned memory of sim.
Tensor pinned(IntArrayRef sizes) {
  const size_t bytes = empty(sizes, kMeta).nbytes();
  Backend& backend = backend_of(sim0());
  return from_blob(backend.allocate_pinned(bytes), sizes, kFloat32,
                   [&backend, bytes](void* p) { backend.free_pinned(p, bytes); });
}

}  // namespace

TEST_CASE("sim works only when somebody waits") {
  const Tensor t = zeros({3}, sim0());
  synchronize(sim0());
  t.fill_(5);
  t.neg_();
  CHECK(sim::controls().queued(sim0()) == 2);
  CHECK(peek(t)[2] == 0);
  SUBCASE("synchronize") { synchronize(sim0()); }
  SUBCASE("item") { CHECK(t[0].item<float>() == -5); }
  SUBCASE("a copy to the cpu") { CHECK(t.cpu()[1].item<float>() == -5); }
  CHECK(peek(t)[2] == -5);
  CHECK(sim::controls().queued(sim0()) == 0);
}

TEST_CASE("sim works in order, and by itself once more work waits than its queue may hold") {
  const Tensor t = zeros({100}, sim0());
  for (int i = 0; i < 200; ++i) {
    t.add_(1);
    t.mul_(-1);
    CHECK(sim::controls().queued(sim0()) <= 64);
  }
  // Each round maps x to -(x + 1): 0, -1, 0, ...
  CHECK(t.cpu().equal(zeros({100})));

  sim::controls().set_queue_limit(sim0(), 0);
  t.fill_(7);
  CHECK(peek(t)[99] == 7);
  sim::controls().reset(sim0());
}

TEST_CASE("the source of a copy to sim may change and go away at once") {
  for (const bool non_blocking : {false, true}) {
    Tensor host = full({1000}, 3);
    const Tensor t = host.to(sim0(), non_blocking);
    host.fill_(4);
    host = full({1000}, 5);
    CHECK(t.cpu().equal(full({1000}, 3)));
  }
}

TEST_CASE("a copy from sim to plain memory is complete when it returns") {
  const Tensor t = full({1000}, 3, sim0());
  CHECK(t.to(kCPU, /*non_blocking=*/true).equal(full({1000}, 3)));
}

TEST_CASE("copies of pinned memory that need not block are late in both directions") {
  const Tensor host = pinned({4}), t = zeros({4}, sim0());
  host.fill_(1);
  t.copy_(host, /*non_blocking=*/true);
  host.fill_(2);  // wrong without synchronize, and here it shows
  CHECK(t.cpu().equal(full({4}, 2)));

  t.fill_(3);
  host.copy_(t, /*non_blocking=*/true);
  CHECK(host.equal(full({4}, 2)));  // too early
  synchronize(sim0());
  CHECK(host.equal(full({4}, 3)));

  host.copy_(t);
  CHECK(host.equal(full({4}, 3)));
}

TEST_CASE("pinned memory may be freed while a copy from it is queued") {
  const Tensor t = zeros({1000}, sim0());
  {
    const Tensor host = pinned({1000});
    host.fill_(1);
    t.copy_(host, /*non_blocking=*/true);
  }
  CHECK(t.cpu().equal(ones({1000})));
}

TEST_CASE("sim memory freed while queued work uses it serves only later work") {
  Tensor x = full({1000}, 3, sim0());
  const Tensor y = x * 2;
  const void* block = x.data_ptr();
  x.reset();
  SUBCASE("from the cache") {
    const Tensor z = full({1000}, 7, sim0());
    CHECK(z.data_ptr() == block);
    CHECK(y.cpu().equal(full({1000}, 6)));
    CHECK(z.cpu().equal(full({1000}, 7)));
  }
  SUBCASE("given back to the system") {
    backend_of(sim0()).empty_cache(0);
    CHECK(backend_of(sim0()).memory_stats(0).cached == 0);
    CHECK(y.cpu().equal(full({1000}, 6)));
  }
}

TEST_CASE("sim takes back every byte") {
  const size_t before = backend_of(sim0()).memory_stats(0).in_use;
  {
    const Tensor x = randn({20, 30}, sim0()).requires_grad_();
    x.matmul(x.t()).sum().backward();
    CHECK(backend_of(sim0()).memory_stats(0).in_use > before);
  }
  CHECK(backend_of(sim0()).memory_stats(0).in_use == before);
}

TEST_CASE("two threads share a simulated device") {
  std::vector<std::thread> threads;
  std::vector<float> sums(2);
  for (size_t i = 0; i < sums.size(); ++i) {
    threads.emplace_back([&sums, i] {
      Tensor t = zeros({50}, sim0());
      for (int n = 0; n < 100; ++n) t = t + static_cast<int64_t>(i + 1);
      sums[i] = t.sum().item<float>();
    });
  }
  for (std::thread& t : threads) t.join();
  CHECK(sums == std::vector<float>{5000, 10000});
}

TEST_CASE("sim has a kernel of its own for every op") {
  for (const OpBase* op : all_ops()) {
    INFO(op->name());
    CHECK(op->has_kernel(sim0().kind()));
  }
}

TEST_CASE("copies reach every device from every other") {
  const Tensor numbers = arange(12).view({3, 4});
  for (const Device from : all_devices()) {
    for (const Device to : all_devices()) {
      INFO(from.str(), " to ", to.str());
      const Tensor there = numbers.to(from);
      const Tensor copy = there.to(to);
      there.fill_(0);  // queued on the source only: the copy must have been read before
      CHECK(copy.device() == to);
      CHECK(copy.cpu().equal(numbers));
      CHECK(numbers.to(from).t().to(to).cpu().equal(numbers.t()));
    }
  }
}

TEST_CASE("two devices that pose as cuda show the mismatch error word for word") {
  // Real devices of that name say the same, where there are two.
  if (device_count("cuda") < 2) return;
  const Tensor input = ones({64, 3072}, Device("cuda:1")), weight = ones({512, 3072}, "cuda");
  try {
    matmul(input, weight.t());
    FAIL("expected DeviceMismatchError");
  } catch (const DeviceMismatchError& e) {
    CHECK(std::string(e.what()) == "expected device cuda:1 but got device cuda:0");
    CHECK(e.op() == "matmul");
    CHECK(e.argument() == "other");
  }
  CHECK_THROWS_WITH_AS(weight + ones({3072}), "expected device cuda:0 but got device cpu",
                       DeviceMismatchError);
  CHECK_THROWS_WITH_AS(ones({3072}) + weight, "expected device cpu but got device cuda:0",
                       DeviceMismatchError);
}
