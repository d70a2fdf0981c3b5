// The calls of a profile, in scopes and threads, and their maximum number. profiler_table_test.cpp
// tests the other records.
#include <ambit/ambit.h>
#include <doctest/doctest.h>

#include <atomic>
#include <set>
#include <thread>

#include "rows.h"
#include "tests/devices.h"

using namespace ambit;
using profiler::EventKind;
using profiler::FunctionEvent;
using profiler::FunctionEventAvg;
using profiler::Profile;
using profiler::RecordFunction;

namespace {

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

// The first case of this file, so that the plugin is not loaded before.
TEST_CASE("kernels of a backend that is loaded during a profile are recorded, and run after it") {
  Profile profile;
  const Device sim("sim:0");
  const Tensor y = ones({4}).to(sim) + ones({4}).to(sim);
  profile.stop();
  const FunctionEventAvg add = row(profile.key_averages(), "add");
  CHECK(add.count == 1);
  CHECK(add.device == sim);
  CHECK((y + y).sum().item<double>() == 16);
}

TEST_CASE(
    "a profile counts the kernels of forward, the nodes of backward, and the optimizer's steps") {
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

TEST_CASE("results are the same during a profile") {
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
    "scopes nest: an inner one begins later, ends earlier, and is not part of the outer's self "
    "time") {
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
  CHECK(inner.kernels == 2);  // including the fill of ones()
  CHECK(exp.self_cpu_time == exp.cpu_time);
}

TEST_CASE("a composite is a call that contains those of its kernels") {
  Profile profile;
  const Tensor y = softmax(ones({2, 3}).to("sim:0"), 1);
  addcmul(ones({3}), ones({3}), ones({3}));
  profile.stop();
  for (const FunctionEvent& e : profile.events()) {
    if (e.kind == EventKind::op && e.depth == 0) CHECK(e.kernels >= 1);
  }
}

TEST_CASE("each thread has its own calls") {
  constexpr int kThreads = 4, kCalls = 5000;  // more than a log's capacity
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

TEST_CASE("threads may run when a profile begins and stops") {
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

TEST_CASE("a call that throws has an end, and so have the scopes that it leaves") {
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

TEST_CASE("beyond max_events calls are summed, but not stored") {
  Profile profile({.max_events = 5000});
  const Tensor x = ones({1});
  for (int i = 0; i < 20'000; ++i) exp(x);
  profile.stop();
  CHECK(row(profile.key_averages(), "exp").count == 20'000);
  CHECK(profile.events().size() <= 5000);
  CHECK(profile.events().size() + profile.dropped() >= 20'000);
}

TEST_CASE("calls in scopes belong to these, stored or not, also across chunks of the log") {
  constexpr int kScopes =
      6000;  // two calls each, after a single one: pairs cross the ends of chunks of 4096
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

TEST_CASE("there is one profile at a time, with results after it has stopped") {
  Profile profile;
  CHECK_THROWS_WITH_AS(Profile(), "Profile: expected no other active profile, got one", Error);
  CHECK_THROWS_WITH_AS(profile.key_averages(),
                       "Profile: expected stop() before its results are read", Error);
  CHECK_THROWS_AS(profile.events(), Error);
  CHECK_THROWS_AS(profile.dropped(), Error);
  CHECK_THROWS_AS(profile.export_chrome_trace("/nowhere/trace.json"), Error);
  profile.stop();
  { Profile next; }
  CHECK_FALSE(profiler::is_enabled());
}
