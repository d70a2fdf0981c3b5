// The default group of the process, and the environment variables of launchers.
#include <ambit/distributed/process_group.h>
#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <mutex>
#include <string_view>

namespace ambit::distributed {
namespace {

struct Default {
  std::mutex mutex;
  std::shared_ptr<ProcessGroup> group;
};

// Leaked on purpose: at process exit the plugin of a remaining group may be unloaded already.
Default& of_process() {
  static auto* d = new Default;
  return *d;
}

std::shared_ptr<ProcessGroup> current() {
  const std::lock_guard lock(of_process().mutex);
  return of_process().group;
}

// Return the number in an environment variable; nullopt if it is unset or not a number.
std::optional<int> number_in(const char* variable) {
  const char* const found = std::getenv(variable);
  const std::string_view text(found ? found : "");
  int value = 0;
  const auto [rest, error] = std::from_chars(text.begin(), text.end(), value);
  const bool is_number = error == std::errc() && rest == text.end() && value >= 0;
  return is_number ? std::optional(value) : std::nullopt;
}

void check_environment(const std::string& communicator, int rank, int size) {
  const std::optional<int> said_size = number_in("WORLD_SIZE"), said_rank = number_in("RANK");
  if (said_size.value_or(size) == size && said_rank.value_or(rank) == rank) return;
  throw DistributedError(
      fmt::format("init_process_group: expected rank {} of {}, as RANK and WORLD_SIZE say, got {} "
                  "of {} from {}; start the program with mpirun or srun: these and MASTER_ADDR "
                  "are not used to connect",
                  said_rank.value_or(rank), said_size.value_or(size), rank, size, communicator));
}

}  // namespace

std::shared_ptr<ProcessGroup> init_process_group(const std::string& communicator,
                                                 const ProcessGroupOptions& options) {
  Default& d = of_process();
  const std::lock_guard lock(d.mutex);  // held to the end: only one thread creates the group
  if (d.group) throw Error("init_process_group: expected no existing default group, got one");
  std::shared_ptr<ProcessGroup> group;
  if (communicator == "local") {
    group = local_groups(1, options.timeout)[0];
  } else {
    auto made = find_communicator(communicator)({options.timeout, options.device});
    group = std::make_shared<ProcessGroup>(std::move(made), options.timeout);
  }
  check_environment(communicator, group->rank(), group->size());
  d.group = group;
  return group;
}

bool is_initialized() { return current() != nullptr; }

std::shared_ptr<ProcessGroup> default_group() {
  std::shared_ptr<ProcessGroup> group = current();
  if (!group) throw Error("default_group: expected init_process_group() before, got none");
  return group;
}

void destroy_process_group() {
  std::shared_ptr<ProcessGroup> group;
  const std::lock_guard lock(of_process().mutex);
  group.swap(of_process().group);
}

int local_rank() {
  for (const char* variable : {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "PMI_LOCAL_RANK",
                               "SLURM_LOCALID", "LOCAL_RANK"}) {
    if (const std::optional<int> rank = number_in(variable)) return *rank;
  }
  return 0;
}

}  // namespace ambit::distributed
