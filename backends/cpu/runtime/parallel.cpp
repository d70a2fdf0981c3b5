// The thread pool that runs kernels. The caller does not wait for a thread that is late because its
// core is busy: it runs the thread's pieces itself. It waits only for pieces that have already
// started and, on first use, for the threads to start.
#include "parallel.h"

#include <ambit/parallel.h>

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>

namespace ambit::cpu {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kMostThreads = 256;
/// If there is enough work, each thread gets several pieces, so that other threads can run the
/// pieces of one that is late.
constexpr int64_t kPiecesPerThread = 4;
constexpr int64_t kLongPiece = 4;  // grains
/// Minimal grains per thread while other processes compete for the cores.
constexpr int64_t kContendedGrains = 8;

thread_local bool working = false;

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Return how often the scheduler preempted the calling thread.
long interruptions() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nivcsw;
}

/// Detects competition for the cores: true while our spinning threads have recently lost more than
/// 2 % of the time to preemption, and more than 4 ms, about two time slices of a scheduler. Rare
/// short interruptions have no effect.
class Contention {
 public:
  static void notice(Clock::time_point now, Clock::duration lost) {
    const Clock::rep at = now.time_since_epoch().count();
    const Clock::rep forgotten = std::max(forgotten_.load(std::memory_order_relaxed), at);
    forgotten_.store(std::min(forgotten + kMemory * lost.count(), at + 2 * kEnough),
                     std::memory_order_relaxed);
  }
  static bool now() {
    const Clock::rep forgotten = forgotten_.load(std::memory_order_relaxed);
    return forgotten != 0 && forgotten - Clock::now().time_since_epoch().count() > kEnough;
  }

 private:
  static constexpr Clock::rep kMemory = 50;  // time for which a unit of lost time is remembered
  static constexpr Clock::rep kEnough =
      kMemory * Clock::duration(std::chrono::milliseconds(4)).count();
  // The time at which all lost time is forgotten. Accesses are relaxed and a concurrent notice()
  // may be lost, because the value only decides how work is divided.
  static inline constinit std::atomic<Clock::rep> forgotten_{0};
};

/// Spin for a bounded time before blocking: usually the next kernel, or the end of this one, is
/// microseconds away, and waking a thread costs tens of microseconds. Stop spinning at once if
/// other processes compete for the core, which would delay the awaited thread.
class Spin {
 public:
  template <class Ready>
  bool until(const Ready& ready) {
    const Clock::time_point begin = Clock::now();
    Clock::time_point before = begin;
    while (true) {
      for (int i = 0; i < 8; ++i) {
        if (ready()) return true;
        pause();
      }
      const Clock::time_point now = Clock::now();
      if (now - before > kGap && was_interrupted()) Contention::notice(now, now - before);
      if (now - begin > kShort && (now - begin > kLong || Contention::now())) return ready();
      before = now;
    }
  }

 private:
  static constexpr auto kLong = std::chrono::microseconds(300);
  static constexpr auto kShort = std::chrono::microseconds(5);
  static constexpr auto kGap = std::chrono::microseconds(100);

  bool was_interrupted() {
    const long now = interruptions();
    return now != std::exchange(interruptions_, now);
  }

  long interruptions_ = interruptions();
};

/// One call of run_pieces(): each thread starts with an equal number of pieces. A thread that has
/// finished its own pieces continues with those of other threads.
class Job {
 public:
  Job(int64_t n, int pieces, Piece* piece, const void* context, int threads)
      : n_(n), pieces_(pieces), piece_(piece), context_(context), threads_(threads) {
    for (int i = 0; i < threads; ++i) {
      Share& share = shares_[static_cast<size_t>(i)];
      share.next.store(pieces * i / threads, std::memory_order_relaxed);
      share.end = pieces * (i + 1) / threads;
    }
  }

