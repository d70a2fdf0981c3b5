// Calls of a missing kernel: an error, or the CPU's kernel, which is counted and reported.
#include <ambit/ambit.h>
#include <ambit/backend/kernels.h>
#include <ambit/backend/plugin.h>
#include <ambit/fallback.h>
#include <doctest/doctest.h>
#include <unistd.h>

#include <functional>
#include <memory>
#include <thread>

#include "child.h"
#include "toy.h"

using namespace ambit;

namespace {

// `bare` has memory but no kernel; `partial` has kernels for copies, printing and addition.
void register_devices() {
  static const bool once = [] {
    Registry registry("fallback_test");
    registry.add_backend(std::make_unique<toy::ToyBackend>("bare", 1));
    registry.add_backend(std::make_unique<toy::ToyBackend>("partial", 1));
    toy::borrow<kernels::copy, kernels::fill, kernels::reduce>(registry);
    registry.commit();
    return true;
  }();
  static_cast<void>(once);
}

struct Policy {
  explicit Policy(Fallback policy) : before(get_fallback()) {
    register_devices();
    set_fallback(policy);
  }
  ~Policy() { set_fallback(before); }
  const Fallback before;
};

struct Cost {  // of calls that fell back
  size_t calls = 0, bytes = 0;
  bool operator==(const Cost&) const = default;
};

Cost total(const OpBase& op, Device device) {
  for (const FallbackCount& c : fallback_counts()) {
    if (c.op == op.name() && c.device == device) return {c.calls, c.bytes};
  }
  return {};
}

Cost cost(const OpBase& op, Device device, const std::function<void()>& work) {
  const Cost before = total(op, device);
  work();
  const Cost after = total(op, device);
  return {after.calls - before.calls, after.bytes - before.bytes};
}

}  // namespace

TEST_CASE("by default a missing kernel is an error, and nothing is counted") {
  CHECK(check_child("child: the default policy") == "");
}
TEST_CASE("child: the default policy" * doctest::skip()) {
  register_devices();
  CHECK(get_fallback() == Fallback::error);
  const Tensor x = ones({1, 1, 3, 3}, "partial"), w = ones({1, 1, 2, 2}, "partial");
  CHECK_THROWS_WITH_AS(
      conv2d(x, w),
      "convolution: expected a kernel for device partial:0, got none; it runs on cpu, reference",
      NotImplementedError);
  const Tensor y = full({2}, 3.0, "partial");
  CHECK_THROWS_AS(y.add_(y), NotImplementedError);
  CHECK(y.cpu().equal(full({2}, 3.0)));
  CHECK(fallback_counts().empty());
}

TEST_CASE("a convolution and its gradients fall back with the CPU's results") {
  const Policy policy(Fallback::cpu);
  // Small whole numbers: every sum is exact, in any order.
  const Tensor x = arange(2 * 2 * 4 * 4, TensorOptions(kFloat32)).remainder(5).view({2, 2, 4, 4});
  const Tensor w = arange(3 * 2 * 2 * 2, TensorOptions(kFloat32)).remainder(3).view({3, 2, 2, 2});
  const auto run = [&](Device device) {
    Tensor xd = x.to(device).detach().requires_grad_();
    Tensor wd = w.to(device).detach().requires_grad_();
    const Tensor y = conv2d(xd, wd, {}, {.stride = {2, 2}, .padding = {1, 1}});
    (y * y).sum().backward();
    CHECK(y.device() == device);
    CHECK(xd.grad().device() == device);
    return std::array{y.detach().cpu(), xd.grad().cpu(), wd.grad().cpu()};
  };
  const auto expected = run(kCPU);
  for (const std::string device : {"partial", "bare"}) {
    INFO(device);
    const auto got = run(device);
    for (size_t i = 0; i < got.size(); ++i) CHECK(got[i].equal(expected[i]));
  }
}

