// A profile's device times, which come from events on streams. Without a GPU these cases are
// skipped with a note.
#include <ambit/ambit.h>
#include <ambit/cuda.h>
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "has_gpu.h"

using namespace ambit;
using profiler::EventKind;
using profiler::FunctionEvent;

namespace {

std::vector<FunctionEvent> named(const profiler::Profile& profile, const std::string& name) {
  std::vector<FunctionEvent> found;
  for (const FunctionEvent& e : profile.events()) {
    if (e.name == name) found.push_back(e);
  }
  return found;
}

double end_on_device(const FunctionEvent& e) { return e.device_start + e.self_device_time; }

}  // namespace

TEST_CASE("gpu: events give the time of each kernel and copy, which do not overlap on a stream") {
  if (!has_gpu()) return;
  const Tensor x = rand({256, 256}, "cuda");
  synchronize("cuda");
  profiler::Profile profile;
  const Tensor back = exp(x.matmul(x)).cpu();
  profile.stop();
  const std::vector<FunctionEvent> products = named(profile, "matmul"),
                                   exps = named(profile, "exp"),
                                   copies = named(profile, "copy_to_host");
  REQUIRE(products.size() == 1);
  REQUIRE(exps.size() == 1);
  REQUIRE(copies.size() == 1);
  for (const FunctionEvent& e : {products[0], exps[0], copies[0]}) {
    INFO(e.name);
    CHECK(e.device == Device("cuda:0"));
    CHECK(e.self_device_time > 0);
    CHECK(e.device_time == e.self_device_time);
  }
  // Events have the resolution of the driver's clock, half a microsecond, and so has the conversion
  // to the host's clock.
  constexpr double kStep = 1;
  CHECK(exps[0].device_start >= end_on_device(products[0]) - kStep);
  CHECK(copies[0].device_start >= end_on_device(exps[0]) - kStep);
  double device_total = 0;
  for (const profiler::FunctionEventAvg& row : profile.key_averages()) {
    device_total += row.self_device_time_total;
  }
  CHECK(device_total ==
        doctest::Approx(products[0].device_time + exps[0].device_time + copies[0].device_time));
  CHECK(profile.key_averages().table().find("Self device time total: ") != std::string::npos);
}

TEST_CASE("gpu: a backward node's device time is that of its kernels") {
  if (!has_gpu()) return;
  Tensor x = rand({64, 64}, "cuda");
  x.requires_grad_();
  const Tensor sum = x.matmul(x).sum();
  profiler::Profile profile;
  sum.backward();
  profile.stop();
  const std::vector<FunctionEvent> nodes = named(profile, "MatmulBackward0");
  REQUIRE(nodes.size() == 1);
  double inside = 0;
  for (const FunctionEvent& e : named(profile, "matmul")) inside += e.self_device_time;
  CHECK(inside > 0);
  CHECK(nodes[0].device_time >= inside);
  CHECK(nodes[0].self_device_time == 0);
  CHECK(nodes[0].device_start == -1);
}

TEST_CASE("gpu: captured kernels are counted, without device time") {
  if (!has_gpu()) return;
  const Tensor x = rand({64}, "cuda");
  exp(x);  // loads kernels and allocates memory
  synchronize("cuda");
  profiler::Profile profile;
  cuda::CUDAGraph graph;
  const cuda::StreamGuard guard(cuda::getStreamFromPool());
  graph.capture_begin();
  const Tensor y = exp(x);
  graph.capture_end();
  graph.replay();
  synchronize("cuda");
  profile.stop();
  REQUIRE(named(profile, "exp").size() == 1);
  CHECK(named(profile, "exp")[0].device_start == -1);
  CHECK(equal(y.cpu(), exp(x).cpu()));
}