  void work(int thread) {
    for (int of = thread; of < thread + threads_; ++of) {
      Share& share = shares_[static_cast<size_t>(of % threads_)];
      while (true) {
        if (share.next.load(std::memory_order_relaxed) >= share.end) break;
        const int i = share.next.fetch_add(1, std::memory_order_relaxed);
        if (i >= share.end) break;
        run_piece(i);
      }
    }
  }

  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  // `next` is relaxed: fetch_add alone gives each piece to one thread, and Worker::state_ orders
  // the data that the pieces read and write.
  struct Share {
    std::atomic<int> next;
    int end;
  };

  void run_piece(int i) {
    try {
      piece_(context_, n_ * i / pieces_, n_ * (i + 1) / pieces_);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!error_) error_ = std::current_exception();
    }
  }

  const int64_t n_;
  const int pieces_;
  Piece* const piece_;
  const void* const context_;
  const int threads_;
  std::array<Share, kMostThreads> shares_;
  std::mutex mutex_;
  std::exception_ptr error_;
};

/// A pool thread and its job. `state_` says whether caller or worker may access the members.
class Worker {
 public:
  Worker() : thread_([this] { loop(); }) {
    thread_.detach();
    state_.wait(State::starting);
  }

  /// Offer the job. Return false if the worker is serving another caller. `core`: the caller's CPU.
  bool offer(Job& job, int share, int core) {
    State expected = State::idle;
    if (state_.load(std::memory_order_relaxed) != State::idle ||
        !state_.compare_exchange_strong(expected, State::reserved, std::memory_order_acquire)) {
      return false;
    }
    job_ = &job;
    share_ = share;
    callers_core_.store(core, std::memory_order_relaxed);
    state_.store(State::offered);  // sequentially consistent with await_offer()
    state_.notify_one();
    return true;
  }

  /// Withdraw a successful offer. Return false if the worker has already accepted it. A relaxed
  /// exchange suffices: it continues the release sequence of the store of `offered`, with which the
  /// next caller's acquire of `idle` synchronises.
  bool withdraw() {
    State expected = State::offered;
    return state_.compare_exchange_strong(expected, State::idle, std::memory_order_relaxed);
  }

  /// After an offer that was not withdrawn: wait until the worker no longer accesses the job.
  void collect(Spin& spin) {
    const auto done = [this] { return state_.load(std::memory_order_acquire) == State::done; };
    if (!spin.until(done)) {
      while (!done()) state_.wait(State::taken, std::memory_order_acquire);
    }
    state_.store(State::idle, std::memory_order_release);
  }

 private:
  enum class State : int { starting, idle, reserved, offered, taken, done };

  void loop() {
    working = true;
    reset_affinity();
    // glibc reserves 64 MiB of address space at a thread's first allocation. Do it now, so that it
    // cannot happen after another thread's check_room() for oneDNN.
    void* volatile first = std::malloc(1);
    std::free(first);
    state_.store(State::idle);
    state_.notify_one();
    Spin spin;
    while (true) {
      await_offer(spin);
      move_off_core(callers_core_.load(std::memory_order_relaxed));
      State expected = State::offered;
      if (!state_.compare_exchange_strong(expected, State::taken, std::memory_order_acquire)) {
        continue;  // withdrawn
      }
      job_->work(share_);
      state_.store(State::done);
      state_.notify_one();
    }
  }

  /// Reset the affinity to that of the process: the first caller may be pinned to a core.
  static void reset_affinity() {
    cpu_set_t processors;
    if (sched_getaffinity(getpid(), sizeof processors, &processors) == 0) {
      sched_setaffinity(0, sizeof processors, &processors);
    }
  }

  /// Move off the caller's core. Schedulers sometimes wake a thread on that core and keep both
  /// there for milliseconds although other cores are idle.
  static void move_off_core(int core) {
    if (core < 0 || sched_getcpu() != core) return;
    cpu_set_t all, others;
    if (sched_getaffinity(0, sizeof all, &all) != 0 || CPU_COUNT(&all) < get_num_threads()) return;
    others = all;
    CPU_CLR(static_cast<size_t>(core), &others);
    if (sched_setaffinity(0, sizeof others, &others) == 0) sched_setaffinity(0, sizeof all, &all);
  }

