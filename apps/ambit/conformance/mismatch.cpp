// Operands on different devices: every kernel op refuses them with the documented message, for any
// operand, without side effects. Core does the check; the cases verify it for this device.
#include <ambit/backend/examples.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <fmt/format.h>

#include <set>

#include "cases.h"
#include "expect.h"

using namespace ambit;

namespace conformance {
namespace {

using Tensors = std::vector<Tensor>;

Tensors operands_of(const Example& example) {
  const bool floats = example.dtypes.contains(kFloat32);
  return example.operands(floats ? kFloat32 : *example.dtypes.begin());
}

// Operand `odd` is on another device. The first operand with a dim determines the expected device.
void check_operand(const Example& example, Device device, Device other, size_t odd) {
  Tensors operands = operands_of(example);
  for (size_t i = 0; i < operands.size(); ++i) {
    // The operands are not all ones, because some of these calls would not change ones.
    operands[i] = (operands[i] * 2).to(operands[i].dtype()).to(i == odd ? other : device);
  }
  Tensors before;
  for (const Tensor& t : operands) before.push_back(t.cpu().clone());
  const bool sets_expected = odd == 0;
  const std::string want =
      fmt::format("expected device {} but got device {}", (sets_expected ? other : device).str(),
                  (sets_expected ? device : other).str());
  const std::string what = fmt::format("{} with operand {} on {} instead of {}", example.op->name(),
                                       odd, other.str(), device.str());
  const std::string got = expect_throws<DeviceMismatchError>(what, "DeviceMismatchError",
                                                             [&] { example.call(operands); });
  expect(got == want, fmt::format("{}: expected the text \"{}\", got \"{}\"", what, want, got));
  for (size_t i = 0; i < operands.size(); ++i) {
    expect_same(fmt::format("{}: operand {} after it", what, i), operands[i], before[i]);
  }
}

void check_op(const Example& example, Device device) {
  std::vector<Device> others{device.is_cpu() ? Device("reference") : kCPU};
  if (device_count(device.type()) > 1) others.push_back(other_index(device));
  const size_t count = operands_of(example).size();
  for (const Device other : others) {
    for (size_t odd = 0; odd < count; ++odd) check_operand(example, device, other, odd);
  }
}

// The only allowed combination of devices.
void check_zero_dim(Device device) {
  const Tensor x = numbers({5}).to(device);
  expect_same("a tensor of the device plus a 0-dim one of the cpu", x + tensor(2.),
              numbers({5}) + 2);
  expect_same("a 0-dim tensor of the cpu minus one of the device", tensor(2.) - x,
              2 - numbers({5}));
}

}  // namespace

void add_mismatch_cases(Cases& cases) {
  std::set<const OpBase*> seen;
  for (const Example& example : examples()) {
    // One function per family is enough, and ops with one tensor cannot mix devices.
    const bool mixes = operands_of(example).size() > 1;
    if (!mixes || !seen.insert(example.op).second) continue;
    cases.push_back({std::string("mismatch/") + example.op->name(), example.op->name(),
                     [example](Device device) { check_op(example, device); }});
  }
  cases.push_back({"mismatch/zero_dim", "", check_zero_dim});
}

}  // namespace conformance
