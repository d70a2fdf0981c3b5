// Failures of MPI processes: ranks that hang, stop, throw, die or make other calls.
#include <signal.h>
#include <stdlib.h>

#include <random>
#include <thread>

#include "collectives.h"
#include "on_ranks.h"
#include "training.h"

using namespace ambit;
using namespace ambit::distributed;
using std::chrono::seconds;

namespace {

// A group with a timeout of 2 s for all processes, which have more time to start. mpirun does not
// always notice a process that is killed during its start; then the timeout ends the others.
std::shared_ptr<ProcessGroup> join() {
  const auto group = init_process_group("mpi", {.timeout = seconds(20)});
  group->barrier()->wait();
  group->set_timeout(seconds(2));
  return group;
}

}  // namespace

TEST_CASE("mpi child: rank 1 does not take part" * doctest::skip()) {
  const auto group = join();
  const std::string what = getenv("WHAT");
  if (group->rank() == 1) {
    if (what == "throws") throw Error("no luck");
    if (what == "stops") raise(SIGSTOP);
    if (what == "dies") raise(SIGKILL);
    for (;;) std::this_thread::yield();
  }
  allreduce_in_time(*group, ones({1}));
}

TEST_CASE(
    "the error for a rank that hangs names it and the collective within the timeout, and all end") {
  if (!has_mpi()) return;
  const ChildResult result = on_ranks(3, "mpi child: rank 1 does not take part", "WHAT=hangs");
  CHECK(result.exit_code != 0);
  expect_rank_1_missed(result);
}

TEST_CASE("so does the error for one that is stopped and does not respond") {
  if (!has_mpi()) return;
  expect_rank_1_missed(on_ranks(2, "mpi child: rank 1 does not take part", "WHAT=stops"),
                       "does not answer");
}

TEST_CASE("one that dies is reported by mpirun, or by the others if mpirun does not end them") {
  if (!has_mpi()) return;
  const ChildResult ended = on_ranks(2, "mpi child: rank 1 does not take part", "WHAT=dies");
  INFO(ended.output);
  CHECK(ended.exit_code != 0);
  CHECK(contains(ended.output, "mpirun noticed that process rank 1 with PID"));
  // mpirun returns 0 in this case.
  expect_rank_1_missed(
      on_ranks(2, "mpi child: rank 1 does not take part", "WHAT=dies", "--enable-recovery"),
      "does not answer");
}

TEST_CASE("a rank that throws and ends is reported at once") {
  if (!has_mpi()) return;
  const ChildResult result = on_ranks(2, "mpi child: rank 1 does not take part", "WHAT=throws");
  INFO(result.output);
  CHECK(result.exit_code != 0);
  CHECK(contains(result.output, "no luck"));
  CHECK(contains(result.output,
                 "allreduce: expected rank 1 to take part, but it has left the group"));
}

TEST_CASE("mpi child: rank 1 does not begin" * doctest::skip()) {
  if (std::string(getenv("OMPI_COMM_WORLD_RANK")) == "1") {
    for (;;) std::this_thread::yield();
  }
  init_process_group("mpi", {.timeout = seconds(2)});
}

TEST_CASE("a rank that never begins ends the others within the timeout") {
  if (!has_mpi()) return;
  const ChildResult result = on_ranks(2, "mpi child: rank 1 does not begin");
  INFO(result.output);
  CHECK(result.exit_code != 0);
  CHECK(result.exit_code != 124);  // of timeout
  CHECK(contains(
      result.output,
      "init_process_group: expected all ranks to take part within 2 s, but it still waits"));
}

TEST_CASE("mpi child: a rank is killed" * doctest::skip()) {
  const std::string when = getenv("WHEN");
  std::jthread killer;
  const auto kill_later = [&] {
    if (std::string(getenv("OMPI_COMM_WORLD_RANK")) != getenv("VICTIM")) return;
    killer = std::jthread([] {
      std::this_thread::sleep_for(std::chrono::microseconds(std::stoi(getenv("AFTER_US"))));
      raise(SIGKILL);
    });
  };
  if (when == "it begins") kill_later();
  const auto group = join();
  if (when != "it begins") kill_later();
  if (when == "it ends") {
    destroy_process_group();
    return killer.join();
  }
  if (when == "it trains") training::train({.steps = 1'000'000}, group);
  for (int step = 0;; ++step) {
    const auto first = group->allreduce(ones({step % 7 * 10000 + 1}));
    group->broadcast(ones({2}), step % group->size())->wait();
    first->wait();
  }
}

