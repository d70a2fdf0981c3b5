// Process groups of threads: every collective, failures, and errors found before a deadlock.
#include <stdlib.h>

#include <atomic>
#include <stdexcept>
#include <thread>

#include "collectives.h"
#include "errors.h"
#include "tests/devices.h"

using namespace ambit;
using namespace ambit::distributed;
using std::chrono::seconds;

TEST_CASE("collectives of 1 to 5 threads agree with plain loops, for all dtypes, sizes and views") {
  for (int size = 1; size <= 5; ++size) {
    run_local(size, [&](const std::shared_ptr<ProcessGroup>& group) {
      collectives::check_all(*group, {kCPU});
      collectives::check_nan(*group);
      collectives::check_unsigned(*group);
    });
  }
}

TEST_CASE("collectives accept tensors of any device") {
  for_each_device([](Device device) {
    run_local(2, [&](const std::shared_ptr<ProcessGroup>& group) {
      collectives::check(*group, kFloat32, 1001, device, false);
      collectives::check(*group, kInt64, 5, device, true);
    });
  });
}

TEST_CASE("64 MiB arrive in every element, through every collective") {
  run_local(2,
            [&](const std::shared_ptr<ProcessGroup>& group) { collectives::check_large(*group); });
}

TEST_CASE("several collectives run concurrently, and are awaited in any order") {
  run_local(3, [](const std::shared_ptr<ProcessGroup>& group) {
    std::vector<Tensor> tensors;
    std::vector<std::shared_ptr<Work>> works;
    for (int i = 0; i < 20; ++i) {
      tensors.push_back(full({i}, i));
      works.push_back(group->allreduce(tensors.back()));
    }
    for (size_t i = works.size(); i-- > 0;) {
      works[i]->wait();
      CHECK(works[i]->is_success());
      collectives::expect("allreduce", tensors[i],
                          full({static_cast<int64_t>(i)}, static_cast<int64_t>(3 * i)));
    }
  });
}

TEST_CASE("subgroups have their own ranks, in the given order, and do not affect other ranks") {
  run_local(4, [](const std::shared_ptr<ProcessGroup>& group) {
    const auto odd = group->new_group({3, 1});
    CHECK((odd != nullptr) == (group->rank() % 2 == 1));
    if (odd) {
      CHECK(odd->size() == 2);
      CHECK(odd->rank() == (group->rank() == 3 ? 0 : 1));
      Tensor t = full({2}, group->rank());
      odd->broadcast(t, 0)->wait();
      collectives::expect("broadcast", t, full({2}, 3));
    }
    group->barrier()->wait();
    CHECK_THROWS_AS(group->new_group({0, 0}), Error);
    CHECK_THROWS_AS(group->new_group({4}), Error);
  });
}

TEST_CASE(
    "invalid calls are typed errors before anything is exchanged, and the group remains usable") {
  run_local(2, [](const std::shared_ptr<ProcessGroup>& group) {
    const Tensor f = ones({2}), i = ones({2}, TensorOptions(kInt32));
    CHECK(error_of([&] { group->allreduce(i, distributed::ReduceOp::AVG); }) ==
          "allreduce: expected a floating-point dtype for AVG, got int32");
    CHECK(error_of([&] { group->allreduce(f, distributed::ReduceOp::BXOR); }) ==
          "allreduce: expected integers or bool for BXOR, got float32");
    CHECK(error_of([&] { group->broadcast(f, 2); }) == "broadcast: expected a rank below 2, got 2");
    CHECK_THROWS_AS(group->allreduce(Tensor()), Error);
    CHECK_THROWS_AS(group->allreduce(empty({2}, TensorOptions(kMeta))), BackendError);
    CHECK_THROWS_AS(group->allgather({f}, f), Error);
    CHECK_THROWS_AS(group->allgather({f, ones({3})}, f), ShapeError);
    CHECK_THROWS_AS(group->allgather({f, i}, f), DTypeError);
    CHECK_THROWS_AS(group->send(f, group->rank()), Error);
    CHECK(error_of([&] {
            group->allgather({f, f.to("reference")}, f);
          }) == "expected device cpu but got device reference:0");
    Tensor t = ones({2});
    group->allreduce(t)->wait();
    collectives::expect("allreduce", t, full({2}, 2.0F));
  });
}

TEST_CASE("a rank that throws ends the others with an error that has its rank and the reason") {
  std::atomic<int> reports{0};
  const auto body = [&](const std::shared_ptr<ProcessGroup>& group) {
    if (group->rank() == 1) throw std::runtime_error("no luck");
    try {
      Tensor t = ones({1});
      group->allreduce(t)->wait();
    } catch (const DistributedError& e) {
      CHECK(std::string(e.what()) == "expected rank 1 to continue, got an error there: no luck");
      ++reports;
      throw;
    }
  };
  CHECK_THROWS_WITH(run_local(3, body), "no luck");
  CHECK(reports == 2);
}

TEST_CASE("the error for a rank that hangs names it and the collective within the timeout") {
  std::atomic<bool> over{false};
  std::atomic<int> reports{0};
  run_local(
      3,
      [&](const std::shared_ptr<ProcessGroup>& group) {
        group->barrier()->wait(seconds(100));  // until all have started
        if (group->rank() == 2) {
          while (!over) std::this_thread::yield();
          return;
        }
        Tensor t = ones({1});
        const std::string text = error_of([&] { group->allreduce(t)->wait(); });
        CHECK(text ==
              "allreduce: expected all ranks in collective 2 within 2 s, got all but rank 2 "
              "(has entered 1 collectives)");
        // The group is unusable, and its errors say why.
        CHECK(error_of([&] { group->barrier()->wait(); }) == text);
        if (++reports == 2) over = true;
      },
      seconds(2));
  CHECK(reports == 2);
}

