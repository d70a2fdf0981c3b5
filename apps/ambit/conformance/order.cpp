// Ordering and implicit synchronisation: work may run asynchronously, but results that the host
// reads are those of program order, and errors are thrown by then.
#include <ambit/backend/kernels.h>
#include <ambit/backend/registry.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/index.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include <thread>

#include "cases.h"
#include "expect.h"

using namespace ambit;

namespace conformance {
namespace {

// The results are integers below 2^24, which are exact in float32.
void check_chain(Device device) {
  for (const int64_t n : {1 << 20, 1000, 1}) {  // the longest work first
    const Tensor x = zeros({n}, device);
    const int steps = n > 1000 ? 30 : 500;
    for (int i = 0; i < steps; ++i) {
      x.add_(i);
      x.mul_(-1);
    }
    double want = 0;
    for (int i = 0; i < steps; ++i) want = -(want + i);
    expect_same(fmt::format("{} dependent kernels in place on {} floats", 2 * steps, n), x,
                full({n}, want));
  }
}

void check_chain_of_new(Device device) {
  Tensor x = zeros({1000}, device);
  for (int i = 0; i < 500; ++i) x = (x + 1).t();
  expect_same("500 dependent kernels, each into a new tensor", x, full({1000}, 500.));
}

void check_write_after_read(Device device) {
  for (int i = 0; i < 20; ++i) {
    const Tensor x = full({1 << 18}, i, device), y = x + 1;
    x.fill_(-7);
    expect_same("a result whose operand was overwritten right after", y, full({1 << 18}, i + 1));
    expect_same("that operand", x, full({1 << 18}, -7));
  }
}

// The copy from the host must run between the two kernels.
void check_copy_between_kernels(Device device) {
  const Tensor x = zeros({5000}, device);
  for (int i = 0; i < 20; ++i) {
    const Tensor host = full({5000}, static_cast<double>(i));
    if (i == 0) keep_busy(device);
    x.add_(1000);
    x.copy_(host);
    x.mul_(2);
    expect_same("add_(), copy_() from the host, mul_(2)", x, full({5000}, 2. * i));
  }
}

void check_host_buffer_reused(Device device) {
  std::vector<Tensor> copies;
  Tensor host = empty({5000});
  for (int i = 0; i < 20; ++i) {
    const Tensor t = zeros({5000}, device);
    if (i == 0) keep_busy(device);
    t.add_(1);
    host.fill_(i);
    t.copy_(host);
    host.fill_(-1);
    copies.push_back(t);
  }
  host.reset();
  for (size_t i = 0; i < copies.size(); ++i) {
    expect_same("a copy of host memory that was overwritten, then freed, after copy_()", copies[i],
                full({5000}, static_cast<double>(i)));
  }
}

// The host tensor is read directly, without explicit synchronisation.
void check_host_result(Device device) {
  const Tensor x = zeros({5000}, device), host = empty({5000});
  for (int i = 1; i <= 20; ++i) {
    if (i == 1) keep_busy(device);
    x.add_(1);
    host.fill_(-1);
    host.copy_(x);
    expect_same("host memory after copy_() from the device", host,
                full({5000}, static_cast<double>(i)));
  }
}

// Parameters are the caller's and are destroyed when the call returns.
void check_parameters(Device device) {
  const Tensor x = numbers({100}), there = x.to(device);
  std::vector<Tensor> got, want;
  for (int i = 0; i < 20; ++i) {
    const bool odd = i % 2 == 1;
    want.push_back(full({100}, i + 0.5));
    want.push_back(odd ? x.neg() : x.square());
    want.push_back(odd ? x + x : x * x);
    want.push_back(x.view({20, 5}).flip({odd ? 1 : 0}));
    got.push_back(empty({100}, device).fill_(i + 0.5));
    got.push_back(odd ? there.neg() : there.square());
    got.push_back(odd ? there + there : there * there);
    got.push_back(there.view({20, 5}).flip({odd ? 1 : 0}));
  }
  const char* calls[] = {"fill_()", "neg() or square()", "add() or mul()", "flip()"};
  for (size_t i = 0; i < got.size(); ++i) {
    expect_same(std::string("one of many calls with different parameters, ") + calls[i % 4], got[i],
                want[i]);
  }
}

void check_item(Device device) {
  const Tensor x = zeros({5000}, device);
  for (int i = 1; i <= 100; ++i) {
    x.add_(1);
    const auto got = x[4999].item<int64_t>();
    expect(got == i, fmt::format("item() after {} add_(1): expected {}, got {}", i, i, got));
  }
}

void check_two_threads(Device device) {
  const Tensor shared = numbers({3000}).to(device);
  std::vector<Tensor> sums(2);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < sums.size(); ++i) {
    threads.emplace_back([&, i] {
      sums[i] = zeros({3000}, device);
      for (int n = 0; n < 200; ++n) sums[i] = sums[i] + shared * static_cast<int64_t>(i + 1);
    });
  }
  for (std::thread& t : threads) t.join();
  // The sums are at most 200 * 2 * 101, which is exact in float32.
  expect_same("work queued by the first of two threads", sums[0], numbers({3000}) * 200);
  expect_same("work queued by the second of two threads", sums[1], numbers({3000}) * 400);
}

void check_two_devices(Device device) {
  const Device other = other_index(device);
  Tensor x = zeros({5000}, device);
  for (int i = 0; i < 20; ++i) {
    if (i == 0) keep_busy(device);
    const Tensor there = (x + 1).to(other);
    x.fill_(-1);
    x = (there * 2).to(device);
    there.fill_(-1);
  }
  expect_same("20 times: (x + 1) on this device, * 2 on the other", x, full({5000}, 2097150.));
}

// Ways for the host to wait.
struct Wait {
  const char* name;
  void (*wait)(Device device, const Tensor& unrelated);
};
constexpr Wait kWaits[] = {
    {"synchronize()", [](Device d, const Tensor&) { synchronize(d); }},
    {"item()", [](Device, const Tensor& t) { t[0].item(); }},
    {"a copy to the host", [](Device, const Tensor& t) { t.cpu(); }},
};

// Invalid data that the host cannot see beforehand: the next wait throws an error, once, and the
// device remains usable. The message names `op`, however late it is thrown.
template <class E>
void expect_late_error(Device device, const std::string& what, const char* error,
                       const std::string& op, const std::function<void()>& mistake) {
  const Tensor unrelated = numbers({10}).to(device);
  for (const Wait& wait : kWaits) {
    const std::string text =
        expect_throws<E>(fmt::format("{}, then {}", what, wait.name), error, [&] {
          mistake();
          wait.wait(device, unrelated);
        });
    expect(text.find(op) != std::string::npos,
           fmt::format("{}: expected a text that names {}, got \"{}\"", what, op, text));
    synchronize(device);
    expect_same("a kernel after " + what, unrelated + 1, numbers({10}) + 1);
  }
}

void check_bad_index(Device device, const OpBase& op,
                     void (*call)(const Tensor& x, const Tensor& index)) {
  // In a composite, another op detects the error.
  const std::string named = op.has_kernel(device.kind()) ? op.name() : "";
  for (const int64_t bad : {int64_t{5}, int64_t{-1}, int64_t{1} << 40}) {
    const Tensor x = numbers({5}).to(device), index = tensor({0, 2, 4}, device);
    index[1].fill_(bad);
    expect_late_error<IndexError>(device,
                                  fmt::format("{} with index {} of 5 elements", op.name(), bad),
                                  "IndexError", named, [&] { call(x, index); });
  }
}

void check_division_by_zero(Device device) {
  const Tensor x = arange(1, 6, 1, TensorOptions(kInt32).device(device)), y = x.clone();
  y[2].fill_(0);
  expect_late_error<Error>(device, "an integer divided by zero", "an Error", "floor_divide",
                           [&] { x.floor_divide(y); });
}

}  // namespace

