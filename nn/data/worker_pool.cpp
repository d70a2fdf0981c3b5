// One queue, one lock, one condition: idle workers sleep.
#include <ambit/data/worker_pool.h>
#include <ambit/parallel.h>

#include <utility>

namespace ambit::data {

WorkerPool::WorkerPool(size_t size) {
  try {
    for (size_t i = 0; i < size; ++i) threads_.emplace_back(&WorkerPool::run, this, i);
  } catch (...) {  // the system has no more threads: end those that it gave
    stop();
    throw;
  }
}

WorkerPool::~WorkerPool() { stop(); }

void WorkerPool::submit(Job job) {
  {
    const std::lock_guard lock(mutex_);
    jobs_.push_back(std::move(job));
  }
  wake_.notify_one();
}

void WorkerPool::cancel() {
  std::deque<Job> dropped;  // destroyed after the lock is gone
  const std::lock_guard lock(mutex_);
  dropped.swap(jobs_);
}

void WorkerPool::run(size_t worker) {
  const SingleThreadGuard single_thread;  // the workers are the parallelism
  for (;;) {
    Job job;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
      if (stopping_) return;
      job = std::move(jobs_.front());
      jobs_.pop_front();
    }
    job(worker);
  }
}

void WorkerPool::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    jobs_.clear();
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

}  // namespace ambit::data
