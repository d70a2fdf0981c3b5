// Runs hidden test cases of this program in processes started by mpirun.
#pragma once

#include <ambit/backend/communicator.h>
#include <ambit/distributed/process_group.h>
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string>

#include "errors.h"
#include "tests/child_process.h"

/// Return true if MPI is available; otherwise print a message.
inline bool has_mpi() {
  static const bool has = [] {
    bool is_built = true;
    try {
      ambit::distributed::find_communicator("mpi");
    } catch (const ambit::Error& e) {
      std::puts(e.what());
      is_built = false;
    }
    return is_built && run_command("mpirun --version 2>&1").exit_code == 0;
  }();
  if (!has) std::puts("skipped: no MPI");
  return has;
}

/// Run a hidden test case in `ranks` processes on this machine, with a generous timeout.
inline ChildResult on_ranks(int ranks, const std::string& test_case,
                            const std::string& environment = "", const std::string& options = "") {
  const std::string program = std::filesystem::read_symlink("/proc/self/exe");
  return run_command(fmt::format(
      "ulimit -c 0; exec env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "
      "OMP_NUM_THREADS=1 {} timeout -k 5 300 {} --oversubscribe --bind-to none {} -n {} '{}' "
      "--no-skip --no-intro --test-case='{}' 2>&1",
      environment, AMBIT_MPIRUN, options, ranks, program, test_case));
}

/// Options of mpirun: use TCP, also within one machine.
inline constexpr const char* kTcp = "--mca btl tcp,self --mca btl_tcp_if_include lo";

inline void expect_success(const ChildResult& result) {
  INFO(result.output);
  CHECK(result.exit_code == 0);
  CHECK(contains(result.output, "1 passed"));
}

/// Expect the error of a second allreduce in which rank 1 does not take part within 2 s.
inline void expect_rank_1_missed(const ChildResult& result,
                                 const std::string& why = "has entered 1 collectives") {
  INFO(result.output);
  CHECK(result.exit_code != 124);  // of timeout
  CHECK(contains(result.output,
                 "allreduce: expected all ranks in collective 2 within 2 s, got all but rank 1 (" +
                     why + ")"));
  CHECK(contains(result.output, "thrown in time"));
}

/// The collective call of those processes. They wait 2 s instead of the default 5 minutes.
inline void allreduce_in_time(ambit::distributed::ProcessGroup& group,
                              const ambit::Tensor& tensor) {
  const auto begin = std::chrono::steady_clock::now();
  try {
    group.allreduce(tensor)->wait();
  } catch (const ambit::distributed::DistributedError&) {
    if (std::chrono::steady_clock::now() - begin < std::chrono::seconds(10)) {
      std::puts("thrown in time");
    }
    throw;
  }
}
