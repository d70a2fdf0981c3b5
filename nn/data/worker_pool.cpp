// One queue and one lock; idle workers sleep on a condition variable.
#include <ambit/data/worker_pool.h>
#include <ambit/detail/memory_errors.h>
#include <ambit/error.h>
#include <ambit/parallel.h>

#include <fmt/format.h>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace ambit::data {

struct WorkerPool::Threads {
  void run(size_t worker);
  void stop();

  std::mutex mutex;
  std::condition_variable wake, idle;
  std::deque<Job> jobs;   // guarded by mutex
  size_t running = 0;     // guarded by mutex
  bool stopping = false;  // guarded by mutex
  std::vector<std::thread> threads;
};

WorkerPool::WorkerPool(size_t size) : threads_(std::make_unique<Threads>()) {
  auto& threads = threads_->threads;
  try {
    for (size_t i = 0; i < size; ++i) threads.emplace_back(&Threads::run, threads_.get(), i);
  } catch (...) {  // the system has no more threads: end those already started
    threads_->stop();
    const size_t started = threads.size();
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

WorkerPool::~WorkerPool() { threads_->stop(); }

void WorkerPool::submit(Job job) {
  {
    const std::lock_guard lock(threads_->mutex);
    typed_memory_errors("DataLoader", [&] { threads_->jobs.push_back(std::move(job)); });
  }
  threads_->wake.notify_one();
}

void WorkerPool::cancel() {
  std::unique_lock lock(threads_->mutex);
  threads_->jobs.clear();
  threads_->idle.wait(lock, [this] { return threads_->running == 0; });
}

void WorkerPool::Threads::run(size_t worker) {
  const SingleThreadGuard single_thread;  // the workers already use all cores
  for (;;) {
    Job job;
    {
      std::unique_lock lock(mutex);
      wake.wait(lock, [this] { return stopping || !jobs.empty(); });
      if (stopping) return;
      job = std::move(jobs.front());
      jobs.pop_front();
      ++running;
    }
    job(worker);
    job = {};  // destroy the job before it counts as done
    {
      const std::lock_guard lock(mutex);
      if (--running > 0) continue;
    }
    idle.notify_all();
  }
}

void WorkerPool::Threads::stop() {
  {
    const std::lock_guard lock(mutex);
    stopping = true;
    jobs.clear();
  }
  wake.notify_all();
  for (std::thread& thread : threads) thread.join();
}

}  // namespace ambit::data
