// A profile's times of a GPU, which events on its streams tell. Where there is no GPU, this case
// has nothing to run on and says so.
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

TEST_CASE("gpu: events tell when each kernel and copy ran, one behind the other on a stream") {
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
  // Marks are whole steps of the driver's clock, of half a microsecond, as is what they are told
  // on.
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

TEST_CASE("gpu: a backward's kernels are the device's time of its nodes") {
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

TEST_CASE("gpu: what a graph captures is counted, and has no time of its own") {
  if (!has_gpu()) return;
  const Tensor x = rand({64}, "cuda");
  exp(x);  // what is loaded and allocated once
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
