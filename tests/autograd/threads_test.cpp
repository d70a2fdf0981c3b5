// Several threads on one graph: concurrent backward calls, and hooks added and removed during
// backward.
#include <ambit/ambit.h>
#include <doctest/doctest.h>

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

using namespace ambit;

namespace {

// Run `work(i)` on n threads that start together.
void on_threads(int n, const std::function<void(int)>& work) {
  std::atomic<int> waiting{n};
  std::vector<std::thread> threads;
  for (int i = 0; i < n; ++i) {
    threads.emplace_back([&, i] {
      --waiting;
      while (waiting > 0) std::this_thread::yield();
      work(i);
    });
  }
  for (std::thread& t : threads) t.join();
}

Tensor chain(const Tensor& x, int length) {
  Tensor y = x;
  for (int i = 0; i < length; ++i) y = (y * x).tanh();
  return y.sum();
}

constexpr int kRounds = 60;

}  // namespace

TEST_CASE("the second of two backwards through one graph gets an error: it is in use or freed") {
  for (int round = 0; round < kRounds; ++round) {
    Tensor x = full({8}, 0.5).requires_grad_(), same = full({8}, 0.5).requires_grad_();
    const Tensor y = chain(x, 30);
    std::atomic<int> done{0};
    on_threads(2, [&](int) {
      try {
        y.backward();
        ++done;
      } catch (const AutogradError& e) {
        const std::string text = e.what();
        const bool says_why = text.find("an earlier backward freed") != std::string::npos ||
                              text.find("got one that is in use") != std::string::npos;
        if (!says_why) done += 100;
      }
    });
    CHECK(done == 1);
    chain(same, 30).backward();
    CHECK(x.grad().equal(same.grad()));
  }
}

TEST_CASE("concurrent backwards with retain_graph all accumulate") {
  for (int round = 0; round < kRounds; ++round) {
    Tensor x = full({8}, 0.5).requires_grad_(), same = full({8}, 0.5).requires_grad_();
    const Tensor y = chain(x, 30);
    on_threads(4, [&](int) { y.backward({}, /*retain_graph=*/true); });
    chain(same, 30).backward();
    CHECK(x.grad().equal(same.grad() * 4));
  }
}

TEST_CASE("a backward that fails leaves its nodes usable for the next one") {
  Tensor x = ones({3}).requires_grad_();
  const Tensor y = x * 2;
  bool fail = true;
  const unsigned id = x.register_hook([&fail](const Tensor& g) {
    if (fail) throw Error("not now");
    return g;
  });
  CHECK_THROWS_WITH_AS(y.sum().backward({}, /*retain_graph=*/true), "not now", Error);
  fail = false;
  y.sum().backward({}, true);
  CHECK(x.grad().equal(full({3}, 2)));
  x.remove_hook(id);
}

TEST_CASE(
    "a backward sees each hook that another thread adds or removes completely or not at all") {
  for (int round = 0; round < kRounds; ++round) {
    Tensor x = full({8}, 0.5).requires_grad_();
    const Tensor middle = x * 2, y = chain(middle, 10);
    const Tensor keep = ones({8});
    std::atomic<bool> running{true};
    std::atomic<int> seen{0};
    on_threads(3, [&](int i) {
      if (i == 0) {
        for (int k = 0; k < 20; ++k) y.backward({}, /*retain_graph=*/true);
        running = false;
        return;
      }
      while (running) {
        const Tensor& t = i == 1 ? middle : x;
        const unsigned a = t.register_hook([&seen, keep](const Tensor& g) {
          ++seen;
          return g + (keep - 1);
        });
        const unsigned b = t.register_hook([](const Tensor&) { return Tensor(); });
        t.remove_hook(a);
        t.remove_hook(b);
      }
    });
    Tensor same = full({8}, 0.5).requires_grad_();
    chain(same * 2, 10).backward();
    // 20 equal numbers are added in order: each partial sum, at most 20 numbers, is rounded once
    // with a relative error of 2^-24.
    CHECK(x.grad().allclose(same.grad() * 20, 20 * 6e-8, 0));
  }
}

TEST_CASE("retain_grad() of several threads keeps one gradient") {
  for (int round = 0; round < kRounds; ++round) {
    Tensor x = full({8}, 0.5).requires_grad_();
    const Tensor middle = x * 2, y = (middle * 3).sum();
    on_threads(4, [&](int) { middle.retain_grad(); });
    on_threads(2, [&](int i) {
      if (i == 0) y.backward({}, true);
      if (i == 1) middle.retain_grad();
    });
    CHECK(middle.grad().equal(full({8}, 3)));
  }
}
