// Threads that run jobs in the order of their submission: what is under a DataLoader's workers.
#pragma once

#include <ambit/api.h>

#include <cstddef>
#include <functional>
#include <memory>

namespace ambit::data {

/// `size` threads and one queue; ops on these threads use no further ones.
class AMBIT_API WorkerPool {
 public:
  /// Called with the number of the thread that runs it, below size. Must not throw.
  using Job = std::function<void(size_t worker)>;

  /// Start the threads. Errors: Error where the system has no more; none is left then.
  explicit WorkerPool(size_t size);
  /// Drop the jobs that have not begun, and wait for the others.
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  /// Add a job at the end of the queue, and return. Errors: OutOfMemoryError, and the job is not
  /// added. Thread safety: any thread may.
  void submit(Job job);
  /// Drop the jobs that have not begun, and wait for the others. Not from a job.
  void cancel();

 private:
  struct Threads;
  std::unique_ptr<Threads> threads_;
};

}  // namespace ambit::data
