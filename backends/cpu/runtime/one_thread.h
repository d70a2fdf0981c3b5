// Limits the OpenMP threads of libraries.
#pragma once

namespace ambit::cpu {

/// Keep oneDNN and LAPACK on the calling thread for a scope: the threads of parallel.h already
/// share the work, and OpenMP's would wait for busy cores. Changes OpenMP's thread count of the
/// calling thread and restores it at the end, because the user may have set it.
class OneThread {
 public:
  OneThread();
  ~OneThread();
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int before_;
};

}  // namespace ambit::cpu
