// Environment variables set by launchers.
#pragma once

#include <string>

namespace ambit::distributed::mpi {

/// Return the variable with which a launcher reports several processes, such as "PMI_SIZE=4"; empty
/// if there is none, or if MPI's own launcher started one process. Call before MPI_Init: Open MPI
/// sets such variables itself.
std::string sign_of_others();
/// Errors: DistributedError if `sign` is not empty but MPI reports one process: the launcher
/// belongs to another MPI, and each process would train alone.
void check_launcher(const std::string& sign, int size);

}  // namespace ambit::distributed::mpi
