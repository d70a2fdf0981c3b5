// c10d::ProcessGroupMPI: the processes that mpirun has started, over ambit's communicator "mpi".
#pragma once

#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

#include <string>
#include <vector>

namespace c10d {

inline constexpr const char* MPI_BACKEND_NAME = "mpi";

class ProcessGroupMPI : public ProcessGroup {
 public:
  using ProcessGroup::ProcessGroup;

  /// Return the group of all processes, ambit's default group, which is created if there is none;
  /// or that of these ranks, null on the others. All processes call it. Errors: those of
  /// init_process_group() and new_group().
  static c10::intrusive_ptr<ProcessGroupMPI> createProcessGroupMPI(std::vector<int> ranks = {}) {
    namespace distributed = ambit::distributed;
    auto group = distributed::is_initialized() ? distributed::default_group()
                                               : distributed::init_process_group(MPI_BACKEND_NAME);
    if (!ranks.empty()) group = group->new_group(ranks);
    return group ? c10::make_intrusive<ProcessGroupMPI>(std::move(group)) : nullptr;
  }

  std::string getBackendName() const { return MPI_BACKEND_NAME; }
  /// End the group on all ranks: ranks that wait get an error.
  void abort() { group_->abort("a program has called ProcessGroupMPI::abort()"); }
};

}  // namespace c10d
