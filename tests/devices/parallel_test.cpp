// The number of threads: set once for the whole process, and without influence on what the cpu's
// own loops give.
#include <ambit/backend/kernels.h>
#include <ambit/error.h>
#include <ambit/ops/conv.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/matmul.h>
#include <ambit/ops/random.h>
#include <ambit/ops/reduce.h>
#include <ambit/parallel.h>
#include <doctest/doctest.h>

#include <array>
#include <thread>
#include <vector>

using namespace ambit;

namespace {

/// Put the number of threads back at the end of a test.
struct RestoreThreads {
  int before = get_num_threads();
  ~RestoreThreads() { set_num_threads(before); }
};

}  // namespace

TEST_CASE("set_num_threads holds for every thread of the process") {
  const RestoreThreads restore;
  set_num_threads(3);
  int seen = 0;
  std::thread([&] { seen = get_num_threads(); }).join();
  CHECK(get_num_threads() == 3);
  CHECK(seen == 3);
}

TEST_CASE("set_num_threads rejects less than one thread") {
  const int before = get_num_threads();
  CHECK_THROWS_WITH_AS(set_num_threads(0), "set_num_threads: expected at least 1, got 0", Error);
  CHECK_THROWS_AS(set_num_threads(-2), Error);
  CHECK(get_num_threads() == before);
}

TEST_CASE("sums on the cpu do not depend on the number of threads") {
  const RestoreThreads restore;
  manual_seed(1);
  // Enough for several threads in each of the ways a reduction is shared out.
  const Tensor x = randn({700, 1500}, kFloat64);
  set_num_threads(1);
  const Tensor all = x.sum(), rows = x.sum(1), columns = x.sum(0);
  for (int threads : {2, 3, 5}) {
    set_num_threads(threads);
    CHECK(equal(x.sum(), all));
    CHECK(equal(x.sum(1), rows));
    CHECK(equal(x.sum(0), columns));
  }
}

TEST_CASE("optimizer steps on the cpu do not depend on the number of threads") {
  const RestoreThreads restore;
  // Together enough for several threads, who share the tensors at odd places.
  const std::vector<Dims> sizes{{50001}, {3}, {40000}, {0}, {333, 111}, {1}};
  const auto lists = [&] {
    manual_seed(2);
    std::array<std::vector<Tensor>, 4> p_m_v_g;
    for (auto& list : p_m_v_g) {
      for (const Dims& s : sizes) list.push_back(rand(s));
    }
    return p_m_v_g;
  };
  const auto run = [&](int threads) {
    set_num_threads(threads);
    auto [p, m, v, g] = lists();
    kernels::adam_step(p, m, v, g, {});
    kernels::sgd_step(p, m, g, {.lr = 0.1, .momentum = 0.9});
    kernels::sgd_step(p, {nullptr, 0}, g, {.lr = 0.1, .weight_decay = 0.1});
    return p;
  };
  const auto expected = run(1);
  for (const int threads : {2, 3, 5}) {
    const auto got = run(threads);
    for (size_t i = 0; i < sizes.size(); ++i) CHECK(got[i].equal(expected[i]));
  }
}

TEST_CASE("an error in a thread of a kernel reaches the caller") {
  const RestoreThreads restore;
  set_num_threads(4);
  const Tensor a = full({1'000'000}, 7, kInt64);
  Tensor b = full({1'000'000}, 2, kInt64);
  b.data_ptr<int64_t>()[999'999] = 0;
  CHECK_THROWS_AS(floor_divide(a, b), Error);
  CHECK(floor_divide(a, full({1'000'000}, 2, kInt64))[999'999].item<int64_t>() == 3);
}

TEST_CASE("kernels that share their work among threads also run in a program's own threads") {
  const RestoreThreads restore;
  set_num_threads(2);
  manual_seed(3);
  const Tensor x = rand({32, 16, 32, 32}), w = rand({32, 16, 3, 3}), m = rand({512, 512});
  const auto run = [&] {
    const Tensor y = conv2d(x, w);
    return std::array<Tensor, 4>{y, conv2d_input_grad(y, w, x.sizes(), {}),
                                 conv2d_weight_grad(y, x, w.sizes(), {}), m.mm(m)};
  };
  const auto expected = run();  // keeps plans for two threads
  std::array<std::array<Tensor, 4>, 2> got;
#pragma omp parallel for num_threads(2)
  for (int i = 0; i < 2; ++i) got[static_cast<size_t>(i)] = run();
  // Positive summands, 32 * 30 * 30 for a weight, in another order: at most 2^-24 each.
  for (const auto& results : got) {
    for (size_t i = 0; i < 4; ++i) CHECK(results[i].allclose(expected[i], 28800 * 6e-8, 0));
  }
}
