// WorkerPool: threads that run jobs in the order of submission; used by DataLoader.
#pragma once

#include <ambit/api.h>

#include <cstddef>
#include <functional>
#include <memory>

namespace ambit::data {

/// `size` threads and one queue; ops on these threads are single-threaded.
class AMBIT_API WorkerPool {
 public:
  /// Called with the index of the thread that runs it, below size. Must not throw.
  using Job = std::function<void(size_t worker)>;

  /// Start the threads. Errors: Error if threads cannot be created; then none is running.
  explicit WorkerPool(size_t size);
  /// Drop the jobs that have not started, and wait for the others.
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  /// Append a job to the queue and return. Errors: OutOfMemoryError; then the job is not added. Any
  /// thread may call it.
  void submit(Job job);
  /// Drop the jobs that have not started, and wait for the others. Must not be called from a job.
  void cancel();

 private:
  struct Threads;
  std::unique_ptr<Threads> threads_;
};

}  // namespace ambit::data
