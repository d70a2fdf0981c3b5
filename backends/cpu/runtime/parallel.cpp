// The threads that share the work of kernels. One that is late, since its core is busy with
// something else, is left out: the caller takes over its pieces, and waits for none but those that
// somebody works on already, and, the first time, for the threads to begin.
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
/// Where there is work enough, a thread gets several pieces: while one is late with a piece, others
/// do the rest of its share.
constexpr int64_t kPiecesPerThread = 4;
constexpr int64_t kLongPiece = 4;  // grains
/// Grains that are worth a thread while others want the cores.
constexpr int64_t kContendedGrains = 8;

thread_local bool working = false;

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// How often the scheduler gave the calling thread's core to another one that wanted it.
long interruptions() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nivcsw;
}

/// Whether others want the cores: our threads have lost more than a fiftieth of the last moments
/// while they looked on, and two turns that a scheduler gives. What comes now and then, and is
/// short, changes nothing.
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
  static constexpr Clock::rep kMemory = 50;  // so long is remembered what was lost
  static constexpr Clock::rep kEnough =
      kMemory * Clock::duration(std::chrono::milliseconds(4)).count();
  static inline constinit std::atomic<Clock::rep> forgotten_{0};  // when all will be
};

/// Look for `ready` for a bounded time before the thread is put to sleep: the next kernel or the
/// end of this one is microseconds away as a rule, and a sleeper takes tens of them to wake. A core
/// that others want is given up at once: looking on there would only delay what is waited for.
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

/// One call of run_pieces(): the pieces in equal shares, one for each thread. Who is through with
/// his own goes on with those of others.
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

/// A thread and what it is asked to do. `state` says whose turn it is.
class Worker {
 public:
  Worker() : thread_([this] { loop(); }) {
    thread_.detach();
    state_.wait(State::starting);
  }

  /// Ask it to take part, unless it is another caller's, who computes on `core`.
  bool offer(Job& job, int share, int core) {
    State expected = State::idle;
    if (state_.load(std::memory_order_relaxed) != State::idle ||
        !state_.compare_exchange_strong(expected, State::reserved, std::memory_order_acquire)) {
      return false;
    }
    job_ = &job;
    share_ = share;
    callers_core_.store(core, std::memory_order_relaxed);
    state_.store(State::offered);  // in one order with the look for sleepers
    state_.notify_one();
    return true;
  }

  /// After a successful offer: take it back. Return false where it is too late for that.
  bool withdraw() {
    State expected = State::offered;
    return state_.compare_exchange_strong(expected, State::idle, std::memory_order_relaxed);
  }

  /// After an offer that was not withdrawn: return when it no longer touches the job.
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
    run_where_the_process_does();
    // The C library gives a thread 64 MiB of addresses with its first block: now, and not after
    // another thread has seen that there is room for what oneDNN prepares.
    void* volatile first = std::malloc(1);
    std::free(first);
    state_.store(State::idle);
    state_.notify_one();
    Spin spin;
    while (true) {
      await_offer(spin);
      leave(callers_core_.load(std::memory_order_relaxed));
      State expected = State::offered;
      if (!state_.compare_exchange_strong(expected, State::taken, std::memory_order_acquire)) {
        continue;  // taken back
      }
      job_->work(share_);
      state_.store(State::done);
      state_.notify_one();
    }
  }

  /// Whoever called first may be bound to a core.
  static void run_where_the_process_does() {
    cpu_set_t processors;
    if (sched_getaffinity(getpid(), sizeof processors, &processors) == 0) {
      sched_setaffinity(0, sizeof processors, &processors);
    }
  }

  /// Schedulers wake a thread on its caller's core at times, and leave both there for milliseconds,
  /// whatever cores are idle.
  static void leave(int core) {
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

  alignas(64) std::atomic<State> state_{State::starting};
  std::atomic<int> callers_core_{-1};
  Job* job_ = nullptr;
  int share_ = 0;
  std::thread thread_;
};

class Pool {
 public:
  /// Return null where no more threads can be had.
  Worker* worker(int i) {
    const int started = started_.load(std::memory_order_acquire);
    if (i >= started && !start(i)) return nullptr;
    return workers_[static_cast<size_t>(i)];
  }

 private:
  bool start(int i);

  std::mutex mutex_;
  std::atomic<int> started_{0};
  std::array<Worker*, kMostThreads - 1> workers_{};
};

bool Pool::start(int i) {
  const std::lock_guard lock(mutex_);
  // Signals are for the program's own threads.
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

// Never destroyed: its threads may be working while the process ends.
constinit Pool pool;
static_assert(std::is_trivially_destructible_v<Pool>);
// A child has none of its parent's threads.
[[maybe_unused]] const int at_fork = pthread_atfork(nullptr, nullptr, [] { new (&pool) Pool; });

}  // namespace

int available_threads() { return working ? 1 : get_num_threads(); }

int count_pieces(int64_t n, int64_t grain) {
  const int64_t threads = std::min(available_threads(), kMostThreads), most = n / grain;
  // A thread that loses its core keeps the others waiting for a turn of the scheduler, which is
  // milliseconds: not worth it for small work.
  if (threads == 1 || most < (Contention::now() ? 2 * kContendedGrains : 2)) return 1;
  if (most <= threads) return static_cast<int>(most);
  // As many for each: a piece more would have all but one thread wait, and parts of what one kernel
  // after the other computes would change threads, whose caches may be far from each other.
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
  // First all that are late, lest one of them begins while another is waited for.
  const auto past = std::remove_if(helpers.begin(), helpers.begin() + helping,
                                   [](Worker* worker) { return worker->withdraw(); });
  std::for_each(helpers.begin(), past, [&](Worker* worker) { worker->collect(spin); });
  job.rethrow();
}

}  // namespace ambit::cpu
