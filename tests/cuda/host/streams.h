// Streams: queues of work that runs only when a thread waits; then streams proceed in random order,
// constrained by events. All functions require the runtime's lock.
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

/// A recorded event: a position in a stream.
struct Mark {
  Queue* queue = nullptr;
  bool reached = false;
  uint64_t at = 0;                   ///< pieces of work that all streams had completed then
  Clock before;                      ///< the work ordered before it, once reached
  std::shared_ptr<Capture> capture;  ///< the capture that it is in; then it is never reached
};

/// The object of a cudaEvent_t.
struct Event {
  int device = 0;
  bool timing = true;
  std::shared_ptr<Mark> last;  ///< null: never recorded
};

/// A kernel, a copy, or work of a library.
struct Work {
  const char* name = nullptr;  // not owned, must remain valid
  const void* kernel = nullptr;
  std::function<void()> run;
};

/// The object of a cudaStream_t.
struct Queue {
  struct Item {
    Work work;                   // without run: a mark to reach, or to wait for
    std::shared_ptr<Mark> mark;  // null: work
    bool waits = false;          // wait for the mark
    Clock known;                 // the host's clock when it was queued
  };
  int device = 0;
  size_t id = 0;
  std::deque<Item> pending;
  uint64_t done = 0;  ///< number of completed pieces of work
  Clock before;       ///< the work ordered before the queue's next work
  bool destroyed = false;
  bool is_blocking = false;  ///< synchronises with the legacy stream
  bool is_legacy = false;
  std::shared_ptr<Capture> capture;  ///< the current capture, or null
  Clock captured;                    ///< `before` within the capture
};

/// State of the runtime except memory. All functions require `mutex` to be held.
class Streams {
 public:
  std::mutex mutex;

  Queue* create(int device, bool is_blocking = false);
  /// Destroy a stream; its queued work still runs.
  void destroy(Queue* queue);
  /// Return the queue of a handle (null: the legacy stream of `device`), or null for an invalid
  /// handle.
  Queue* find(cudaStream_t handle, int device);

  Event* create_event(int device, bool timing);
  Event* find(cudaEvent_t handle);
  void destroy(Event* event);

  cudaError_t add(Queue& queue, Work work);
  cudaError_t record(Event& event, Queue& queue);
  cudaError_t wait(Queue& queue, const Event& event);

  /// Run work until a queue is empty, a mark is reached, or all queues of a device (-1: of all
  /// devices) are empty; the host's clock then includes it.
  void finish(Queue& queue);
  void finish(const std::shared_ptr<Mark>& mark);
  void finish_device(int device);
  /// Return all streams that are not destroyed.
  std::vector<Queue*> live() const;
  /// Run a random amount of work, as if time had passed.
  void advance();
  bool is_empty(const Queue& queue) const { return queue.pending.empty(); }
  /// Record that the host has observed the completion of this work.
  void know(const Clock& done) { known_.join(done); }

  /// Set the sticky error: drop all work.
  void fail(cudaError_t status);
  cudaError_t sticky() const { return sticky_; }
  /// Count a launch; return true if it is the one that must fail.
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
  Clock known_;  // completed work that the host has observed
  uint64_t launches_ = 0, done_ = 0;
  cudaError_t sticky_ = cudaSuccess;
};

/// Leaked on purpose: used until exit.
Streams& streams();

}  // namespace ambit::cuda::host
