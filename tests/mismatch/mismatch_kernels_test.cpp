// DeviceMismatchError of every kernel op in a direct call: each tensor argument in turn is on a
// different device from the rest, for every pair of devices.
#include <ambit/backend/examples.h>

#include <set>

#include "mismatch.h"

using namespace ambit;
using namespace mismatch;

namespace {

// The first tensor sets the expected device, so if only the first one is on another device, the
// error is for the second. The op determines the names of the arguments.
void check_operand(const Example& example, DType dtype, TwoDevices devices, size_t elsewhere) {
  INFO(std::string(example.op->name()), " argument ", elsewhere, " on ", devices.there.str(),
       " others on ", devices.here.str());
  std::vector<Tensor> tensors = example.operands(dtype);
  for (size_t i = 0; i < tensors.size(); ++i) {
    tensors[i] = tensors[i].to(i == elsewhere ? devices.there : devices.here);
    tensors[i].set_name("layer.p" + std::to_string(i));
  }
  Complaint complaint{example.op->name(), {}, tensors, 0, elsewhere == 0 ? 1 : elsewhere};
  try {
    example.call(tensors);
  } catch (const DeviceMismatchError& e) {
    for (const std::string& line : lines_of(e.explain())) {
      if (line.starts_with("  #")) complaint.names.push_back(words_of(line)[1]);
    }
  }
  REQUIRE(complaint.names.size() == tensors.size());
  check_refused([&] { example.call(tensors); }, complaint);
}

void check_example(const Example& example) {
  const DType dtype = *example.dtypes.begin();
  const size_t tensors = example.operands(dtype).size();
  if (tensors < 2) return;
  for (const TwoDevices& devices : device_pairs()) {
    for (size_t i = 0; i < tensors; ++i) check_operand(example, dtype, devices, i);
  }
}

}  // namespace

TEST_CASE("counting devices count a kernel, an allocation and a copy") {
  const CountingDevices counting;
  const Device device("counted_a");
  const Tensor t = ones({2}).to(device);
  {
    const Watch watch({device});
    CHECK(watch.is_quiet());
    t.fill_(1);
    CHECK_FALSE(watch.is_quiet());
  }
  {
    const Watch watch({device});
    empty({1}, device);
    CHECK_FALSE(watch.is_quiet());
  }
  {
    const Watch watch({device});
    t.cpu();
    CHECK_FALSE(watch.is_quiet());
  }
  {
    const Watch watch({kCPU});
    empty({1});
    CHECK_FALSE(watch.is_quiet());
  }
}

TEST_CASE("every kernel op refuses a tensor on another device, for each argument") {
  const CountingDevices counting;
  std::set<const OpBase*> seen;  // one function of a family is enough
  for (const Example& example : examples()) {
    if (seen.insert(example.op).second) check_example(example);
  }
  CHECK(seen.size() == all_ops().size());
}