TEST_CASE("a rank that is killed at any moment ends the others") {
  if (!has_mpi()) return;
  struct Time {
    const char* when;
    unsigned most_us;
  };
  // Starting takes 0.2 s, ending some milliseconds.
  const Time times[] = {
      {"it begins", 300000}, {"it trains", 100000}, {"it ends", 5000}, {"it exchanges", 30000}};
  const char* const kills = getenv("AMBIT_KILLS");  // number of kills; more than a few take minutes
  std::mt19937 random(7);
  for (unsigned i = 0; i < (kills ? std::stoul(kills) : 4); ++i) {
    const Time& time = times[i % 4];
    const unsigned ranks = 2 + random() % 3, victim = random() % ranks,
                   after = static_cast<unsigned>(random() % time.most_us);
    const ChildResult result =
        on_ranks(static_cast<int>(ranks), "mpi child: a rank is killed",
                 fmt::format("WHEN='{}' VICTIM={} AFTER_US={}", time.when, victim, after));
    INFO("kill " << i << " when " << time.when << ": rank " << victim << " of " << ranks
                 << " after " << after << " us\n"
                 << result.output);
    CHECK(result.exit_code != 0);
    CHECK(result.exit_code != 124);  // of timeout
    CHECK(contains(result.output, fmt::format("process rank {} with PID", victim)));
  }
}

TEST_CASE("mpi child: other calls" * doctest::skip()) {
  const auto group = init_process_group("mpi", {.timeout = seconds(20)});
  const int rank = group->rank();
  const auto check_error = [&](auto call, const std::string& expected) {
    const auto part = group->new_group({0, 1});  // it ends together with the group
    CHECK(contains(error_of([&] { call(*part)->wait(); }), expected));
  };
  check_error(
      [&](auto& g) { return g.allreduce(ones({2 + rank})); },
      "got allreduce(float32[2], SUM, root 0) on rank 0 and allreduce(float32[3], SUM, root 0)");
  check_error(
      [&](auto& g) { return g.allreduce(ones({2}, rank == 0 ? kFloat32 : kFloat64)); },
      "got allreduce(float32[2], SUM, root 0) on rank 0 and allreduce(float64[2], SUM, root 0)");
  check_error(
      [&](auto& g) {
        return g.allreduce(ones({2}),
                           rank == 0 ? distributed::ReduceOp::SUM : distributed::ReduceOp::MIN);
      },
      "got allreduce(float32[2], SUM, root 0) on rank 0 and allreduce(float32[2], MIN, root 0)");
  check_error([&](auto& g) { return rank == 0 ? g.barrier() : g.broadcast(ones({1}), 1); },
              "got barrier() on rank 0 and broadcast(float32[1], SUM, root 1) on rank 1");
}

TEST_CASE("different calls of ranks are an error in debug mode, before they hang") {
  if (!has_mpi()) return;
  const ChildResult result = on_ranks(2, "mpi child: other calls", "AMBIT_DISTRIBUTED_DEBUG=1");
  INFO(result.output);
  // mpirun chooses the exit code of processes that do not finalize MPI, as after a failed group.
  CHECK(contains(result.output, "1 passed"));
  CHECK_FALSE(contains(result.output, "1 failed"));
}

TEST_CASE("mpi child: one rank" * doctest::skip()) {
  CHECK(init_process_group("mpi")->size() == 1);
}

TEST_CASE("a launcher of another MPI that has started several processes is refused") {
  if (!has_mpi()) return;
  // Environments of a process that mpiexec of MPICH, mpirun of another Open MPI, PMIx or srun
  // started with others.
  const auto start = [](const std::string& environment) {
    const std::string program = std::filesystem::read_symlink("/proc/self/exe");
    return run_command(
        fmt::format("ulimit -c 0; exec env -u OMPI_COMM_WORLD_SIZE {} timeout -k 5 300 '{}' "
                    "--no-skip --no-intro --test-case='mpi child: one rank' 2>&1",
                    environment, program));
  };
  for (const std::string sign : {"PMI_SIZE=4", "PMIX_RANK=2", "SLURM_STEP_NUM_TASKS=4"}) {
    const ChildResult result = start("SLURM_STEP_ID=0 " + sign);
    INFO(result.output);
    CHECK(result.exit_code != 0);
    CHECK(contains(result.output, "init_process_group: expected several ranks, as " + sign +
                                      " says, got one from"));
    CHECK(contains(result.output, "start the program with the mpirun of"));
  }
  expect_success(start("PMI_SIZE=1 PMIX_RANK=0"));
  expect_success(start("SLURM_NTASKS=4"));  // a batch script, not started by srun
  expect_success(on_ranks(2, "mpi child: small pieces", "PMI_SIZE=4 PMIX_RANK=2"));
  // The environment of a process that MPI's own launcher has started in a script of another
  // launcher.
  expect_success(on_ranks(1, "mpi child: one rank", "PMI_SIZE=4"));
}

TEST_CASE("a rank or size other than the environment's is refused") {
  if (!has_mpi()) return;
  const ChildResult result = on_ranks(1, "mpi child: small pieces", "WORLD_SIZE=2 RANK=0");
  INFO(result.output);
  CHECK(contains(result.output,
                 "expected rank 0 of 2, as RANK and WORLD_SIZE say, got 0 of 1 from mpi; start the "
                 "program with mpirun or srun"));
}
