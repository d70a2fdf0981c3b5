// One queue, one lock, one condition: idle workers sleep.
#include <ambit/data/worker_pool.h>
#include <ambit/detail/memory_errors.h>
#include <ambit/error.h>
#include <ambit/parallel.h>

#include <fmt/format.h>

#include <new>
#include <system_error>
#include <utility>

namespace ambit::data {

WorkerPool::WorkerPool(size_t size) {
  try {
    for (size_t i = 0; i < size; ++i) threads_.emplace_back(&WorkerPool::run, this, i);
  } catch (...) {  // the system has no more threads: end those that it gave
    stop();
    const size_t started = threads_.size();
    try {
      throw;
    } catch (const std::bad_alloc&) {
      throw_out_of_host_memory("DataLoader");
    } catch (const std::system_error& e) {
      throw Error(fmt::format("DataLoader: expected {} worker threads, got {} and then: {}", size,
                              started, e.what()));
    }
  }
}

WorkerPool::~WorkerPool() { stop(); }

void WorkerPool::submit(Job job) {
  {
    const std::lock_guard lock(mutex_);
    typed_memory_errors("DataLoader", [&] { jobs_.push_back(std::move(job)); });
  }
  wake_.notify_one();
}

void WorkerPool::cancel() {
  std::unique_lock lock(mutex_);
  jobs_.clear();
  idle_.wait(lock, [this] { return running_ == 0; });
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
      ++running_;
    }
    job(worker);
    job = {};  // what it holds ends before it counts as done
    {
      const std::lock_guard lock(mutex_);
      if (--running_ > 0) continue;
    }
    idle_.notify_all();
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
