// The same over MPI: this program, started by mpirun, runs hidden test cases of its own. Where
// there is no mpirun, or ambit was built without MPI, it says so.
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>

#include <atomic>
#include <random>
#include <thread>

#include "collectives.h"
#include "on_ranks.h"
#include "training.h"

using namespace ambit;
using namespace ambit::distributed;
using std::chrono::seconds;

// In the place of MPI's own, for the plugin, too.
std::atomic<int> communicators_freed{0};
extern "C" __attribute__((visibility("default"))) int MPI_Comm_free(void* communicator) {
  ++communicators_freed;
  static const auto own = reinterpret_cast<int (*)(void*)>(dlsym(RTLD_DEFAULT, "PMPI_Comm_free"));
  return own(communicator);
}

namespace {

ProcessGroupOptions two_seconds() {
  ProcessGroupOptions options;
  options.timeout = seconds(2);
  return options;
}

constexpr const char* kTcp = "--mca btl tcp,self --mca btl_tcp_if_include lo";

}  // namespace

TEST_CASE("mpi child: collectives" * doctest::skip()) {
  const auto group = init_process_group("mpi");
  CHECK(group->size() == std::stoi(getenv("EXPECTED_RANKS")));
  CHECK(local_rank() == group->rank());
  collectives::check_all(*group, {kCPU});
  collectives::check(*group, kFloat32, 1001, Device("sim"), false);
  const auto part = group->size() == 1 ? nullptr : group->new_group({group->size() - 1, 0});
  if (part) {
    collectives::check(*part, kInt64, 10, kCPU, true);
  }
  collectives::check_nan(*group);
  Tensor large = full({int64_t{16} << 20}, group->rank() + 1);
  group->allreduce(large)->wait();
  const int ranks = group->size();
  CHECK((large == ranks * (ranks + 1) / 2).all().item<bool>());
  CHECK_THROWS_AS(init_process_group("mpi"), Error);
  destroy_process_group();
}

TEST_CASE("collectives over MPI agree with plain loops, in shared memory, over TCP and in pieces") {
  if (!has_mpi()) return;
  expect_success(on_ranks(2, "mpi child: collectives", "EXPECTED_RANKS=2"));
  expect_success(on_ranks(4, "mpi child: collectives", "EXPECTED_RANKS=4"));
  expect_success(on_ranks(3, "mpi child: collectives", "EXPECTED_RANKS=3", kTcp));
  // Shares of more than INT_MAX elements go in pieces; here those of more than 300.
  expect_success(on_ranks(3, "mpi child: collectives", "EXPECTED_RANKS=3 AMBIT_MPI_PIECE=300000"));
  expect_success(on_ranks(2, "mpi child: small pieces", "AMBIT_MPI_PIECE=3"));
  expect_success(on_ranks(1, "mpi child: collectives", "EXPECTED_RANKS=1"));
}

TEST_CASE("mpi child: small pieces" * doctest::skip()) {
  const auto group = init_process_group("mpi");
  for (const DType dtype : dtypes::kEvery) collectives::check(*group, dtype, 100, kCPU, false);
}

TEST_CASE("mpi child: subgroups" * doctest::skip()) {
  const auto group = init_process_group("mpi");
  constexpr int kGroups = 10;
  for (int i = 0; i < kGroups; ++i) {
    const auto part = group->new_group({i % group->size(), (i + 1) % group->size()});
    if (part) part->allreduce(ones({3}))->wait();
  }
  // Rank 2 of three is in six of the ten, the others in seven; each has two communicators.
  const int mine = group->rank() == 2 ? 6 : 7;
  group->barrier()->wait();
  while (communicators_freed < 2 * mine) std::this_thread::yield();
  group->barrier()->wait();
  CHECK(communicators_freed == 2 * mine);
}

TEST_CASE("what MPI holds of a subgroup is freed when all its ranks have left it") {
  if (!has_mpi()) return;
  expect_success(on_ranks(3, "mpi child: subgroups"));
}

TEST_CASE("mpi child: training" * doctest::skip()) {
  const auto group = init_process_group("mpi");
  for (const char* name : {"cpu", "reference", "cuda:0"}) {
    const Device device(name);
    const int steps = device.is_cpu() ? 50 : 3;
    const training::Result alone = training::train(nullptr, nullptr, device, steps);
    const auto result = training::train(group.get(), group, device, steps);
    training::expect_same_losses(result, alone);
    training::expect_in_step(*group, result);
  }
}

