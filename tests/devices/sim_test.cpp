// Simulated devices: their queue is late but in order, memory of queued work is safe, copies go to
// and from all devices, and two of them named cuda show the documented error without a GPU.
#include <ambit/ambit.h>
#include <ambit/backend/backend.h>
#include <ambit/backend/kernels.h>
#include <ambit/backend/registry.h>
#include <ambit/sim.h>
#include <doctest/doctest.h>

#include <memory>
#include <sstream>
#include <thread>
#include <vector>

using namespace ambit;

namespace {

// Not a constant, because main() determines the simulated devices.
Device sim0() { return Device("sim:0"); }

// A view of a float tensor's memory, without a wait for the device.
const float* peek(const Tensor& t) {
  return static_cast<const float*>(sim::controls().device_view(t.device(), t.data_ptr()));
}

}  // namespace

TEST_CASE("sim runs work only when a thread waits") {
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

TEST_CASE("sim runs work in order, and at once when the queue exceeds its limit") {
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

TEST_CASE("the source of a copy to sim may change and be destroyed at once") {
  for (const bool non_blocking : {false, true}) {
    Tensor host = full({1000}, 3);
    const Tensor t = host.to(sim0(), non_blocking);
    host.fill_(4);
    host = full({1000}, 5);
    CHECK(t.cpu().equal(full({1000}, 3)));
  }
}

TEST_CASE("a copy from sim to ordinary memory is complete when it returns") {
  const Tensor host = zeros({1000});
  const auto* first = host.data_ptr<float>();
  host.copy_(full({1000}, 3, sim0()), /*non_blocking=*/true);
  CHECK(*first == 3);
}

TEST_CASE("non-blocking copies of pinned memory are late in both directions") {
  const Tensor host = zeros({4}).pin_memory(sim0()), t = zeros({4}, sim0());
  host.fill_(1);
  t.copy_(host, /*non_blocking=*/true);
  host.fill_(2);  // without synchronize() the copy would get this value
  CHECK(t.cpu().equal(full({4}, 2)));

  const auto* first = host.data_ptr<float>();
  t.fill_(3);
  host.copy_(t, /*non_blocking=*/true);
  CHECK(*first == 2);  // reading through an earlier address does not wait for the copy
  CHECK(host.equal(full({4}, 3)));

  host.copy_(t * 2);
  CHECK(*first == 6);
}

TEST_CASE("any access to the result of a non-blocking copy waits for it") {
  const auto copied = [](float value) {
    const Tensor host = full({4}, value, sim0()).to(kCPU, /*non_blocking=*/true);
    CHECK(sim::controls().queued(sim0()) > 0);
    return host;
  };
  CHECK(copied(1).is_pinned(sim0()));
  CHECK(copied(2).data_ptr<float>()[3] == 2);
  CHECK(copied(3)[3].item<float>() == 3);
  CHECK(copied(4).view({2, 2}).select(1, 1).equal(full({2}, 4)));
  CHECK((copied(5) + 1).equal(full({4}, 6)));
  CHECK(copied(6).to(kFloat64).equal(full({4}, 6, kFloat64)));
  CHECK(copied(7).to(sim0()).cpu().equal(full({4}, 7)));
  Tensor written = copied(8);
  written[1].fill_(9);  // otherwise the copy would run later
  CHECK(written.equal(tensor({8., 9., 8., 8.})));
  std::ostringstream text;
  text << copied(10);
  CHECK(text.str().find("10") != std::string::npos);
  copied(11).reset();
  CHECK(copied(12).equal(full({4}, 12)));
}

TEST_CASE("an error before a non-blocking copy is thrown by an access to its result") {
  sim::controls().fail_kernel(sim0(), "fill", 1);
  const Tensor host = full({4}, 1, sim0()).to(kCPU, /*non_blocking=*/true);
  CHECK_THROWS_AS(host.data_ptr(), BackendError);
  CHECK_NOTHROW(host.data_ptr());
}

TEST_CASE("all threads that access the result of one copy wait for it") {
  for (int i = 0; i < 50; ++i) {
    const Tensor host = full({1000}, static_cast<float>(i), sim0()).to(kCPU, /*non_blocking=*/true);
    std::vector<std::thread> readers;
    std::vector<float> last(4);
    for (float& value : last) {
      readers.emplace_back([&value, host] { value = host.data_ptr<float>()[999]; });
    }
    for (std::thread& reader : readers) reader.join();
    CHECK(last == std::vector<float>(4, static_cast<float>(i)));
  }
}

TEST_CASE("pinned memory may be freed while a copy from it is queued") {
  const Tensor t = zeros({1000}, sim0());
  {
    const Tensor host = ones({1000}).pin_memory(sim0());
    t.copy_(host, /*non_blocking=*/true);
  }
  CHECK(t.cpu().equal(ones({1000})));
}

TEST_CASE("sim memory that is freed while queued work uses it is reused only by later work") {
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
  SUBCASE("returned to the system") {
    backend_of(sim0()).empty_cache(0);
    CHECK(backend_of(sim0()).memory_stats(0).cached == 0);
    CHECK(y.cpu().equal(full({1000}, 6)));
  }
}

TEST_CASE("sim frees every byte") {
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

TEST_CASE("sim has its own kernel for every op") {
  for (const OpBase* op : all_ops()) {
    INFO(std::string(op->name()));
    CHECK(op->has_kernel(sim0().kind()));
  }
}

TEST_CASE("copies go from every device to every other") {
  const Tensor numbers = arange(12).view({3, 4});
  for (const Device from : all_devices()) {
    for (const Device to : all_devices()) {
      INFO(from.str(), " to ", to.str());
      const Tensor there = numbers.to(from);
      const Tensor copy = there.to(to);
      there.fill_(0);  // queued on the source only: the copy must read it before
      CHECK(copy.device() == to);
      CHECK(copy.cpu().equal(numbers));
      CHECK(numbers.to(from).t().to(to).cpu().equal(numbers.t()));
    }
  }
}

TEST_CASE("two devices named cuda show the mismatch error, word for word") {
  // Two real devices named cuda give the same error.
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