  void await_offer(Spin& spin) {
    const auto offered = [this] {
      return state_.load(std::memory_order_relaxed) == State::offered;
    };
    if (spin.until(offered)) return;
    for (State now = state_.load(); now != State::offered; now = state_.load()) state_.wait(now);
  }

  // Each transition acquires the previous one, so that job_ and share_ have one owner at a time:
  // the caller's store of `offered` precedes the worker's `taken`, the worker's store of `done`
  // precedes the caller's return from collect(), and the store of `idle` the next caller's
  // `reserved`. The stores before notify_one() are sequentially consistent, since the library skips
  // the wake-up if it counts no waiting thread.
  alignas(64) std::atomic<State> state_{State::starting};
  std::atomic<int> callers_core_{-1};  // relaxed: an old value only moves a thread in vain
  Job* job_ = nullptr;
  int share_ = 0;
  std::thread thread_;
};

class Pool {
 public:
  /// Return null if no more threads can be started.
  Worker* worker(int i) {
    const int started = started_.load(std::memory_order_acquire);
    if (i >= started && !start(i)) return nullptr;
    return workers_[static_cast<size_t>(i)];
  }

 private:
  bool start(int i);

  std::mutex mutex_;                                 // held by start()
  std::atomic<int> started_{0};                      // its release store publishes workers_[i]
  std::array<Worker*, kMostThreads - 1> workers_{};  // the first started_ never change
};

bool Pool::start(int i) {
  const std::lock_guard lock(mutex_);
  // Block all signals: they are for the program's own threads.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    for (int n = started_.load(std::memory_order_relaxed); n <= i; ++n) {
      workers_[static_cast<size_t>(n)] = new Worker;
      started_.store(n + 1, std::memory_order_release);
    }
  } catch (const std::system_error&) {
  } catch (const std::bad_alloc&) {
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return i < started_.load(std::memory_order_relaxed);
}

// Never destroyed: its threads may still run while the process exits.
constinit Pool pool;
static_assert(std::is_trivially_destructible_v<Pool>);
// After fork() the child has none of the parent's threads.
[[maybe_unused]] const int at_fork = pthread_atfork(nullptr, nullptr, [] { new (&pool) Pool; });

}  // namespace

int available_threads() { return working ? 1 : get_num_threads(); }

int count_pieces(int64_t n, int64_t grain) {
  const int64_t threads = std::min(available_threads(), kMostThreads), most = n / grain;
  // A preempted thread delays the others by a time slice, which is milliseconds: not worth it for
  // small work.
  if (threads == 1 || most < (Contention::now() ? 2 * kContendedGrains : 2)) return 1;
  if (most <= threads) return static_cast<int>(most);
  // Give each thread the same number of pieces: with one more, all threads but one would wait. It
  // also keeps the data of consecutive kernels on the same threads, whose caches may be far apart.
  return static_cast<int>(threads *
                          std::clamp<int64_t>(most / kLongPiece / threads, 1, kPiecesPerThread));
}

void run_pieces(int64_t n, int pieces, Piece* piece, const void* context) {
  const int threads = std::min({pieces, available_threads(), kMostThreads});
  Job job(n, pieces, piece, context, threads);
  std::array<Worker*, kMostThreads> helpers;
  size_t helping = 0;
  const int core = sched_getcpu();
  for (int i = 0; i + 1 < threads; ++i) {
    Worker* worker = pool.worker(i);
    if (!worker) break;
    if (worker->offer(job, i + 1, core)) helpers[helping++] = worker;
  }
  const bool before = std::exchange(working, true);
  job.work(0);
  working = before;
  thread_local Spin spin;
  // First withdraw all unaccepted offers, so that none starts while we wait for another.
  const auto past = std::remove_if(helpers.begin(), helpers.begin() + helping,
                                   [](Worker* worker) { return worker->withdraw(); });
  std::for_each(helpers.begin(), past, [&](Worker* worker) { worker->collect(spin); });
  job.rethrow();
}

}  // namespace ambit::cpu
