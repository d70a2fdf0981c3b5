#include "streams.h"

#include <algorithm>
#include <utility>

#include "at_work.h"
#include "capture.h"
#include "memory.h"
#include "random.h"
#include "settings.h"
#include "shadow_access.h"

namespace ambit::cuda::host {

Streams& streams() {
  static auto* const all = new Streams;
  return *all;
}

Queue* Streams::create(int device, bool is_blocking) {
  auto queue = std::make_unique<Queue>();
  queue->device = device;
  queue->is_blocking = is_blocking;
  queue->id = queues_.size();
  queues_.push_back(std::move(queue));
  return queues_.back().get();
}

void Streams::destroy(Queue* queue) {
  if (queue->capture) invalidate(*queue->capture);
  queue->destroyed = true;
}

Queue* Streams::find(cudaStream_t handle, int device) {
  if (!handle) {
    const auto d = static_cast<size_t>(device);
    if (d >= legacy_.size()) legacy_.resize(d + 1);
    if (!legacy_[d]) {
      legacy_[d] = create(device);
      legacy_[d]->is_legacy = true;
    }
    return legacy_[d];
  }
  for (const auto& q : queues_) {
    if (reinterpret_cast<cudaStream_t>(q.get()) == handle) return q->destroyed ? nullptr : q.get();
  }
  return nullptr;
}

Event* Streams::create_event(int device, bool timing) {
  auto event = std::make_unique<Event>();
  event->device = device;
  event->timing = timing;
  Event* const made = event.get();
  events_.emplace(made, std::move(event));
  return made;
}

Event* Streams::find(cudaEvent_t handle) {
  const auto at = events_.find(reinterpret_cast<Event*>(handle));
  return at == events_.end() ? nullptr : at->second.get();
}

void Streams::destroy(Event* event) { events_.erase(event); }

cudaError_t Streams::add(Queue& queue, Work work) {
  if (queue.capture) return capture_work(queue, std::move(work));
  if (queue.is_legacy && !may_use_legacy(*this, queue.device)) {
    return cudaErrorStreamCaptureImplicit;
  }
  queue.pending.push_back({std::move(work), nullptr, false, known_});
  make_room(queue);
  return cudaSuccess;
}

cudaError_t Streams::record(Event& event, Queue& queue) {
  auto mark = std::make_shared<Mark>();
  mark->queue = &queue;
  if (queue.capture) {
    const cudaError_t status = capture_mark(queue, *mark);
    if (status == cudaSuccess) event.last = std::move(mark);
    return status;
  }
  event.last = std::move(mark);
  queue.pending.push_back({{}, event.last, false, known_});
  make_room(queue);
  return cudaSuccess;
}

// Queue a wait for the recording so far, not for later ones; without a recording do nothing.
cudaError_t Streams::wait(Queue& queue, const Event& event) {
  if (!event.last) return cudaSuccess;
  if (queue.capture || event.last->capture) return capture_wait(queue, *event.last);
  queue.pending.push_back({{}, event.last, true, known_});
  make_room(queue);
  return cudaSuccess;
}

std::vector<Queue*> Streams::live() const {
  std::vector<Queue*> all;
  for (const auto& q : queues_) {
    if (!q->destroyed) all.push_back(q.get());
  }
  return all;
}

void Streams::make_room(Queue& queue) {
  if (queue.pending.size() <= Settings::kQueueLimit) return;
  const DeviceMemory::Open open;
  while (queue.pending.size() > Settings::kQueueLimit) step_towards(queue);
}

bool Streams::can_go_on(const Queue& queue) const {
  if (queue.pending.empty()) return false;
  const Queue::Item& next = queue.pending.front();
  return !next.waits || next.mark->reached;
}

namespace {

// Declare the memory that work may access; a kernel adds its own.
void begin_on(int device) {
  const DeviceMemory& memory = device_memory();
  at_work.device = device;
  at_work.cells = &device_region();
  at_work.memory_begin = memory.begin() + static_cast<size_t>(device) * memory.span();
  at_work.memory_bytes = memory.span();
  at_work.shared = nullptr;
  at_work.module_bytes = at_work.argument_bytes = 0;
  at_work.thread = at_work.block = 0;
  at_work.blocks = at_work.threads = 1;
  at_work.warp_times[0] = 0;
  at_work.run.clear();
}

}  // namespace

// Run the first item of a queue.
void Streams::step(Queue& queue) {
  Queue::Item item = std::move(queue.pending.front());
  queue.pending.pop_front();
  queue.before.join(item.known);
  if (item.mark) {
    if (item.waits) {
      queue.before.join(item.mark->before);
    } else {
      item.mark->reached = true;
      item.mark->at = done_;
      item.mark->before = queue.before;
    }
    return;
  }
  const uint64_t number = queue.done + 1;
  ++done_;
  at_work.name = item.work.name;
  at_work.kernel = item.work.kernel;
  begin_on(queue.device);
  begin_work(queue.id, number, queue.before);
  renew_stamp();
  item.work.run();
  at_work.name = nullptr;
  at_work.kernel = nullptr;
  if (sticky_ != cudaSuccess) return;
  queue.done = number;
  queue.before.set(queue.id, number);
}

// Run an item that the first item of the queue depends on. There is always one that can run,
// because a wait is for an item that was queued earlier.
void Streams::step_towards(Queue& queue) {
  if (random_number(2) == 0) return step_any();
  Queue* next = &queue;
  while (!can_go_on(*next)) next = next->pending.front().mark->queue;
  step(*next);
}

void Streams::step_any() {
  std::vector<Queue*> able;
  for (const auto& q : queues_) {
    if (can_go_on(*q)) able.push_back(q.get());
  }
  if (!able.empty()) step(*able[random_number(static_cast<uint32_t>(able.size()))]);
}

void Streams::finish(Queue& queue) {
  if (!queue.pending.empty()) {
    const DeviceMemory::Open open;
    while (!queue.pending.empty()) step_towards(queue);
  }
  know(queue.before);
}

void Streams::finish(const std::shared_ptr<Mark>& mark) {
  if (!mark->reached) {
    const DeviceMemory::Open open;
    while (!mark->reached && sticky_ == cudaSuccess) step_towards(*mark->queue);
  }
  know(mark->before);
}

void Streams::finish_device(int device) {
  std::vector<Queue*> meant;
  for (const auto& q : queues_) {
    if (device < 0 || q->device == device) meant.push_back(q.get());
  }
  // Run work of random queues until all queues are empty.
  const DeviceMemory::Open open;
  for (std::vector<Queue*> busy = meant; !busy.empty();) {
    Queue*& next = busy[random_number(static_cast<uint32_t>(busy.size()))];
    if (next->pending.empty()) {
      next = busy.back();
      busy.pop_back();
    } else {
      step_towards(*next);
    }
  }
  for (const Queue* q : meant) know(q->before);
}

void Streams::advance() {
  const uint32_t steps = random_number(4);
  if (steps == 0) return;
  const DeviceMemory::Open open;
  for (uint32_t i = 0; i < steps; ++i) step_any();
}

void Streams::fail(cudaError_t status) {
  sticky_ = status;
  for (const auto& q : queues_) q->pending.clear();
}

bool Streams::is_failing_launch() { return ++launches_ == settings().failing_launch; }

}  // namespace ambit::cuda::host