TEST_CASE("a rank that leaves is reported at once") {
  run_local(2, [](std::shared_ptr<ProcessGroup> group) {
    if (group->rank() == 0) return group.reset();
    Tensor t = ones({1});
    CHECK(error_of([&] { group->allreduce(t)->wait(); }) ==
          "allreduce: expected rank 0 to take part, but it has left the group");
    CHECK(error_of([&] { group->recv(t, 0)->wait(); }) ==
          "recv: expected rank 0 to take part, but it has left the group");
  });
}

TEST_CASE("receiving a message that is never sent is an error within the timeout") {
  run_local(
      2,
      [](const std::shared_ptr<ProcessGroup>& group) {
        if (group->rank() == 0) {
          Tensor t = ones({1});
          CHECK(error_of([&] { group->recv(t, 1)->wait(std::chrono::milliseconds(100)); }) ==
                "recv: expected rank 1 to take part within 0.1 s, got no call from it");
        } else {
          CHECK_THROWS_AS(group->barrier()->wait(), DistributedError);
        }
      },
      seconds(20));
}

TEST_CASE("different calls of ranks are an error, in debug mode with both calls") {
  const auto run = [](auto call) {
    std::string texts[2];
    run_local(
        2,
        [&](const std::shared_ptr<ProcessGroup>& group) {
          texts[group->rank()] = error_of([&] { call(*group)->wait(); });
        },
        seconds(20));
    const auto calls = [](const std::string& text) { return text.substr(text.find(": ")); };
    CHECK(calls(texts[0]) == calls(texts[1]));  // each starts with its own call
    return texts[0];
  };
  const auto dtypes = [](ProcessGroup& g) {
    return g.allreduce(ones({3}, TensorOptions(g.rank() == 0 ? kFloat32 : kFloat64)));
  };
  const auto ops = [](ProcessGroup& g) {
    return g.allreduce(ones({3}),
                       g.rank() == 0 ? distributed::ReduceOp::SUM : distributed::ReduceOp::MAX);
  };
  CHECK(contains(run(dtypes), "3 float64, root 0 on rank 1"));
  CHECK(contains(run(ops), "allreduce SUM of 3 float32, root 0 on rank 0 and allreduce MAX of 3"));
  setenv("AMBIT_DISTRIBUTED_DEBUG", "1", 1);
  CHECK(run(dtypes) ==
        "allreduce: expected the same call on all ranks, got allreduce(float32[3], SUM, root 0) on "
        "rank 0 and allreduce(float64[3], SUM, root 0) on rank 1");
  CHECK(contains(run(ops), "float32[3], SUM, root 0) on rank 0 and allreduce(float32[3], MAX,"));
  CHECK(contains(run([](ProcessGroup& g) {
                   return g.allreduce(ones({3 - g.rank(), 2}));
                 }),
                 "float32[3, 2], SUM, root 0) on rank 0 and allreduce(float32[2, 2]"));
  CHECK(contains(
      run([](ProcessGroup& g) { return g.rank() == 0 ? g.barrier() : g.broadcast(ones({1}), 1); }),
      "got barrier() on rank 0 and broadcast(float32[1], SUM, root 1)"));
  run_local(2, [](const std::shared_ptr<ProcessGroup>& g) {
    collectives::check(*g, kFloat32, 5, kCPU, false);
  });
  unsetenv("AMBIT_DISTRIBUTED_DEBUG");
}

TEST_CASE("no rank ever hangs, wherever one stops") {
  for (int i = 0; i < 100; ++i) {
    const int victim = i % 3, steps = (i * 7) % 11;
    std::atomic<int> ended{0};
    run_local(
        3,
        [&](std::shared_ptr<ProcessGroup> group) {
          try {
            for (int step = 0; step < 12; ++step) {
              if (group->rank() == victim && step == steps) return group.reset();
              const auto first = group->allreduce(ones({step + 1}));
              const auto second = group->broadcast(ones({2}), step % 3);
              second->wait();
              first->wait();
            }
          } catch (const DistributedError&) {
            ++ended;
          }
        },
        seconds(60));
    CHECK(ended == 2);
  }
}

TEST_CASE("the default group is created once, found, and destroyed") {
  CHECK_FALSE(is_initialized());
  CHECK_THROWS_AS(default_group(), Error);
  const auto group = init_process_group("local");
  CHECK(default_group() == group);
  CHECK(group->size() == 1);
  CHECK_THROWS_AS(init_process_group("local"), Error);
  destroy_process_group();
  CHECK_FALSE(is_initialized());
  const std::string text = error_of([] { init_process_group("carrier_pigeon"); });
  CHECK(contains(text,
                 "expected the name of a communicator, got \"carrier_pigeon\"; existing: local"));
  CHECK(contains(text, "no libambit_carrier_pigeon.so in "));
  setenv("WORLD_SIZE", "2", 1);
  CHECK(contains(error_of([] { init_process_group("local"); }), "got 0 of 1 from local"));
  unsetenv("WORLD_SIZE");
  CHECK_THROWS_AS(local_groups(0), Error);
}
