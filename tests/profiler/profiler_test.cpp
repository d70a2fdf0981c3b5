// What a profile says of calls that are known. Times are compared with each other alone: what is
// inside is no longer than what is around it.
#include <ambit/ambit.h>
#include <ambit/memory.h>
#include <ambit/sim.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <thread>

#include "tests/devices.h"

using namespace ambit;
using profiler::EventKind;
using profiler::FunctionEvent;
using profiler::FunctionEventAvg;
using profiler::Profile;
using profiler::RecordFunction;

namespace {

// The one row of that name; a profile has it on one device alone here.
FunctionEventAvg row(const profiler::EventAverages& rows, const std::string& name) {
  FunctionEventAvg found;
  for (const FunctionEventAvg& r : rows) {
    if (r.key != name) continue;
    REQUIRE_MESSAGE(found.count == 0, name << " has two rows");
    found = r;
  }
  return found;
}

std::vector<FunctionEvent> named(const Profile& profile, const std::string& name) {
  std::vector<FunctionEvent> found;
  for (const FunctionEvent& e : profile.events()) {
    if (e.name == name) found.push_back(e);
  }
  return found;
}

struct Trained {
  Tensor weight;
  double loss;
};

Trained train(Device device) {
  manual_seed(3);
  nn::Linear net = nn::Linear(8, 4).to(device);
  optim::SGD sgd(net->parameters(), optim::SGDOptions(0.1).momentum(0.9));
  const Tensor x = rand({16, 8}).to(device);
  double loss = 0;
  for (int step = 0; step < 3; ++step) {
    sgd.zero_grad();
    const Tensor l = relu(net(x)).square().mean();
    l.backward();
    sgd.step();
    loss = l.item<double>();
  }
  return {net->weight.detach().cpu(), loss};
}

}  // namespace

// The first in this file, so that the plugin is not loaded before.
TEST_CASE(
    "the kernels of a backend that comes while a profile is on are recorded, and run after it") {
  Profile profile;
  const Device sim("sim:0");
  const Tensor y = ones({4}).to(sim) + ones({4}).to(sim);
  profile.stop();
  const FunctionEventAvg add = row(profile.key_averages(), "add");
  CHECK(add.count == 1);
  CHECK(add.device == sim);
  CHECK((y + y).sum().item<double>() == 16);
}

TEST_CASE("a profile counts forward's kernels, backward's nodes, and the optimizer's steps") {
  for_each_device([](Device device) {
    if (device.is_meta()) return;
    Profile profile;
    train(device);
    profile.stop();
    const auto rows = profile.key_averages();
    const FunctionEventAvg relu = row(rows, "relu");
    CHECK(relu.count == 3);
    CHECK(relu.kernels == 3);
    CHECK(relu.kind == EventKind::op);
    CHECK(relu.device == device);
    CHECK(relu.dtypes == "float32");
    CHECK(relu.bytes == 3 * 2 * 16 * 4 * 4);  // one tensor read and one written, in each step
    CHECK(row(rows, "LinearBackward0").count == 3);
    CHECK(row(rows, "LinearBackward0").kind == EventKind::backward);
    CHECK(row(rows, "Optimizer.step#sgd_step").count == 3);
    CHECK(row(rows, "Optimizer.step#sgd_step").kernels == row(rows, "sgd_step").kernels);
    CHECK(row(rows, "item").count == (device.is_cpu() ? 0 : 3));
    CHECK(profile.dropped() == 0);
  });
}

TEST_CASE("what is computed is the same while a profile is on") {
  for_each_device([](Device device) {
    if (device.is_meta()) return;
    const Trained without = train(device);
    Profile profile({.record_shapes = true, .profile_memory = true});
    const Trained with = train(device);
    CHECK(equal(with.weight, without.weight));
    CHECK(with.loss == without.loss);
  });
}

