// Threads that share a GPU, or two GPUs. Without a GPU these cases are skipped with a note. The
// tests order only the host side of the threads; the streams overlap freely.
#include <ambit/ambit.h>
#include <ambit/memory.h>
#include <doctest/doctest.h>

#include <atomic>
#include <barrier>
#include <functional>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "has_gpu.h"

using namespace ambit;

namespace {

bool has_two_gpus() {
  if (!has_gpu()) return false;
  if (device_count("cuda") > 1) return true;
  MESSAGE("one GPU: nothing was run");
  return false;
}

/// Two threads that alternate: each turn of one comes before the next of the other.
void in_turns(int turns, const std::function<void(int)>& first,
              const std::function<void(int)>& second) {
  std::barrier turn(2);
  std::thread other([&] {
    for (int i = 0; i < turns; ++i) {
      turn.arrive_and_wait();
      second(i);
      turn.arrive_and_wait();
    }
  });
  for (int i = 0; i < turns; ++i) {
    first(i);
    turn.arrive_and_wait();
    turn.arrive_and_wait();
  }
  other.join();
}

}  // namespace

TEST_CASE("gpu: a thread's queued result can be read by another thread, and back") {
  if (!has_gpu()) return;
  const Device gpu("cuda");
  Tensor x, y;
  int wrong = 0;
  in_turns(
      40,
      [&](int i) {
        if (y.defined()) wrong += !y.equal(full({5000}, 2.0 * i, gpu));  // 2 (i - 1) + 2
        x = full({5000}, i, gpu);
        x.add_(1);
      },
      [&](int) { y = x * 2; });
  CHECK(wrong == 0);
}

TEST_CASE("gpu: memory that another thread still reads is not overwritten") {
  if (!has_gpu()) return;
  const Device gpu("cuda");
  const Tensor shared = full({5000}, 0, gpu);
  std::vector<Tensor> read;
  in_turns(
      40, [&](int i) { shared.fill_(i); },
      [&](int) {
        read.push_back(shared + 0.5);
        read.push_back(shared * 2);
      });
  for (size_t i = 0; i < 40; ++i) {
    CHECK(read[2 * i].equal(full({5000}, static_cast<double>(i) + 0.5, gpu)));
    CHECK(read[2 * i + 1].equal(full({5000}, 2 * static_cast<double>(i), gpu)));
  }
}

TEST_CASE("gpu: copies from and to the host are ordered with other threads' kernels") {
  if (!has_gpu()) return;
  const Device gpu("cuda");
  for (const bool pinned : {false, true}) {
    CAPTURE(pinned);
    const Tensor there = zeros({5000}, gpu);
    Tensor back, host = empty({5000});
    if (pinned) host = host.pin_memory(gpu);
    int wrong = 0;
    in_turns(
        40,
        [&](int i) {
          if (back.defined()) wrong += !back.equal(full({5000}, i + 6.0));  // (i - 1) + 7
          host.fill_(i);
          there.copy_(host, /*non_blocking=*/pinned);
        },
        [&](int) {
          there.add_(7);
          back = there.to(kCPU, /*non_blocking=*/true);
          synchronize(gpu);  // the other thread may write the host memory again
        });
    CHECK(wrong == 0);
  }
}

TEST_CASE("gpu: memory freed by a thread while another's kernel reads it is reused later") {
  if (!has_gpu()) return;
  const Device gpu("cuda");
  std::vector<Tensor> made;
  Tensor x;
  in_turns(
      40,
      [&](int i) {
        x = Tensor();  // the other thread has queued a kernel that reads it
        const Tensor scribbled = full({5000}, -1, gpu);
        x = full({5000}, i, gpu);
      },
      [&](int) { made.push_back(x + 1); });
  for (size_t i = 0; i < made.size(); ++i) {
    CHECK(made[i].equal(full({5000}, static_cast<double>(i) + 1, gpu)));
  }
}

