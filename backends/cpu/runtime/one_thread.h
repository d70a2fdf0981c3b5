// Libraries with threads of their own, which are OpenMP's.
#pragma once

namespace ambit::cpu {

/// Keep them on the calling thread for a scope: the threads of parallel.h share the work, and those
/// of oneDNN or LAPACK would wait for cores that they do not get. It takes OpenMP's setting, which
/// belongs to the calling thread and maybe to its user.
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