TEST_CASE("nothing is recorded before a profile begins and after it stops") {
  const Tensor x = ones({3});
  exp(x);
  CHECK_FALSE(profiler::is_enabled());
  Profile profile;
  CHECK(profiler::is_enabled());
  exp(x);
  profile.stop();
  CHECK_FALSE(profiler::is_enabled());
  exp(x);
  profile.stop();
  CHECK(row(profile.key_averages(), "exp").count == 1);
}

TEST_CASE(
    "scopes nest: what is inside begins later, ends earlier, and is no time of the outer's own") {
  Profile profile;
  {
    const RecordFunction outer("outer");
    const profiler::record_function inner(std::string("inner"));
    exp(ones({100}));
  }
  profile.stop();
  const FunctionEvent outer = named(profile, "outer").at(0), inner = named(profile, "inner").at(0),
                      exp = named(profile, "exp").at(0);
  CHECK(outer.kind == EventKind::scope);
  CHECK(std::vector{outer.depth, inner.depth, exp.depth} == std::vector{0, 1, 2});
  CHECK(outer.start <= inner.start);
  CHECK(inner.start + inner.cpu_time <= outer.start + outer.cpu_time + 1e-6);
  CHECK(exp.cpu_time <= inner.cpu_time);
  CHECK(outer.self_cpu_time == doctest::Approx(outer.cpu_time - inner.cpu_time));
  CHECK(outer.kernels == inner.kernels);
  CHECK(inner.kernels == 2);  // ones' fill, too
  CHECK(exp.self_cpu_time == exp.cpu_time);
}

TEST_CASE("a composite is a call around those of its kernels") {
  Profile profile;
  const Tensor y = softmax(ones({2, 3}).to("sim:0"), 1);
  addcmul(ones({3}), ones({3}), ones({3}));
  profile.stop();
  for (const FunctionEvent& e : profile.events()) {
    if (e.kind == EventKind::op && e.depth == 0) CHECK(e.kernels >= 1);
  }
}

TEST_CASE("each thread's calls are its own") {
  constexpr int kThreads = 4, kCalls = 5000;  // more than a log holds at once
  Profile profile;
  const Tensor x = ones({2});
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([x] {
      const RecordFunction scope("worker");
      for (int i = 0; i < kCalls; ++i) exp(x);
    });
  }
  for (std::thread& t : threads) t.join();
  profile.stop();
  CHECK(row(profile.key_averages(), "exp").count == kThreads * kCalls);
  std::set<int> numbers;
  for (const FunctionEvent& worker : named(profile, "worker")) {
    numbers.insert(worker.thread);
    CHECK(worker.kernels == kCalls);
    CHECK(worker.depth == 0);
  }
  CHECK(numbers == std::set{1, 2, 3, 4});
  for (const FunctionEvent& e : named(profile, "exp")) CHECK_MESSAGE(e.depth == 1, e.thread);
}

TEST_CASE("threads may be at work when a profile begins and stops") {
  std::atomic<bool> done = false;
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&done] {
      const RecordFunction outer("outer");
      const Tensor x = ones({2});
      while (!done) {
        const RecordFunction inner("inner");
        CHECK(exp(x).numel() == 2);
      }
    });
  }
  for (int i = 0; i < 50; ++i) {
    Profile profile({.record_shapes = i % 2 == 0, .profile_memory = i % 3 == 0});
    exp(ones({2}));
    profile.stop();
    for (const FunctionEvent& e : profile.events()) {
      if (e.name == "inner") CHECK(e.depth <= 1);
      CHECK(e.self_cpu_time >= 0);
    }
  }
  done = true;
  for (std::thread& t : threads) t.join();
}

TEST_CASE("a call that throws has ended, as have the scopes that it leaves") {
  Profile profile;
  const Tensor index = full({1}, 7, kInt64);
  for (int i = 0; i < 2; ++i) {
    try {
      const RecordFunction scope("left");
      ones({3}).index_select(0, index);
      FAIL("an index out of range was taken");
    } catch (const Error&) {
    }
  }
  exp(ones({1}));
  profile.stop();
  CHECK(row(profile.key_averages(), "index_select").count == 2);
  CHECK(row(profile.key_averages(), "left").count == 2);
  CHECK(named(profile, "exp").at(0).depth == 0);
}