TEST_CASE("calls and bytes are counted exactly: outputs both ways, inputs one way") {
  const Policy policy(Fallback::cpu);
  const Device device("partial");
  const Tensor x = ones({1, 1, 3, 3}, device), w = ones({1, 1, 2, 2}, device);
  // 4-byte floats: x 36, w 16, y 2 x 16; no bias, so no bytes for it.
  CHECK(cost(kernels::convolution, device, [&] { conv2d(x, w); }) == Cost{1, 84});
  CHECK(cost(kernels::convolution, device, [&] {
          for (int i = 0; i < 3; ++i) conv2d(x, w, ones({1}, device));
        }) == Cost{3, 3 * (84 + 4)});
  // y 2 x 16, a 16, b 16; in place a is y.
  const Tensor a = ones({4}, device), b = full({4}, 2.0, device);
  CHECK(cost(kernels::binary, device, [&] { a + b; }) == Cost{1, 64});
  CHECK(cost(kernels::binary, device, [&] { a.add_(b); }) == Cost{1, 64});
  // Two outputs: values 2 x 4 x 4, indices 2 x 4 x 4, input 9 x 4. The first call requests only one
  // of them.
  const PoolParams pool{.kernel = {2, 2}, .stride = {1, 1}};
  CHECK(cost(kernels::max_pool, device, [&] { max_pool2d(x, pool); }) == Cost{1, 32 + 36});
  CHECK(cost(kernels::max_pool, device, [&] { max_pool2d_with_indices(x, pool); }) ==
        Cost{1, 32 + 32 + 36});
  // Calls with a kernel, and calls that fail, are not counted.
  CHECK(cost(kernels::reduce, device, [&] { x.sum(); }) == Cost{0, 0});
  CHECK(cost(kernels::gather, device, [&] {
          CHECK_THROWS_AS(gather(a, 0, full({1}, 9, TensorOptions(kInt64).device(device))),
                          IndexError);
        }) == Cost{0, 0});
}

TEST_CASE("outputs are written back: in place, through views, several, and in part") {
  const Policy policy(Fallback::cpu);
  for (const std::string name : {"partial", "bare"}) {
    INFO(name);
    const Device device(name);
    const Tensor m = arange(12, TensorOptions(kFloat32).device(device)).view({3, 4});
    const Tensor on_cpu = m.cpu();
    for (const Tensor& t : {m, on_cpu}) {
      t.t().narrow(0, 1, 2).mul_(10);
      t.select(1, 0).copy_(t.select(1, 3));
      t.narrow(1, 3, 1).fill_(-1);
      t.relu_();
    }
    CHECK(m.cpu().equal(on_cpu));

    const Tensor index = tensor({{1, 0, 1, 0}}, device);
    m.scatter_(0, index, full({1, 4}, 7.0, device));
    on_cpu.scatter_(0, index.cpu(), full({1, 4}, 7.0));
    CHECK(m.cpu().equal(on_cpu));

    const auto [values, indices] = max(m, 1);
    const auto [cpu_values, cpu_indices] = max(on_cpu, 1);
    CHECK(values.cpu().equal(cpu_values));
    CHECK(indices.cpu().equal(cpu_indices));

    // The caller of the kernel increments versions: as many as on the CPU.
    CHECK(m._version() == on_cpu._version());
    CHECK(values._version() == 0);
    CHECK(linalg_cholesky(eye(3, device))._version() == 0);

    manual_seed(5);
    const Tensor drawn = rand({7}, device);
    manual_seed(5);
    CHECK(drawn.cpu().equal(rand({7})));
  }
}