TEST_CASE("training over MPI is training on one process with the same batches") {
  if (!has_mpi()) return;
  expect_success(on_ranks(2, "mpi child: training"));
  expect_success(on_ranks(4, "mpi child: training", "", kTcp));
}

TEST_CASE("mpi child: a rank hangs" * doctest::skip()) {
  const auto group = init_process_group("mpi", two_seconds());
  group->barrier()->wait(seconds(100));  // whenever all have started
  if (group->rank() == 1) {
    for (;;) std::this_thread::yield();
  }
  Tensor t = ones({1});
  group->allreduce(t)->wait();
}

TEST_CASE("mpi child: a rank throws" * doctest::skip()) {
  const auto group = init_process_group("mpi");
  group->barrier()->wait();
  if (group->rank() == 1) throw Error("no luck");
  Tensor t = ones({1});
  group->allreduce(t)->wait();
}

TEST_CASE("mpi child: a rank is killed" * doctest::skip()) {
  const auto group = init_process_group("mpi", two_seconds());
  group->barrier()->wait();
  std::jthread killer;
  if (group->rank() == std::stoi(getenv("VICTIM"))) {
    killer = std::jthread([] {
      std::this_thread::sleep_for(std::chrono::microseconds(std::stoi(getenv("AFTER_US"))));
      raise(SIGKILL);
    });
  }
  for (int step = 0;; ++step) {
    const auto first = group->allreduce(ones({step % 7 * 10000 + 1}));
    group->broadcast(ones({2}), step % group->size())->wait();
    first->wait();
  }
}

TEST_CASE("mpi child: other calls" * doctest::skip()) {
  const auto group = init_process_group("mpi", two_seconds());
  Tensor t = ones({2 + group->rank()});
  group->allreduce(t)->wait();
}

TEST_CASE("a rank that hangs is named with the collective within the timeout, and all end") {
  if (!has_mpi()) return;
  expect_rank_1_missed(on_ranks(3, "mpi child: a rank hangs"));
}

TEST_CASE("a rank that throws and ends is named at once") {
  if (!has_mpi()) return;
  const ChildResult result = on_ranks(3, "mpi child: a rank throws");
  INFO(result.output);
  CHECK(result.exit_code != 0);
  CHECK(contains(result.output, "no luck"));
  CHECK(
      contains(result.output,
               "allreduce: expected rank 1 to take part, got to know that it has left the group"));
}

TEST_CASE("a rank that is killed, whenever that is, ends the others") {
  if (!has_mpi()) return;
  const char* const kills = getenv("AMBIT_KILLS");  // how many; more than a few take minutes
  std::mt19937 random(7);
  for (int i = 0; i < (kills ? std::stoi(kills) : 4); ++i) {
    const unsigned ranks = 2 + random() % 3, victim = random() % ranks, after = random() % 30000;
    const ChildResult result = on_ranks(static_cast<int>(ranks), "mpi child: a rank is killed",
                                        fmt::format("VICTIM={} AFTER_US={}", victim, after));
    INFO("kill " << i << ": rank " << victim << " of " << ranks << " after " << after << " us\n"
                 << result.output);
    CHECK(result.exit_code != 0);
    CHECK(result.exit_code != 124);  // of timeout
    CHECK_FALSE(contains(result.output, "1 passed"));
  }
}

TEST_CASE("ranks that call different things are told so in debug mode, before they hang") {
  if (!has_mpi()) return;
  const ChildResult result = on_ranks(2, "mpi child: other calls", "AMBIT_DISTRIBUTED_DEBUG=1");
  INFO(result.output);
  CHECK(result.exit_code != 0);
  CHECK(contains(result.output,
                 "got allreduce(float32[2], SUM, root 0) on rank 0 and allreduce(float32[3], SUM, "
                 "root 0) on rank 1"));
}

TEST_CASE("ranks and sizes that the environment says otherwise are refused") {
  if (!has_mpi()) return;
  const ChildResult result = on_ranks(1, "mpi child: small pieces", "WORLD_SIZE=2 RANK=0");
  INFO(result.output);
  CHECK(contains(result.output, "expected rank 0 of 2, as RANK and WORLD_SIZE say, got 0 of 1"));
}
