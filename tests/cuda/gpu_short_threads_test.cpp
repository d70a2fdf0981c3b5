// Threads that end while their work is queued: the next ones have their streams, and what they
// report is told, in a number of records that does not grow with that of threads. Where there is no
// GPU, these cases have nothing to run on and say so.
#include <ambit/ambit.h>
#include <ambit/cuda_counters.h>
#include <doctest/doctest.h>

#include <functional>
#include <future>
#include <thread>

#include "has_gpu.h"

using namespace ambit;

namespace {

// With the work of some threads still queued, each with a record. What the GPU is behind with is
// far less than this, and far less than the number of threads.
constexpr uint64_t kFew = 60;
constexpr int kMany = 600;

void run_in_thread(const std::function<void()>& f) { std::thread(f).join(); }

int told_faults(const Device& gpu) {
  for (int told = 0;; ++told) {
    try {
      synchronize(gpu);
      return told;
    } catch (const IndexError&) {
    }
  }
}

}  // namespace

// The first one: later there are records that nobody has.
TEST_CASE("gpu: a new thread gets a stream that is done, where there is one") {
  if (!has_gpu()) return;
  const Device gpu("cuda");
  const Tensor x = ones({3}, gpu), y = zeros({3}, gpu);
  for (int round = 0; round < 20; ++round) {
    CAPTURE(round);
    synchronize(gpu);
    // Both have a stream at the same time; the one that is at work is given back last.
    std::promise<void> is_done, is_queued, is_given_back;
    std::thread done([&] {
      CHECK(x.sum().item<float>() == 3);
      is_done.set_value();
      is_queued.get_future().wait();
    });
    std::thread busy([&] {
      is_done.get_future().wait();
      for (int i = 0; i < 100; ++i) y.add_(1);
      is_queued.set_value();
      is_given_back.get_future().wait();
    });
    done.join();
    const uint64_t before = cuda::counters().fault_records;
    is_given_back.set_value();
    busy.join();
    run_in_thread([&] { CHECK(x.sum().item<float>() == 3); });
    CHECK(cuda::counters().fault_records == before);
  }
  CHECK(y.sum().item<float>() == 6000);
}

TEST_CASE("gpu: threads that end with work queued leave few records behind") {
  if (!has_gpu()) return;
  const Device gpu("cuda");
  const Tensor x = zeros({3}, gpu);
  synchronize(gpu);
  const uint64_t before = cuda::counters().fault_records;
  for (int i = 0; i < kMany; ++i) {
    run_in_thread([&] { x.add_(1).mul_(1); });
  }
  CHECK(cuda::counters().fault_records - before < kFew);
  CHECK(x.sum().item<float>() == 3 * kMany);
}

TEST_CASE("gpu: what threads have reported that ended long ago is told, each once") {
  if (!has_gpu()) return;
  const Device gpu("cuda");
  const Tensor x = ones({4, 3}, gpu), good = tensor({1, 2}).to(gpu), bad = tensor({1, 7}).to(gpu);
  REQUIRE(told_faults(gpu) == 0);
  uint64_t records = 0;
  for (int round = 0; round < 2; ++round) {
    CAPTURE(round);
    for (int i = 0; i < 200; ++i) {
      run_in_thread([&] { x.index_select(0, i % 10 == 3 ? bad : good); });
    }
    CHECK(told_faults(gpu) == 20);
    CHECK(told_faults(gpu) == 0);
    if (round == 0) records = cuda::counters().fault_records;
  }
  // What was told is used again.
  CHECK(cuda::counters().fault_records - records < 20);
}
