#include "block.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <vector>

#include "at_work.h"
#include "device.h"
#include "fiber.h"
#include "random.h"
#include "report.h"
#include "settings.h"
#include "shadow_access.h"

namespace ambit::cuda::host {

uintptr_t stacks_begin = ~uintptr_t{0} - kStacksBytes;

namespace {

/// A stack, and the thread that runs on it.
struct Worker {
  Fiber fiber;
  uintptr_t stack = 0;
  unsigned thread = 0;
};

/// Threads that wait for each other: the threads of the block or of a warp.
struct Rendezvous {
  unsigned expected = 0, ended = 0, rounds = 0;
  std::vector<Worker*> waiting;
};

/// The running block; it is kept for its stacks.
class Block {
 public:
  void run(const Kernel& kernel);
  void wait_for_block();
  void wait_for_warp();
  void pause();
  uint64_t exchange(uint64_t value, unsigned lane);
  const Factors* exchange_factors(const Factors& mine);

 private:
  static void work();
  void run_thread(unsigned thread);
  void stop();
  void resume(Worker& worker);
  void arrive(Rendezvous& rendezvous, const char* what, bool& completes);
  void release(Rendezvous& rendezvous);
  [[noreturn]] void report_stuck();
  Worker& idle_worker();

  const Kernel* kernel_ = nullptr;
  std::vector<Worker> workers_;
  std::vector<Worker*> idle_, ready_;
  std::vector<unsigned> order_;  // the order in which threads start
  size_t begun_ = 0;
  unsigned finished_ = 0;
  uint32_t switch_every_ = 1;  // maximum number of accesses between two switches
  Worker* current_ = nullptr;
  Fiber scheduler_;
  Rendezvous all_;
  std::vector<Rendezvous> warps_;
  // Values exchanged by a warp; two buffers, used alternately.
  uint64_t values_[2][kMostThreads] = {};
  Factors factors_[2][kMostThreads] = {};
};

Block* const the_block = new Block;

uint32_t accesses_until_switch(uint32_t most) { return 1 + random_number(most); }

Worker& Block::idle_worker() {
  if (workers_.empty()) {
    workers_.resize(kMostThreads);
    void* p = mmap(nullptr, kStacksBytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) {
      std::perror("ambit: CUDA on the host: no memory for the stacks of threads");
      std::abort();
    }
    stacks_begin = reinterpret_cast<uintptr_t>(p);
    for (size_t i = workers_.size(); i-- > 0;) {
      Worker& w = workers_[i];
      w.stack = stacks_begin + i * kStackBytes;
      // A stack overflow reaches a protected page.
      mprotect(reinterpret_cast<void*>(w.stack), 4096, PROT_NONE);
      w.fiber = Fiber(reinterpret_cast<char*>(w.stack), kStackBytes, work);
      idle_.push_back(&w);
    }
  }
  Worker& w = *idle_.back();
  idle_.pop_back();
  return w;
}

// Main function of every fiber, an endless loop: runs threads that have not started, then waits.
void Block::work() {
  Block& block = *the_block;
  while (true) {
    while (block.begun_ < block.order_.size()) block.run_thread(block.order_[block.begun_++]);
    block.idle_.push_back(block.current_);
    block.stop();
  }
}

void Block::run_thread(unsigned thread) {
  current_->thread = thread;
  at_work.thread = thread;
  renew_stamp();
  kernel_->call(kernel_->function, kernel_->arguments);
  ++finished_;
  ++all_.ended;
  ++warps_[thread / kWarp].ended;
}

void Block::stop() { Fiber::change(current_->fiber, scheduler_); }

void Block::resume(Worker& worker) {
  current_ = &worker;
  at_work.thread = worker.thread;
  const bool checks = settings().checks;  // otherwise all memory counts as the thread's own
  at_work.stack = checks ? worker.stack : 0;
  at_work.stack_bytes = checks ? kStackBytes : SIZE_MAX;
  renew_stamp();
  Fiber::change(scheduler_, worker.fiber);
}

void Block::run(const Kernel& kernel) {
  kernel_ = &kernel;
  const unsigned threads = kernel.threads, warps = (threads + kWarp - 1) / kWarp;
  begun_ = 0;
  finished_ = 0;
  all_.expected = threads;
  all_.ended = 0;
  warps_.resize(warps);
  for (unsigned w = 0; w < warps; ++w) {
    warps_[w].expected = std::min(kWarp, threads - w * kWarp);
    warps_[w].ended = 0;
    at_work.warp_times[w] = 0;
  }
  order_.resize(threads);
  std::iota(order_.begin(), order_.end(), 0u);
  for (unsigned i = threads; i > 1; --i) std::swap(order_[i - 1], order_[random_number(i)]);
  // A few blocks switch threads often, the others run fast.
  switch_every_ = random_number(8) == 0 ? 20 : 5000;
  at_work.until_switch = accesses_until_switch(switch_every_);
  while (finished_ < threads) {
    const bool fresh = begun_ < threads;
    if (ready_.empty()) {
      if (!fresh) report_stuck();
      resume(idle_worker());
    } else if (fresh && random_number(2) == 0) {
      resume(idle_worker());
    } else {
      std::swap(ready_[random_number(static_cast<uint32_t>(ready_.size()))], ready_.back());
      Worker* const next = ready_.back();
      ready_.pop_back();
      resume(*next);
    }
  }
}

// A thread waits for another one that never arrives.
void Block::report_stuck() {
  std::string text = "threads wait for others that wait elsewhere:";
  const auto add = [&](const Rendezvous& m, const char* what) {
    for (size_t i = 0; i < std::min<size_t>(m.waiting.size(), 1); ++i) {
      at_work.thread = m.waiting[i]->thread;
      text += fmt::format(" {} at {}, thread {} among them;", m.waiting.size(), what,
                          m.waiting[i]->thread);
    }
  };
  add(all_, "a barrier");
  for (const Rendezvous& w : warps_) add(w, "an exchange of a warp");
  text += fmt::format(" {} have ended", finished_);
  report(text);
}

void Block::arrive(Rendezvous& rendezvous, const char* what, bool& completes) {
  if (rendezvous.ended > 0) {
    report(fmt::format("a thread waits at {} that {} others have ended without", what,
                       rendezvous.ended));
  }
  completes = rendezvous.waiting.size() + 1 == rendezvous.expected;
  if (!completes) rendezvous.waiting.push_back(current_);
}

void Block::release(Rendezvous& rendezvous) {
  ready_.insert(ready_.end(), rendezvous.waiting.begin(), rendezvous.waiting.end());
  rendezvous.waiting.clear();
}

void Block::wait_for_block() {
  bool completes = false;
  arrive(all_, "a barrier", completes);
  if (!completes) return stop();
  begin_interval();
  for (unsigned w = 0; w < warps_.size(); ++w) at_work.warp_times[w] = 0;
  renew_stamp();
  release(all_);
  pause();
}

void Block::wait_for_warp() {
  const unsigned warp = at_work.thread / kWarp;
  bool completes = false;
  arrive(warps_[warp], "an exchange of its warp", completes);
  if (!completes) return stop();
  uint16_t& time = at_work.warp_times[warp];
  if (time < stamps::kMostTime) ++time;
  ++warps_[warp].rounds;
  renew_stamp();
  release(warps_[warp]);
  pause();
}

void Block::pause() {
  at_work.until_switch = accesses_until_switch(switch_every_);
  ready_.push_back(current_);
  stop();
}

// A thread is at most one shuffle ahead of the others of its warp.
uint64_t Block::exchange(uint64_t value, unsigned lane) {
  const unsigned thread = at_work.thread;
  auto& values = values_[warps_[thread / kWarp].rounds % 2];
  values[thread] = value;
  wait_for_warp();
  return values[thread / kWarp * kWarp + lane];
}

const Factors* Block::exchange_factors(const Factors& mine) {
  const unsigned thread = at_work.thread;
  const Rendezvous& warp = warps_[thread / kWarp];
  if (warp.expected != kWarp) report("a product of a warp that lacks threads");
  auto& factors = factors_[warp.rounds % 2];
  factors[thread] = mine;
  wait_for_warp();
  return factors + thread / kWarp * kWarp;
}

}  // namespace

void run_block(const Kernel& kernel) { the_block->run(kernel); }

void let_others_go_on() { the_block->pause(); }

const Factors* exchange_factors(const Factors& mine) { return the_block->exchange_factors(mine); }

// Declared in device.h.
unsigned thread_in_block() { return at_work.thread; }
unsigned block_in_grid() { return at_work.block; }
unsigned threads_of_block() { return at_work.threads; }
unsigned blocks_of_grid() { return at_work.blocks; }
void wait_for_block() { the_block->wait_for_block(); }
void wait_for_warp() { the_block->wait_for_warp(); }
uint64_t exchange(uint64_t value, unsigned lane) { return the_block->exchange(value, lane); }

}  // namespace ambit::cuda::host
