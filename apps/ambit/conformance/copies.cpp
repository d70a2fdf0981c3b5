// Copies in all directions between the host, the device, another device of its kind and
// `reference`, with any layout, dtype, alignment and size.
#include <ambit/backend/registry.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include "cases.h"
#include "expect.h"

using namespace ambit;

namespace conformance {
namespace {

const Dims kSizes[] = {{}, {0}, {1}, {3}, {64}, {1001}, {3, 0, 2}, {2, 3, 5}, {17, 31}};

Device reference() { return Device("reference"); }

// Copy, even if x is on the device already.
Tensor copied_to(Device device, const Tensor& x) { return x.to(device, false, /*copy=*/true); }

void check_round_trip(Device device, DType dtype) {
  for (const Dims& sizes : kSizes) {
    const Tensor x = numbers(sizes, dtype);
    expect_same("host -> device -> host", copied_to(device, x), x);
  }
}

void check_within_device(Device device, DType dtype) {
  for (const Dims& sizes : kSizes) {
    const Tensor x = numbers(sizes, dtype), there = copied_to(device, x);
    expect_same("clone()", there.clone(), x);
    const Tensor y = zeros(sizes, there.options());
    y.copy_(there);
    there.zero_();
    expect_same("copy_() on the device, after which its source was zeroed", y, x);
  }
}

// `a` and `b` are two devices; the source is modified just before and just after the copy.
void check_between(Device a, Device b) {
  for (const Dims& sizes : kSizes) {
    const Tensor x = numbers(sizes), there = copied_to(a, x);
    if (x.numel() > 1000) keep_busy(a);
    there.mul_(2);
    const Tensor sent = copied_to(b, there);
    there.fill_(-1);
    const std::string what = fmt::format("{} -> {} of a kernel's result", a.str(), b.str());
    expect_same(what, sent, x * 2);
    expect_same(what + ", computed with", sent + 1, x * 2 + 1);
  }
  const Tensor x = numbers({6, 8});
  const Tensor y = zeros({4, 3}, b);
  y.t().copy_(x.to(a).slice(0, 0, 6, 2).slice(1, 1, 5));
  expect_same(fmt::format("a strided copy {} -> {}", a.str(), b.str()), y.t(),
              x.slice(0, 0, 6, 2).slice(1, 1, 5));
}

// Work on another device index must run on that device.
void check_other_index(Device device) {
  const Device other = other_index(device);
  check_between(device, other);
  check_between(other, device);
}

void check_strided(Device device) {
  const Tensor x = numbers({5, 7}), there = x.to(device);
  expect_same("a transposed host tensor -> device", x.t().to(device), x.t());
  expect_same("every second column of a host tensor -> device", x.slice(1, 1, 7, 2).to(device),
              x.slice(1, 1, 7, 2));
  expect_same("a transposed device tensor -> host", there.t(), x.t());
  expect_same("every second column of a device tensor -> host", there.slice(1, 1, 7, 2),
              x.slice(1, 1, 7, 2));

  // The elements between those written must not change.
  const Tensor want = zeros({7, 9}), y = zeros({7, 9}, device), z = zeros({7, 9}, device);
  const auto part = [](const Tensor& t) { return t.slice(0, 1, 6).slice(1, 2, 9, 3); };
  part(want).copy_(numbers({5, 3}));
  part(y).copy_(numbers({5, 3}));
  expect_same("host -> a strided part of a device tensor", y, want);
  part(z).copy_(numbers({5, 3}).to(device));
  expect_same("device -> a strided part of a device tensor", z, want);
  const Tensor host = zeros({7, 9});
  part(host).copy_(numbers({5, 3}).to(device));
  expect_same("device -> a strided part of a host tensor", host, want);
}

void check_broadcast(Device device) {
  const Tensor row = numbers({5}), want = row.expand({3, 5});
  const Tensor y = zeros({3, 5}, device), z = zeros({3, 5}, device), host = zeros({3, 5});
  expect_same("copy_() of a host row to every row on the device", y.copy_(row), want);
  expect_same("copy_() of a device row to every row on the device", z.copy_(row.to(device)), want);
  expect_same("copy_() of a device row to every row on the host", host.copy_(row.to(device)), want);
}

// Values in the range of both dtypes, because other conversions are undefined in C++; fractions are
// truncated.
Tensor convertible(DType from, DType to) {
  const bool is_signed = from != kUInt8 && from != kBool && to != kUInt8 && to != kBool;
  const double sign = is_signed ? -1 : 1;
  if (is_floating_point(from)) return tensor({0., 0.5, 1., 1.75, sign * 2.25, 100.}, from);
  return tensor({0, 1, 2, 3, is_signed ? -2 : 2, 100}, from);
}

void check_conversion(Device device, DType from, DType to) {
  const Tensor x = convertible(from, to), want = x.to(reference()).to(to);
  expect_same("converted on the device", x.to(device).to(to), want);
  expect_same("converted from host to device", x.to(device, to), want);
  expect_same("converted from device to host", x.to(device).to(kCPU, to), want);
}

// Addresses aligned only to the element size, and odd lengths.
void check_unaligned(Device device, DType dtype) {
  constexpr int64_t kCount = 300;
  const Tensor host = numbers({kCount}, dtype), there = host.to(device);
  for (const int64_t length : {1, 7, 33, 250}) {
    for (const int64_t at : {0, 1, 3, 5, 8, 13}) {
      const auto part = [&](const Tensor& t) { return t.narrow(0, at, length); };
      const auto shifted = [&](const Tensor& t) { return t.narrow(0, at + 17, length); };
      const std::string what = fmt::format("{} elements from element {}", length, at);
      expect_same("device -> host of " + what, part(there), part(host));
      const Tensor want = zeros({kCount}, dtype), y = zeros({kCount}, there.options());
      part(want).copy_(shifted(host));
      expect_same("host -> device of " + what, (part(y).copy_(shifted(host)), y), want);
      y.zero_();
      expect_same("device -> device of " + what, (part(y).copy_(shifted(there)), y), want);
      expect_same("item() at an offset", part(there)[0], part(host)[0]);
      expect(part(there)[0].item<double>() == part(host)[0].item<double>(),
             "item() of element " + std::to_string(at) + " is another element's");
    }
  }
}

void check_large(Device device) {
  const Tensor x = numbers({(1 << 22) + 3});  // 16 MiB: larger than staging buffers
  const Tensor there = x.to(device);
  expect_same("host -> device -> host of 16 MiB", there, x);
  expect_same("a clone of 16 MiB", there.clone(), x);
}

void check_overlap(Device device) {
  const Tensor x = numbers({100}), there = copied_to(device, x);
  expect_throws<Error>("copy_() onto memory that overlaps its source", "an Error",
                       [&] { there.slice(0, 1).copy_(there.slice(0, 0, 99)); });
  expect_same("a tensor after a refused copy", there, x);
  there.slice(0, 0, 100, 2).copy_(there.slice(0, 1, 100, 2));
  x.slice(0, 0, 100, 2).copy_(x.slice(0, 1, 100, 2).clone());
  expect_same("copy_() of every second element onto its neighbour", there, x);
}

// Pinned host memory, which the device's backend copies asynchronously.
Tensor pinned(Device device, IntArrayRef sizes) {
  Backend& backend = backend_of(device);
  const size_t bytes = empty(sizes, kMeta).nbytes();
  void* p = backend.allocate_pinned(bytes);
  expect(p, fmt::format("allocate_pinned({}) returned null", bytes));
  return from_blob(p, sizes, kFloat32,
                   [&backend, bytes](void* memory) { backend.free_pinned(memory, bytes); });
}

void check_non_blocking(Device device, const Tensor& from, const Tensor& to) {
  // Read through an alias: reading `to` itself would wait for the copy, even if synchronize() does
  // not.
  const Tensor memory = from_blob(to.data_ptr(), {1000});
  const Tensor want = numbers({1000}) + 1;
  from.copy_(numbers({1000}));
  for (int i = 0; i < 20; ++i) {
    const Tensor there = zeros({1000}, device);
    if (i == 0) keep_busy(device);
    there.copy_(from, /*non_blocking=*/true);
    there.add_(1);  // ordered after the copy without a host wait
    to.zero_();
    to.copy_(there, /*non_blocking=*/true);
    synchronize(device);
    expect_same("a non_blocking copy in, a kernel, a non_blocking copy out, synchronize()", memory,
                want);
  }
}

// The host must wait for a copy to pinned memory when it reads the result, without an explicit
// synchronize().
void check_read_at_once(Device device) {
  const Tensor host = pinned(device, {1000}), tail = host.slice(0, 990);
  for (int i = 0; i < 20; ++i) {
    const double value = i + 1;
    const Tensor there = full({1000}, value, device);
    if (i == 0) keep_busy(device);
    host.copy_(there, /*non_blocking=*/true);
    there.fill_(-1);
    const Tensor moved = (there * 2).to(kCPU, /*non_blocking=*/true);
    if (i % 2 == 0)
      expect_same("a view of the result of a non_blocking copy", tail, full({10}, value));
    expect_same("the result of a non_blocking copy", host, full({1000}, value));
    expect_same("to(kCPU, non_blocking)", moved, full({1000}, -2.0));
  }
}

// A blocking copy is complete when it returns, whatever the memory.
void check_blocking(Device device) {
  const Tensor host = pinned(device, {1000});
  for (int i = 0; i < 20; ++i) {
    const double value = i;
    const Tensor there = full({1000}, value, device);
    if (i == 0) keep_busy(device);
    there.add_(1);
    host.copy_(there);
    expect_same("the result of a copy to pinned memory", host, full({1000}, value + 1));
    host.fill_(7);
    if (i == 0) keep_busy(device);
    there.copy_(host);
    host.fill_(-1);  // the copy has read it
    expect_same("a copy from pinned memory, which was then written", there, full({1000}, 7.0));
  }
}

// Pinned memory that is freed while a copy reads it must not be reused before the copy is complete.
void check_freed(Device device) {
  for (int i = 0; i < 20; ++i) {
    const double value = i;
    const Tensor there = zeros({1000}, device);
    backend_of(device).empty_cache(device.index());  // the next block is the freed one
    {
      const Tensor host = pinned(device, {1000});
      host.fill_(value);
      if (i == 0) keep_busy(device);
      there.copy_(host, /*non_blocking=*/true);
    }
    const Tensor next = pinned(device, {1000});
    next.fill_(-1);
    expect_same("a non_blocking copy from pinned memory that was then freed", there,
                full({1000}, value));
  }
}

// Backend::copy() within a device, where core itself uses a kernel, must be ordered between two
// kernels.
void check_same_index(Device device) {
  Backend& backend = backend_of(device);
  const Tensor from = full({1000}, 1.0, device), to = full({1000}, 2.0, device);
  keep_busy(device);
  from.add_(1);
  to.add_(1);
  backend.copy(device.index(), to.data_ptr(), device.index(), from.data_ptr(), from.nbytes());
  from.fill_(-1);
  to.mul_(3);
  expect_same("a kernel, a copy, a kernel", to, full({1000}, 6.0));
}

void check_many_small(Device device) {
  const Tensor want = numbers({300}), y = zeros({300, 3}, device);
  for (int64_t i = 0; i < 300; ++i) y[i][1].copy_(want[i]);
  expect_same("300 copies of one element to a column of the device's", y.select(1, 1), want);
  expect_same("the column next to it", y.select(1, 0), zeros({300}));
}

}  // namespace

void add_copy_cases(Cases& cases) {
  const auto add = [&](const std::string& name, std::function<void(Device)> check) {
    cases.push_back({"copies/" + name, "", std::move(check)});
  };
  for (const DType dtype : dtypes::kEvery) {
    const std::string type = std::string("/") + name(dtype);
    add("round_trip" + type, [=](Device d) { check_round_trip(d, dtype); });
    add("within_device" + type, [=](Device d) { check_within_device(d, dtype); });
    add("unaligned" + type, [=](Device d) { check_unaligned(d, dtype); });
    for (const DType to : dtypes::kEvery) {
      add("convert" + type + "_to_" + name(to), [=](Device d) { check_conversion(d, dtype, to); });
    }
  }
  add("strided", check_strided);
  add("broadcast", check_broadcast);
  add("large", check_large);
  add("many_small", check_many_small);
  add("overlap", check_overlap);
  add("non_blocking/pageable",
      [](Device d) { check_non_blocking(d, empty({1000}), empty({1000})); });
  add("non_blocking/pinned",
      [](Device d) { check_non_blocking(d, pinned(d, {1000}), pinned(d, {1000})); });
  add("non_blocking/read_at_once", check_read_at_once);
  add("non_blocking/freed", check_freed);
  add("blocking/pinned", check_blocking);
  add("same_index", check_same_index);
  add("other_index", check_other_index);
  add("to_reference", [](Device d) { check_between(d, reference()); });
  add("from_reference", [](Device d) { check_between(reference(), d); });
}

}  // namespace conformance