TEST_CASE("the shapes of operands are recorded on request, and tell rows apart") {
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

TEST_CASE("memory: what tensors got, gave back and held") {
  for_each_device([](Device device) {
    if (device.is_meta()) return;
    constexpr int64_t kMiB = 1 << 20;
    const Tensor x = ones({kMiB / 4}).to(device);
    zeros({1}, device);
    const auto held = static_cast<int64_t>(memory_stats(device).in_use);
    Profile profile({.profile_memory = true});
    zeros({1}, device);  // from here on an accelerator's memory is watched
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
    "a device that keeps time tells it of each kernel and copy; the cpu has no other than the "
    "host's") {
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
  // It begins when it is waited for, long after it was queued, and is told on the host's clock;
  // that is found out by waiting, so what a busy machine takes for that comes on top.
  CHECK(product.device_start >= product.start);
  CHECK(product.device_start + product.device_time <= copy.start + copy.cpu_time + 60e6);
}

TEST_CASE("work that fails late fails no earlier and no later under a profile") {
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

TEST_CASE("the table is sorted, has the sums below, and refuses what is no number") {
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
  CHECK_THROWS_WITH_AS(rows.table("speed"),
                       "table: expected sort_by to be a number of FunctionEventAvg, got \"speed\"",
                       Error);
  CHECK(profiler::EventAverages().table() ==
        "Name  Self CPU %  Self CPU  CPU total  CPU avg  Calls  Kernels  Bytes  Device  Dtypes\n"
        "Self CPU time total: 0.000us\n");
}

TEST_CASE("beyond max_events calls are summed up, but not kept") {
  Profile profile({.max_events = 5000});
  const Tensor x = ones({1});
  for (int i = 0; i < 20'000; ++i) exp(x);
  profile.stop();
  CHECK(row(profile.key_averages(), "exp").count == 20'000);
  CHECK(profile.events().size() <= 5000);
  CHECK(profile.events().size() + profile.dropped() >= 20'000);
}

TEST_CASE("what scopes call is theirs, kept or not, also where a piece of the calls ends between") {
  constexpr int kScopes = 6000;  // two calls each: a piece has 4096, the first of which is alone
  Profile profile({.max_events = 5000});
  const Tensor x = ones({1});
  exp(x);
  for (int i = 0; i < kScopes; ++i) {
    const RecordFunction scope("outer");
    exp(x);
  }
  profile.stop();
  const FunctionEventAvg outer = row(profile.key_averages(), "outer");
  const FunctionEventAvg inner = row(profile.key_averages(), "exp");
  CHECK(outer.count == kScopes);
  CHECK(outer.kernels == kScopes);
  CHECK(inner.count == kScopes + 1);
  CHECK(inner.kernels == kScopes + 1);
  CHECK(outer.self_cpu_time_total < outer.cpu_time_total);
  for (const FunctionEvent& e : profile.events()) {
    CHECK(e.kernels == 1);
    CHECK(e.self_cpu_time <= e.cpu_time);
  }
}

TEST_CASE("one profile at a time, and its results when it has stopped") {
  Profile profile;
  CHECK_THROWS_WITH_AS(Profile(), "Profile: expected no other at the same time, got one that is on",
                       Error);
  CHECK_THROWS_WITH_AS(profile.key_averages(),
                       "Profile: expected stop() before its results are asked for", Error);
  CHECK_THROWS_AS(profile.events(), Error);
  CHECK_THROWS_AS(profile.dropped(), Error);
  CHECK_THROWS_AS(profile.export_chrome_trace("/nowhere/trace.json"), Error);
  profile.stop();
  { Profile next; }
  CHECK_FALSE(profiler::is_enabled());
}