TEST_CASE("gpu: threads create, read, copy and destroy tensors concurrently: 60 random programs") {
  if (!has_gpu()) return;
  const Device gpu("cuda");
  constexpr int kThreads = 3;
  for (unsigned seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    struct Held {
      Tensor t;
      int64_t value = 0;  // value of all its elements, constant
    };
    std::mutex mutex;  // protects only the list
    std::vector<Held> list(6);
    std::atomic<int> wrong = 0;
    const auto program = [&](unsigned thread) {
      std::mt19937 random(kThreads * seed + thread);
      const auto below = [&](size_t n) { return static_cast<size_t>(random()) % n; };
      for (int step = 0; step < 25; ++step) {
        const size_t at = below(list.size());
        Held held;
        {
          const std::lock_guard lock(mutex);
          held = list[at];
        }
        if (!held.t.defined() || below(4) == 0) {
          const auto value = static_cast<int64_t>(below(1000));
          const Dims sizes{int64_t{1} << below(17)};
          const TensorOptions options = TensorOptions(kInt64);
          held = {below(2) == 0 ? full(sizes, value, options).to(gpu)
                                : full(sizes, value, options.device(gpu)),
                  value};
        } else if (below(4) == 0) {
          wrong += !held.t.cpu().equal(full(held.t.sizes(), held.value, TensorOptions(kInt64)));
          continue;
        } else {
          held = {(held.t + 1).mul_(2), (held.value + 1) * 2 % 1000003};
          held.t.remainder_(1000003);
        }
        const std::lock_guard lock(mutex);
        list[at] = held;
      }
    };
    std::vector<std::thread> threads;
    for (unsigned i = 1; i < kThreads; ++i) threads.emplace_back(program, i);
    program(0);
    for (std::thread& t : threads) t.join();
    REQUIRE(wrong == 0);
    for (const Held& held : list) {
      if (!held.t.defined()) continue;
      REQUIRE(held.t.cpu().equal(full(held.t.sizes(), held.value, TensorOptions(kInt64))));
    }
  }
}

TEST_CASE("gpu: an invalid index is reported only to the thread that launched the kernel") {
  if (!has_gpu()) return;
  const Device gpu("cuda");
  const Tensor x = ones({4, 3}, gpu), bad = tensor({1, 7}).to(gpu);
  synchronize(gpu);
  std::string message;
  in_turns(
      3, [&](int) { CHECK(x.sum().item<float>() == 12); },
      [&](int i) {
        if (i == 0) x.index_select(0, bad);
        if (i != 1) return;
        try {
          x.sum().item<float>();
        } catch (const IndexError& e) {
          message = e.what();
        }
      });
  CHECK(message == "index_select: expected an index in [0, 4), got 7");
}

TEST_CASE(
    "gpu: an error of a thread that has ended is thrown to the next thread that waits, once, and "
    "not for a new thread's work") {
  if (!has_gpu()) return;
  const Device gpu("cuda");
  const Tensor x = ones({4, 3}, gpu), bad = tensor({1, 7}).to(gpu);
  synchronize(gpu);
  std::thread([&] { x.index_select(0, bad); }).join();
  CHECK_THROWS_AS(synchronize(gpu), IndexError);
  CHECK_NOTHROW(synchronize(gpu));
  // The next threads reuse its stream.
  for (int i = 0; i < 3; ++i) {
    std::thread([&] { CHECK(x.sum().item<float>() == 12); }).join();
  }
  for (int i = 0; i < 3; ++i) std::thread([&] { x.index_select(0, bad); }).join();
  for (int i = 0; i < 3; ++i) CHECK_THROWS_AS(synchronize(gpu), IndexError);
  CHECK_NOTHROW(synchronize(gpu));
}

TEST_CASE("gpu: sizes beyond any GPU's memory are out-of-memory errors") {
  if (!has_gpu()) return;
  const TensorOptions bytes = TensorOptions(kUInt8).device(Device("cuda"));
  for (const int power : {42, 50, 60, 62}) {
    CAPTURE(power);
    CHECK_THROWS_AS(empty({int64_t{1} << power}, bytes), OutOfMemoryError);
  }
  CHECK(ones({3}, Device("cuda")).sum().item<float>() == 3);
}

TEST_CASE("gpu: threads that copy between two GPUs in both directions read the current values") {
  if (!has_two_gpus()) return;
  const Device first("cuda:0"), second("cuda:1");
  const Tensor here = zeros({5000}, first), there = zeros({5000}, second);
  std::vector<Tensor> seen;
  in_turns(
      30,
      [&](int i) {
        here.fill_(i);
        there.copy_(here);
        here.fill_(-1);
      },
      [&](int) {
        seen.push_back(there.to(first));
        seen.push_back(there + 1);
        there.fill_(-2);
      });
  for (size_t i = 0; i < 30; ++i) {
    CHECK(seen[2 * i].cpu().equal(full({5000}, static_cast<double>(i))));
    CHECK(seen[2 * i + 1].cpu().equal(full({5000}, static_cast<double>(i) + 1)));
  }
  // Each thread reads the tensor that the other writes: the values are unspecified, but both
  // threads end.
  const Tensor p = zeros({5000}, first), q = zeros({5000}, second);
  std::thread other([&] {
    for (int i = 0; i < 200; ++i) p.copy_(q);
  });
  for (int i = 0; i < 200; ++i) q.copy_(p);
  other.join();
  CHECK(p.cpu().equal(zeros({5000})));
}
