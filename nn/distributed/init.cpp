// The default group of a process, and what launchers say in the environment.
#include <ambit/distributed/process_group.h>
#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "local.h"

namespace ambit::distributed {
namespace {

struct Default {
  std::mutex mutex;
  std::shared_ptr<ProcessGroup> group;
};

// Leaked: a group that nobody has left ends with the process, when its plugin may have gone.
Default& of_process() {
  static auto* d = new Default;
  return *d;
}

// A number in the environment; none where it is not set or no number.
std::optional<int> number_in(const char* variable) {
  const char* const text = std::getenv(variable);
  if (!text) return {};
  int value = 0;
  const char* const end = text + std::strlen(text);
  const auto [rest, error] = std::from_chars(text, end, value);
  return error == std::errc() && rest == end && value >= 0 ? std::optional(value) : std::nullopt;
}

void check_environment(const std::string& communicator, int rank, int size) {
  const std::optional<int> said_size = number_in("WORLD_SIZE"), said_rank = number_in("RANK");
  if (said_size.value_or(size) == size && said_rank.value_or(rank) == rank) return;
  throw DistributedError(
      fmt::format("init_process_group: expected rank {} of {}, as RANK and WORLD_SIZE say, got {} "
                  "of {} from {}; start the program with mpirun or srun",
                  said_rank.value_or(rank), said_size.value_or(size), rank, size, communicator));
}

}  // namespace

std::shared_ptr<ProcessGroup> init_process_group(const std::string& communicator,
                                                 const ProcessGroupOptions& options) {
  Default& d = of_process();
  const std::lock_guard lock(d.mutex);
  if (d.group) throw Error("init_process_group: expected no group yet, got one");
  std::unique_ptr<Communicator> made;
  if (communicator == "local") {
    made = std::move(local_communicators(1)[0]);
  } else {
    made = find_communicator(communicator)({options.timeout, options.device});
  }
  check_environment(communicator, made->rank(), made->size());
  d.group = std::make_shared<ProcessGroup>(std::move(made), options.timeout);
  return d.group;
}

bool is_initialized() {
  Default& d = of_process();
  const std::lock_guard lock(d.mutex);
  return d.group != nullptr;
}

std::shared_ptr<ProcessGroup> default_group() {
  Default& d = of_process();
  const std::lock_guard lock(d.mutex);
  if (!d.group) throw Error("default_group: expected init_process_group() before, got none");
  return d.group;
}

void destroy_process_group() {
  Default& d = of_process();
  std::shared_ptr<ProcessGroup> group;
  const std::lock_guard lock(d.mutex);
  group = std::move(d.group);
}

int local_rank() {
  for (const char* variable : {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "PMI_LOCAL_RANK",
                               "SLURM_LOCALID", "LOCAL_RANK"}) {
    if (const std::optional<int> rank = number_in(variable)) return *rank;
  }
  return 0;
}

}  // namespace ambit::distributed
