// The number of threads: set once for the whole process, without an effect on results of the cpu.
#include <ambit/ambit.h>
#include <ambit/backend/kernels.h>
#include <ambit/detail/cores.h>
#include <ambit/error.h>
#include <ambit/ops/conv.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/matmul.h>
#include <ambit/ops/random.h>
#include <ambit/ops/reduce.h>
#include <ambit/parallel.h>
#include <doctest/doctest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/temporary_folder.h"

using namespace ambit;

namespace {

/// Restore the number of threads at the end of a test.
struct RestoreThreads {
  int before = get_num_threads();
  ~RestoreThreads() { set_num_threads(before); }
};

}  // namespace

TEST_CASE("set_num_threads applies to every thread of the process") {
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

TEST_CASE("the available cores are limited by processors and cgroups") {
  const TemporaryFolder root;
  const auto write = [&](const std::string& file, const std::string& text) {
    std::filesystem::create_directories((root.path() / file).parent_path());
    std::ofstream(root.path() / file) << text;
  };
  const int all = available_cores(root.path());  // only the processors are known
  cpu_set_t processors;
  REQUIRE(sched_getaffinity(0, sizeof processors, &processors) == 0);
  CHECK(all == CPU_COUNT(&processors));
  SUBCASE("one processor") {
    cpu_set_t first;
    CPU_ZERO(&first);
    for (int i = 0; CPU_COUNT(&first) == 0; ++i) {
      if (CPU_ISSET(i, &processors)) CPU_SET(i, &first);
    }
    REQUIRE(sched_setaffinity(0, sizeof first, &first) == 0);
    CHECK(available_cores(root.path()) == 1);
    CHECK(sched_setaffinity(0, sizeof processors, &processors) == 0);
  }
  SUBCASE("all processors are hyperthreads of one core") {
    for (int i = 0; i < CPU_SETSIZE; ++i) {
      if (!CPU_ISSET(i, &processors)) continue;
      write("sys/devices/system/cpu/cpu" + std::to_string(i) + "/topology/thread_siblings_list",
            "0-7\n");
    }
    CHECK(available_cores(root.path()) == 1);
  }
  SUBCASE("version 2: half a core for a group of this process") {
    write("proc/self/cgroup", "0::/system.slice/job.service\n");
    write("sys/fs/cgroup/system.slice/cpu.max", "50000 100000\n");
    write("sys/fs/cgroup/system.slice/job.service/cpu.max", "max 100000\n");
    CHECK(available_cores(root.path()) == 1);
  }
  SUBCASE("version 2: more than there are") {
    write("proc/self/cgroup", "0::/\n");
    write("sys/fs/cgroup/cpu.max", "99900000 100000\n");
    CHECK(available_cores(root.path()) == all);
  }
  SUBCASE("version 1") {
    write("proc/self/cgroup", "5:memory:/job\n4:cpu,cpuacct:/job\n");
    write("sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "20000\n");
    write("sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000\n");
    CHECK(available_cores(root.path()) == 1);
    write("sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "-1\n");
    CHECK(available_cores(root.path()) == all);
  }
  SUBCASE("invalid files") {
    write("proc/self/cgroup", "0:\n::\n\n0::/../../x\n");
    write("sys/fs/cgroup/cpu.max", "many 0\n");
    CHECK(available_cores(root.path()) == all);
  }
}

TEST_CASE("sums on the cpu do not depend on the number of threads") {
  const RestoreThreads restore;
  manual_seed(1);
  // Enough elements for several threads in each way of splitting a reduction.
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
  // Together enough elements for several threads, whose limits are within tensors.
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
    kernels::adam_step(p, m, v, {nullptr, 0}, g, {});
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

TEST_CASE("products and convolutions on the cpu do not depend on the number of threads") {
  const RestoreThreads restore;
  // Tall, wide, thin and odd sizes, with each operand row-major and transposed.
  std::vector<Tensor> expected;
  const auto run = [](const auto& take) {
    manual_seed(4);
    for (const auto& [m, n, k] : std::vector<std::array<int64_t, 3>>{{700, 300, 200},
                                                                     {34, 498, 887},
                                                                     {1, 3000, 700},
                                                                     {5000, 1, 90},
                                                                     {264, 49, 491},
                                                                     {1, 1, 300000},
                                                                     {1, 16, 70000},
                                                                     {64, 1, 4096},
                                                                     {16, 16, 9000},
                                                                     {10, 10, 30000},
                                                                     {17, 32, 9000},
                                                                     {2, 33, 70000}}) {
      const Tensor a = rand({m, k}), b = rand({k, n});
      take(a.mm(b));
      take(rand({k, m}).t().mm(b));
      take(linear(a, rand({n, k}), rand({n})));
    }
    take(rand({6, 130, 150}).bmm(rand({6, 150, 140})));
    for (const int64_t images : {1, 3, 20}) {
      const Tensor x = rand({images, 20, 40, 30}), w = rand({36, 20, 3, 3}), b = rand({36});
      for (const ConvParams& p : {ConvParams{}, ConvParams{{2, 1}, {1, 2}, {1, 2}}}) {
        const Tensor y = conv2d(x, w, b, p);
        take(y);
        take(convolution_input_grad(y, w, x.sizes(), p));
        take(convolution_weight_grad(y, x, w.sizes(), p));
      }
    }
  };
  set_num_threads(1);
  run([&](const Tensor& t) { expected.push_back(t); });
  for (const int threads : {2, 3, 7}) {
    set_num_threads(threads);
    size_t i = 0;
    run([&](const Tensor& t) {
      INFO("result ", i, ", ", threads, " threads");
      CHECK(t.equal(expected.at(i++)));
    });
  }
}

#ifndef __SANITIZE_THREAD__  // ThreadSanitizer does not see the barriers of OpenMP
TEST_CASE("kernels that split their work among threads also run in a program's own OpenMP loops") {
  const RestoreThreads restore;
  set_num_threads(2);
  manual_seed(3);
  const Tensor x = rand({32, 16, 32, 32}), w = rand({32, 16, 3, 3}), m = rand({512, 512});
  const auto run = [&] {
    const Tensor y = conv2d(x, w);
    return std::array<Tensor, 4>{y, convolution_input_grad(y, w, x.sizes(), {}),
                                 convolution_weight_grad(y, x, w.sizes(), {}), m.mm(m)};
  };
  const auto expected = run();
  std::array<std::array<Tensor, 4>, 2> got;
#pragma omp parallel for num_threads(2)
  for (int i = 0; i < 2; ++i) got[static_cast<size_t>(i)] = run();
  for (const auto& results : got) {
    for (size_t i = 0; i < 4; ++i) CHECK(results[i].equal(expected[i]));
  }
}
#endif

TEST_CASE("sixteen threads share a network in inference") {
  manual_seed(7);
  nn::Sequential net(nn::Conv2d(nn::Conv2dOptions(3, 16, 3).padding(1)), nn::BatchNorm2d(16),
                     nn::Functional(relu), nn::Conv2d(nn::Conv2dOptions(16, 24, 3)),
                     nn::Functional(relu), nn::MaxPool2d(2), nn::Flatten(),
                     nn::Linear(24 * 7 * 7, 10));
  net->eval();
  std::vector<Tensor> inputs, expected;
  for (int64_t batch = 1; batch <= 4; ++batch) {
    const NoGradGuard no_grad;
    inputs.push_back(rand({batch * 3, 3, 16, 16}));
    expected.push_back(net(inputs.back()));
  }
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (size_t i = 0; i < 16; ++i) {
    threads.emplace_back([&, i] {
      const NoGradGuard no_grad;
      for (size_t round = 0; round < 20; ++round) {
        const size_t k = (i + round) % inputs.size();
        if (!net(inputs[k]).equal(expected[k])) ++wrong;
      }
    });
  }
  for (std::thread& t : threads) t.join();
  CHECK(wrong == 0);
}

TEST_CASE("many short threads compute concurrently, while the number of threads changes") {
  const RestoreThreads restore;
  manual_seed(5);
  const Tensor m = rand({200, 200}), x = rand({100'000});
  const Tensor product = m.mm(m), sum = x.add(x).sum();
  std::atomic<int> wrong{0};
  for (int round = 0; round < 63; ++round) {
    std::vector<std::thread> threads;
    for (int i = 0; i < 16; ++i) {
      threads.emplace_back([&, i] {
        if (i == 0) set_num_threads(1 + round % 5);
        if (!m.mm(m).equal(product) || !x.add(x).sum().equal(sum)) ++wrong;
      });
    }
    for (std::thread& t : threads) t.join();
  }
  CHECK(wrong == 0);
}

#ifndef __SANITIZE_THREAD__  // ThreadSanitizer ends a forked child that starts threads
TEST_CASE("a forked child has its own threads") {
  const RestoreThreads restore;
  set_num_threads(4);
  manual_seed(6);
  const Tensor m = rand({300, 300}), product = m.mm(m);  // starts the threads
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);  // ends only a child that hangs
    set_num_threads(3);
    _exit(m.mm(m).equal(product) && m.add(m).equal(m.mul(2)) ? 0 : 1);
  }
  REQUIRE(child > 0);
  int status = -1;
  waitpid(child, &status, 0);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(m.mm(m).equal(product));
}
#endif
