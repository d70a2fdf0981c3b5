// Streams as queues of work that nobody does until somebody waits; then streams go on in random
// turns, as events allow. All under one lock, of the runtime.
#pragma once

#include <cuda_runtime_api.h>

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "history.h"

namespace ambit::cuda::host {

struct Capture;
struct Queue;

/// A recording of an event: a place in a stream.
struct Mark {
  Queue* queue = nullptr;
  bool reached = false;
  uint64_t at = 0;                   ///< how many pieces of work all streams had done by then
  Clock before;                      ///< what is done where it is reached
  std::shared_ptr<Capture> capture;  ///< that it is a place in: nothing ever reaches it
};

/// What cudaEvent_t points at.
struct Event {
  int device = 0;
  bool timing = true;
  std::shared_ptr<Mark> last;  ///< null: never recorded
};

/// A kernel, a copy, or a library's own.
struct Work {
  const char* name = nullptr;  // that stays
  const void* kernel = nullptr;
  std::function<void()> run;
};

/// What cudaStream_t points at.
struct Queue {
  struct Item {
    Work work;                   // run empty: a mark to reach, or to wait for
    std::shared_ptr<Mark> mark;  // null: work
    bool waits = false;          // for the mark
    Clock known;                 // of the host when it was queued
  };
  int device = 0;
  size_t id = 0;
  std::deque<Item> pending;
  uint64_t done = 0;  ///< pieces of work
  Clock before;       ///< what its next work comes after
  bool destroyed = false;
  bool is_blocking = false;  ///< waits for the legacy stream, and that for it
  bool is_legacy = false;
  std::shared_ptr<Capture> capture;  ///< that takes its work now, or null
  Clock captured;                    ///< what of the capture its next work comes after
};

/// All state of the runtime but memory. Requires of all functions: `mutex` is held.
class Streams {
 public:
  std::mutex mutex;

  Queue* create(int device, bool is_blocking = false);
  /// Its work is still done.
  void destroy(Queue* queue);
  /// Return the queue of a handle, null: the legacy stream of `device`; or null for no handle.
  Queue* find(cudaStream_t handle, int device);

  Event* create_event(int device, bool timing);
  Event* find(cudaEvent_t handle);
  void destroy(Event* event);

  cudaError_t add(Queue& queue, Work work);
  cudaError_t record(Event& event, Queue& queue);
  cudaError_t wait(Queue& queue, const Event& event);

  /// Do work until a queue is empty, or a mark is reached, or all queues of a device are empty (-1:
  /// of all), which the host then knows.
  void finish(Queue& queue);
  void finish(const std::shared_ptr<Mark>& mark);
  void finish_device(int device);
  /// All that are not destroyed.
  std::vector<Queue*> live() const;
  /// Do a little, as time would.
  void go_on();
  bool is_empty(const Queue& queue) const { return queue.pending.empty(); }
  /// The host has seen that all of it is done.
  void know(const Clock& done) { known_.join(done); }

  /// Fail for good: forget all work.
  void fail(cudaError_t status);
  cudaError_t sticky() const { return sticky_; }
  /// Count a launch; whether it is the one that fails.
  bool is_failing_launch();

 private:
  bool can_go_on(const Queue& queue) const;
  void step(Queue& queue);
  void step_towards(Queue& queue);
  void step_any();
  void make_room(Queue& queue);

  std::vector<std::unique_ptr<Queue>> queues_;
  std::vector<Queue*> legacy_;
  std::map<Event*, std::unique_ptr<Event>> events_;
  Clock known_;  // to the host
  uint64_t launches_ = 0, done_ = 0;
  cudaError_t sticky_ = cudaSuccess;
};

/// Leaked: it is asked until exit.
Streams& streams();

}  // namespace ambit::cuda::host
