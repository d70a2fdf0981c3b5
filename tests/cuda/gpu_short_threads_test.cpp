// Threads that end with queued work: later threads reuse their streams and report their errors, and
// the number of records does not grow with the number of threads. Without a GPU these cases are
// skipped with a note.
#include <ambit/ambit.h>
#include <ambit/cuda_counters.h>
#include <doctest/doctest.h>

#include <functional>
#include <future>
#include <thread>

#include "has_gpu.h"

using namespace ambit;

namespace {

// Limit of the records while work of some threads is still queued, with one record each. The GPU's
// backlog is far below this limit, and the limit is far below the number of threads.
constexpr uint64_t kFew = 60;
constexpr int kMany = 600;

void run_in_thread(const std::function<void()>& f) { std::thread(f).join(); }

int reported_faults(const Device& gpu) {
  for (int count = 0;; ++count) {
    try {
      synchronize(gpu);
      return count;
    } catch (const IndexError&) {
    }
  }
}

}  // namespace

// This must be the first case, because later there are unused records.
TEST_CASE("gpu: a new thread gets an idle stream if there is one") {
  if (!has_gpu()) return;
  const Device gpu("cuda");
  const Tensor x = ones({3}, gpu), y = zeros({3}, gpu);
  for (int round = 0; round < 20; ++round) {
    CAPTURE(round);
    synchronize(gpu);
    // Both threads have a stream at the same time; the busy one is returned last.
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

TEST_CASE("gpu: threads that end with queued work leave few records") {
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

TEST_CASE("gpu: faults of threads that ended long ago are reported, each once") {
  if (!has_gpu()) return;
  const Device gpu("cuda");
  const Tensor x = ones({4, 3}, gpu), good = tensor({1, 2}).to(gpu), bad = tensor({1, 7}).to(gpu);
  REQUIRE(reported_faults(gpu) == 0);
  uint64_t records = 0;
  for (int round = 0; round < 2; ++round) {
    CAPTURE(round);
    for (int i = 0; i < 200; ++i) {
      run_in_thread([&] { x.index_select(0, i % 10 == 3 ? bad : good); });
    }
    CHECK(reported_faults(gpu) == 20);
    CHECK(reported_faults(gpu) == 0);
    if (round == 0) records = cuda::counters().fault_records;
  }
  // Records of reported faults are reused.
  CHECK(cuda::counters().fault_records - records < 20);
}
