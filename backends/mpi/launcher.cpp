#include "launcher.h"

#include <ambit/backend/communicator.h>
#include <fmt/format.h>
#include <mpi.h>

#include <charconv>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ambit::distributed::mpi {
namespace {

// The variable in which this MPI's own launcher stores the number of processes: that of Open MPI's
// mpirun, else that of MPICH and its derivatives.
#ifdef OPEN_MPI
constexpr const char* kOwnSize = "OMPI_COMM_WORLD_SIZE";
#else
constexpr const char* kOwnSize = "PMI_SIZE";
#endif

std::optional<int> number_in(const char* variable) {
  const char* const found = std::getenv(variable);
  const std::string_view text(found ? found : "");
  int value = 0;
  const auto [rest, error] = std::from_chars(text.begin(), text.end(), value);
  const bool is_number = error == std::errc() && rest == text.end() && value >= 0;
  return is_number ? std::optional(value) : std::nullopt;
}

// Return "Open MPI v4.1.4", the start of a text with builder and date.
std::string library() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(text, &length);
  const std::string_view all(text);
  return std::string(all.substr(0, all.find_first_of(",\n")));
}

}  // namespace

std::string sign_of_others() {
  // MPI's own launcher may run in a script started by another launcher.
  if (number_in(kOwnSize) == 1) return "";
  struct Sign {
    const char* variable;
    int least;
  };
  // Set by Hydra and Intel MPI, Open MPI, and PMIx.
  std::vector<Sign> signs{{"PMI_SIZE", 2}, {"OMPI_COMM_WORLD_SIZE", 2}, {"PMIX_RANK", 1}};
  // Set by srun; batch scripts have no step.
  if (std::getenv("SLURM_STEP_ID")) signs.push_back({"SLURM_STEP_NUM_TASKS", 2});
  for (const auto& [variable, least] : signs) {
    const std::optional<int> value = number_in(variable);
    if (value >= least) return fmt::format("{}={}", variable, *value);
  }
  return "";
}

void check_launcher(const std::string& sign, int size) {
  if (size != 1 || sign.empty()) return;
  throw DistributedError(fmt::format(
      "init_process_group: expected several ranks, as {} says, got one from {}: another "
      "MPI's launcher has started this process, and each would train alone; start the "
      "program with the mpirun of {}, or build ambit with the launcher's MPI",
      sign, library(), library()));
}

}  // namespace ambit::distributed::mpi
