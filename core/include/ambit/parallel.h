// The number of threads of CPU kernels.
#pragma once

#include <ambit/api.h>

namespace ambit {

/// Set how many threads a CPU kernel may use, for all threads of the process from their next kernel
/// on. Initially OMP_NUM_THREADS, else the number of physical cores that this process may use,
/// within taskset and the container's CPU quota. Threads that find their core busy are left out of
/// a kernel, so sharing the machine with other processes does little harm.
/// Errors: Error for less than 1.
AMBIT_API void set_num_threads(int threads);
/// Return how many threads a kernel called by this thread may use.
AMBIT_API int get_num_threads();

/// Within its scope, kernels called by this thread use no other thread and get_num_threads() is 1:
/// for programs that already have many threads, such as the workers of a data loader.
class AMBIT_API SingleThreadGuard {
 public:
  SingleThreadGuard();   ///< start of the scope
  ~SingleThreadGuard();  ///< end of the scope
  SingleThreadGuard(const SingleThreadGuard&) = delete;
  SingleThreadGuard& operator=(const SingleThreadGuard&) = delete;

 private:
  bool before_;
};

}  // namespace ambit
