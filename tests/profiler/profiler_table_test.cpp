// Records of a profile: shapes, dtypes, memory, device time, and the table. Times are only compared
// with each other: an inner call is not longer than the outer one.
#include <ambit/error.h>
#include <ambit/memory.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/matmul.h>
#include <ambit/ops/random.h>
#include <ambit/ops/reduce.h>
#include <ambit/profiler.h>
#include <ambit/sim.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "rows.h"
#include "tests/devices.h"

using namespace ambit;
using profiler::FunctionEvent;
using profiler::FunctionEventAvg;
using profiler::Profile;
using profiler::RecordFunction;

TEST_CASE("shapes of operands are recorded on request, and separate rows") {
  Profile profile({.record_shapes = true});
  exp(ones({2, 3}));
  exp(ones({2, 3}));
  exp(ones({4}));
  profile.stop();
  CHECK(row(profile.key_averages(), "exp").count == 3);
  std::vector<std::string> shapes;
  for (const FunctionEventAvg& r : profile.key_averages(true)) {
    if (r.key == "exp") shapes.push_back(r.input_shapes + " " + std::to_string(r.count));
  }
  CHECK(shapes == std::vector<std::string>{"[2, 3] 2", "[4] 1"});
  CHECK(named(profile, "exp").at(0).input_shapes == "[2, 3]");
  CHECK(named(profile, "exp").at(0).output_shapes == "[2, 3]");
  CHECK(named(profile, "fill").at(0).input_shapes.empty());
  CHECK(named(profile, "fill").at(0).output_shapes == "[2, 3]");
  Profile without;
  exp(ones({4}));
  without.stop();
  CHECK(named(without, "exp").at(0).input_shapes.empty());
}

TEST_CASE("dtypes are those of the operands, outputs first, each once") {
  Profile profile;
  ones({3}).to(kInt64);
  profile.stop();
  CHECK(row(profile.key_averages(), "copy").dtypes == "int64, float32");
}

TEST_CASE("memory allocated, freed and held by tensors") {
  for_each_device([](Device device) {
    if (device.is_meta()) return;
    constexpr int64_t kMiB = 1 << 20;
    const Tensor x = ones({kMiB / 4}).to(device);
    zeros({1}, device);
    const auto held = static_cast<int64_t>(memory_stats(device).in_use);
    Profile profile({.profile_memory = true});
    zeros({1}, device);  // from here on an accelerator's memory is recorded
    Tensor y = exp(x);
    Tensor z = exp(y);
    y.reset();
    z = exp(z);
    profile.stop();
    const std::vector<FunctionEvent> calls = named(profile, "exp");
    REQUIRE(calls.size() == 3);
    for (const FunctionEvent& e : calls) CHECK(e.allocated == kMiB);
    CHECK(calls[1].in_use - calls[0].in_use == kMiB);
    CHECK(calls[2].freed == kMiB);
    CHECK(calls[2].in_use == calls[1].in_use);
    CHECK(calls[2].in_use >= held + 2 * kMiB);
    CHECK(calls[2].reserved >= calls[2].in_use);
    CHECK(row(profile.key_averages(), "exp").allocated == 3 * kMiB);
    CHECK(row(profile.key_averages(), "exp").peak >= held + 2 * kMiB);
  });
}

TEST_CASE(
    "a device with a clock records the time of each kernel and copy; the cpu uses the host's "
    "time") {
  const Device device("sim:0");
  const Tensor x = rand({300, 300}).to(device);
  Profile profile;
  {
    const RecordFunction scope("both");
    matmul(x, x);
    exp(x);
  }
  const Tensor back = x.cpu();
  exp(back);
  profile.stop();
  const FunctionEvent product = named(profile, "matmul").at(0), both = named(profile, "both").at(0),
                      copy = named(profile, "copy_to_host").at(0);
  const std::vector<FunctionEvent> exps = named(profile, "exp");
  CHECK(product.device_time > 0);
  CHECK(product.self_device_time == product.device_time);
  CHECK(exps.at(0).device_start >= product.device_start + product.device_time);
  CHECK(copy.device_start >= exps.at(0).device_start + exps.at(0).device_time);
  CHECK(copy.bytes == 300 * 300 * 4);
  CHECK(both.device_time == doctest::Approx(product.device_time + exps.at(0).device_time));
  CHECK(both.self_device_time == doctest::Approx(0));
  CHECK(both.device_start == -1);
  CHECK(exps.at(1).device_start == -1);
  CHECK(exps.at(1).device_time == 0);
  // Work begins when the host waits for it, long after it was queued, and its time is converted to
  // the host's clock; the conversion needs a wait, so on a busy machine its duration is added.
  CHECK(product.device_start >= product.start);
  CHECK(product.device_start + product.device_time <= copy.start + copy.cpu_time + 60e6);
}

TEST_CASE("a profile does not change when late errors are thrown") {
  const Device sim("sim:0");
  const Tensor x = ones({4}).to(sim);
  Profile profile;
  sim::controls().fail_kernel(sim, "unary", 1);
  exp(x);
  CHECK_THROWS_AS(synchronize(sim), Error);
  CHECK(exp(x).sum().item<double>() > 0);
  profile.stop();
  sim::controls().reset(sim);
  CHECK(row(profile.key_averages(), "exp").count == 2);
}

TEST_CASE("the table is sorted, has totals, and refuses invalid numbers") {
  Profile profile;
  for (int i = 0; i < 3; ++i) exp(ones({1000}));
  {
    const RecordFunction scope("outer");
    log(ones({1}));
  }
  profile.stop();
  const profiler::EventAverages rows = profile.key_averages();
  double self = 0, outermost = 0;
  for (const FunctionEventAvg& r : rows) self += r.self_cpu_time_total;
  for (const FunctionEvent& e : profile.events()) {
    if (e.depth == 0) outermost += e.cpu_time;
  }
  CHECK(self == doctest::Approx(outermost));
  const std::string by_count = rows.table("count");
  CHECK(by_count.starts_with("Name"));
  CHECK(by_count.find("fill") < by_count.find("exp"));
  CHECK(by_count.find("exp") < by_count.find("outer"));
  CHECK(by_count.find("Self CPU time total: ") != std::string::npos);
  CHECK(by_count.find("Self device") == std::string::npos);
  CHECK(by_count.find("Peak") == std::string::npos);
  const std::string one = rows.table("count", 1);
  CHECK(std::ranges::count(one, '\n') == 3);
  CHECK(one.find("outer") == std::string::npos);
  CHECK_THROWS_WITH_AS(
      rows.table("speed"),
      "table: expected sort_by to be a numeric field of FunctionEventAvg, got \"speed\"", Error);
  CHECK(profiler::EventAverages().table() ==
        "Name  Self CPU %  Self CPU  CPU total  CPU avg  Calls  Kernels  Bytes  Device  Dtypes\n"
        "Self CPU time total: 0.000us\n");
}