TEST_CASE("a device with only memory, without a copy kernel, runs everything by fallback") {
  const Policy policy(Fallback::cpu);
  const Device device("bare");
  const Tensor x = arange(24, TensorOptions(kFloat32)).view({2, 3, 4});
  const Tensor there = x.to(device);
  CHECK(there.transpose(0, 2).contiguous().cpu().equal(x.transpose(0, 2)));
  CHECK(there.transpose(0, 2).cpu().equal(x.transpose(0, 2)));
  CHECK(there.to(kInt64).cpu().equal(x.to(kInt64)));
  CHECK(there.narrow(2, 1, 2).expand({2, 3, 2}).clone().cpu().equal(x.narrow(2, 1, 2)));
  CHECK(there.select(1, 0).unsqueeze(0).expand({5, 2, 4}).clone().cpu().equal(
      x.select(1, 0).unsqueeze(0).expand({5, 2, 4})));
  CHECK(empty({0, 3}, device).t().clone().cpu().numel() == 0);
  // y [2,3] 2 x 24 bytes; x is every second column of [2,6]: its extent is 11 floats.
  const Tensor wide = arange(12, TensorOptions(kFloat32)).view({2, 3, 2}).to(device);
  CHECK(cost(kernels::copy, device, [&] { wide.select(2, 0).clone(); }) == Cost{1, 48 + 44});
  CHECK(cost(kernels::copy, device, [&] { wide.select(2, 1).cpu(); }) == Cost{1, 48 + 44});
  // The gaps of a destination do not change.
  wide.select(2, 1).copy_(zeros({2, 3}, device));
  CHECK(wide.cpu().flatten().equal(
      tensor({0.f, 0.f, 2.f, 0.f, 4.f, 0.f, 6.f, 0.f, 8.f, 0.f, 10.f, 0.f})));
}

TEST_CASE("a training step on a device with only memory equals that on the CPU") {
  const Policy policy(Fallback::cpu);
  const auto train = [](Device device) {
    manual_seed(3);
    nn::Linear layer(3, 2);
    layer->to(device);
    optim::SGD optimizer(layer->parameters(), optim::SGDOptions(0.5).momentum(0.9));
    const Tensor x = arange(12, TensorOptions(kFloat32)).view({4, 3}).to(device);
    const Tensor target = tensor({0, 1, 1, 0}, device);
    Tensor loss;
    for (int step = 0; step < 2; ++step) {
      optimizer.zero_grad();
      loss = cross_entropy(layer(x), target);
      loss.backward();
      optimizer.step();
    }
    return std::pair{loss.cpu(), layer->weight.detach().cpu()};
  };
  const auto [loss, weight] = train("bare");
  const auto [cpu_loss, cpu_weight] = train(kCPU);
  // Composites (linear, softmax) round differently from the CPU's own kernels: 2 steps of sums of
  // at most 12 terms up to 11, each within 2^-24 of its magnitude: 2 * 12 * 11 * 6e-8 < 2e-5.
  CHECK(allclose(loss, cpu_loss, 0, 2e-5));
  CHECK(allclose(weight, cpu_weight, 0, 2e-5));
}

TEST_CASE("concurrent fallbacks are all counted") {
  const Policy policy(Fallback::cpu);
  const Device device("partial");
  const Cost sum = cost(kernels::unary, device, [&] {
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t) {
      threads.emplace_back([&] {
        const Tensor x = ones({2}, device);
        for (int i = 0; i < 20; ++i) x.neg();
      });
    }
    for (std::thread& t : threads) t.join();
  });
  CHECK(sum == Cost{60, 60 * 3 * 8});
}

TEST_CASE("warn reports each op and device once, cpu only at exit") {
  const std::string summary =
      "ambit: ops that ran on the CPU, because their device has no kernel:\n"
      "  unary for bare:0: 1 call, 24 bytes copied\n"
      "  unary for partial:0: 3 calls, 72 bytes copied\n";
  CHECK(check_child("child: three calls and one", {{"AMBIT_FALLBACK", "warn"}}) ==
        "ambit: unary has no kernel for partial:0 and runs on the CPU\n"
        "ambit: unary has no kernel for bare:0 and runs on the CPU\n" +
            summary);
  CHECK(check_child("child: three calls and one", {{"AMBIT_FALLBACK", "cpu"}}) == summary);
}
TEST_CASE("child: three calls and one" * doctest::skip()) {
  register_devices();
  const Tensor x = tensor({1.f, 2.f}).to("partial"), y = x.cpu().to("bare");
  for (int i = 0; i < 3; ++i) CHECK(x.neg().cpu().equal(tensor({-1.f, -2.f})));
  CHECK(y.neg().cpu().equal(tensor({-1.f, -2.f})));
}

