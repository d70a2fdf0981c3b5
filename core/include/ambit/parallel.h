// How many threads kernels on the CPU may use.
#pragma once

#include <ambit/api.h>

namespace ambit {

/// Set how many threads one kernel on the CPU may use, in all threads of the process from their
/// next kernel on. At first it is OMP_NUM_THREADS, or else the number of cores that this process
/// may use: not of hyperthreads, nor more than taskset or the quota of a container give it. Threads
/// that find their core taken are left out, so it does no harm when others use the machine too.
/// Errors: Error for less than 1.
AMBIT_API void set_num_threads(int threads);
/// Return how many threads a kernel that the calling thread starts may use.
AMBIT_API int get_num_threads();

/// While it lives, kernels that the calling thread starts use no other thread, and
/// get_num_threads() is 1 in it: for programs with many threads already, such as the workers of a
/// data loader.
class AMBIT_API SingleThreadGuard {
 public:
  SingleThreadGuard();
  ~SingleThreadGuard();
  SingleThreadGuard(const SingleThreadGuard&) = delete;
  SingleThreadGuard& operator=(const SingleThreadGuard&) = delete;

 private:
  bool before_;
};

}  // namespace ambit