void add_order_cases(Cases& cases) {
  const auto add = [&](const char* name, std::function<void(Device)> check) {
    cases.push_back({std::string("order/") + name, "", std::move(check)});
  };
  add("chain", check_chain);
  add("chain_of_new_tensors", check_chain_of_new);
  add("write_after_read", check_write_after_read);
  add("copy_between_kernels", check_copy_between_kernels);
  add("host_buffer_reused", check_host_buffer_reused);
  add("host_result", check_host_result);
  add("parameters", check_parameters);
  add("item", check_item);
  add("two_threads", check_two_threads);
  add("two_devices", check_two_devices);
  const auto add_index = [&](const OpBase& op, void (*call)(const Tensor&, const Tensor&)) {
    cases.push_back({std::string("order/bad_index/") + op.name(), op.name(),
                     [call, &op](Device device) { check_bad_index(device, op, call); }});
  };
  add_index(kernels::gather, [](const Tensor& x, const Tensor& index) { x.gather(0, index); });
  add_index(kernels::scatter,
            [](const Tensor& x, const Tensor& index) { x.scatter_(0, index, zeros_like(x)); });
  add_index(kernels::scatter_add,
            [](const Tensor& x, const Tensor& index) { x.scatter_add_(0, index, zeros_like(x)); });
  add_index(kernels::index_select,
            [](const Tensor& x, const Tensor& index) { x.index_select(0, index); });
  add("division_by_zero", check_division_by_zero);
}

}  // namespace conformance