TEST_CASE("a warning or a summary that cannot be written does no harm") {
  check_child("child: stderr is closed", {{"AMBIT_FALLBACK", "warn"}});
}
TEST_CASE("child: stderr is closed" * doctest::skip()) {
  register_devices();
  ::close(STDERR_FILENO);
  CHECK(ones({2}, "partial").neg().cpu().equal(full({2}, -1.0)));
}

TEST_CASE("nothing is printed at exit if nothing fell back") {
  CHECK(check_child("child: work that needs no fallback", {{"AMBIT_FALLBACK", "warn"}}) == "");
}
TEST_CASE("child: work that needs no fallback" * doctest::skip()) {
  register_devices();
  CHECK(get_fallback() == Fallback::warn);
  CHECK(ones({2, 2}, "partial").sum().item<float>() == 4);
  CHECK((ones({2}, "reference") + 1).cpu().equal(full({2}, 2.0)));
}

TEST_CASE("AMBIT_FALLBACK sets the initial policy, and empty means error") {
  check_child("child: the policy is error", {{"AMBIT_FALLBACK", ""}});
  check_child("child: the policy is error", {{"AMBIT_FALLBACK", "error"}});
}
TEST_CASE("child: the policy is error" * doctest::skip()) {
  CHECK(get_fallback() == Fallback::error);
  set_fallback(Fallback::cpu);
  CHECK(get_fallback() == Fallback::cpu);
}

TEST_CASE("an invalid AMBIT_FALLBACK is an error on its first use, not before") {
  check_child("child: a bad policy", {{"AMBIT_FALLBACK", "CPU"}});
}
TEST_CASE("child: a bad policy" * doctest::skip()) {
  register_devices();
  const Tensor x = ones({2}, "partial");
  CHECK(x.sum().item<float>() == 2);
  const char* const text = "AMBIT_FALLBACK: expected error, warn or cpu, got \"CPU\"";
  CHECK_THROWS_WITH_AS(x.neg(), text, Error);
  CHECK_THROWS_WITH_AS(get_fallback(), text, Error);
  CHECK_THROWS_WITH_AS(set_fallback(Fallback::cpu), text, Error);
}

TEST_CASE("explain says whose kernel would run, or which alternative, or why none") {
  const Policy policy(Fallback::error);
  CHECK(explain(kernels::convolution, kCPU) == "convolution on cpu: kernel of libambit");
  CHECK(explain(kernels::convolution, "reference") ==
        "convolution on reference:0: kernel of libambit");
  CHECK(explain(kernels::fill, "partial") == "fill on partial:0: kernel of fallback_test");
  CHECK(explain(kernels::linear, "partial") ==
        "linear on partial:0: composite of other ops, on the device");
  CHECK(explain(kernels::qr, "partial") ==
        "qr on partial:0: composite: the CPU's kernel, on copies");
  CHECK(explain(kernels::convolution, kMeta) ==
        "convolution on meta: nothing runs, only shapes are computed");
  CHECK(explain(kernels::convolution, "partial") ==
        "convolution on partial:0: none: fallback_test has no kernel, there is no composite, and "
        "falling back to the CPU is off (AMBIT_FALLBACK)");
  for (const Fallback on : {Fallback::warn, Fallback::cpu}) {
    set_fallback(on);
    CHECK(explain(kernels::convolution, "partial") ==
          "convolution on partial:0: the CPU's kernel, by fallback, with copies");
  }
}
