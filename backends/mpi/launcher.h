// The environment variables that launchers set.
#pragma once

#include <string>

namespace ambit::distributed::mpi {

/// Return the variable by which a launcher says that it has started several processes, such as
/// "PMI_SIZE=4"; empty where none does, or where MPI's own launcher has started one. To be called
/// before MPI starts: Open MPI sets such variables itself.
std::string sign_of_others();
/// Errors: DistributedError where there is a sign of others and MPI says that this process is
/// alone: the launcher is of another MPI, and each process would train for itself.
void check_launcher(const std::string& sign, int size);

}  // namespace ambit::distributed::mpi
