#include "backend.h"

#include <ambit/error.h>

#include <algorithm>
#include <chrono>

namespace ambit::sim {
namespace {

// Not memcpy, whose pointers must not be null even for 0 bytes.
void copy_bytes(void* to, const void* from, size_t bytes) {
  std::copy_n(static_cast<const char*>(from), bytes, static_cast<char*>(to));
}

std::vector<char> staged(const void* host, size_t bytes) {
  const auto* begin = static_cast<const char*>(host);
  return {begin, begin + bytes};
}

// Records the time at which the device's thread reaches it.
class QueueMark final : public TimeMark {
 public:
  explicit QueueMark(Queue& queue)
      : queue_(queue), ticket_(queue.push("mark_time", [reached = reached_] {
          *reached = std::chrono::duration_cast<std::chrono::nanoseconds>(
                         std::chrono::steady_clock::now().time_since_epoch())
                         .count();
        })) {}
  int64_t nanoseconds() noexcept override {
    queue_.wait(ticket_);
    return *reached_;
  }

 private:
  std::shared_ptr<int64_t> reached_ = std::make_shared<int64_t>(-1);  // the queue may outlive this
  Queue& queue_;
  const Queue::Ticket ticket_;
};

}  // namespace

SimBackend::SimBackend(const Request& request) : name_(request.name) {
  for (int i = 0; i < request.count; ++i) {
    devices_.push_back(std::make_unique<SimulatedDevice>(name_ + ":" + std::to_string(i)));
  }
  if (check_) check_->watches_itself(*this);
}

DeviceProperties SimBackend::properties(int index) const {
  return {.name = "simulated on the host",
          .total_memory = devices_[static_cast<size_t>(index)]->arena().limit()};
}

void* SimBackend::allocate(int index, size_t bytes) {
  void* p = device(index).allocate(bytes);
  if (check_) check_->allocated(named(index), p, bytes);
  return p;
}

void SimBackend::free(int index, void* p, size_t bytes) noexcept {
  if (check_) check_->freed(p);
  device(index).allocator().free(p, bytes);
}

MemoryStats SimBackend::memory_stats(int index) const {
  return devices_[static_cast<size_t>(index)]->allocator().stats();
}

void SimBackend::empty_cache(int index) { device(index).allocator().empty_cache(); }

Device SimBackend::named(int index) const { return Device(name_ + ":" + std::to_string(index)); }

// A copy between two devices has two steps, each queued on its device. The second waits for the
// first, which was queued earlier, so devices cannot wait for each other. Earlier failures on the
// source are reported on the target, too, or its host would see stale data.
void SimBackend::copy(int to_index, void* to, int from_index, const void* from, size_t bytes) {
  void* y = device_view(to);
  const void* x = device_view(from);
  if (to_index == from_index) {
    device(to_index).launch_copy([=] {
      std::copy_n(staged(x, bytes).begin(), bytes, static_cast<char*>(y));  // they may overlap
    });
    return;
  }
  if (check_) check_->device_copy(named(from_index), from, named(to_index), to, bytes);
  const auto travelling = std::make_shared<std::vector<char>>();
  Queue& source = device(from_index).queue();
  const Queue::Ticket sent = source.push("copy", [=] { *travelling = staged(x, bytes); });
  device(to_index).launch_copy([=, &source] {
    source.wait(sent);
    source.check();
    copy_bytes(y, travelling->data(), bytes);
  });
}

void SimBackend::copy_from_host(int index, void* to, const void* host, size_t bytes,
                                bool non_blocking) {
  void* y = device_view(to);
  const bool is_late = non_blocking && is_pinned(host, bytes);
  if (check_) check_->host_copy(named(index), to, true, host, bytes, is_late);
  if (is_late) {
    device(index).launch_copy([=] { copy_bytes(y, host, bytes); });
  } else {
    device(index).launch_copy(
        [y, data = staged(host, bytes)] { copy_bytes(y, data.data(), data.size()); });
  }
}

void SimBackend::copy_to_host(int index, void* host, const void* from, size_t bytes,
                              bool non_blocking) {
  const bool is_late = non_blocking && is_pinned(host, bytes);
  if (check_) check_->host_copy(named(index), from, false, host, bytes, is_late);
  const void* x = device_view(from);
  Queue& queue = device(index).queue();
  const Queue::Ticket copied = device(index).launch_copy([=] { copy_bytes(host, x, bytes); });
  if (is_late) return;
  queue.wait(copied);
  queue.throw_error();
}

void SimBackend::wait_for_copies(int index, const void* host) {
  if (check_) check_->waited(named(index), host);
  device(index).synchronize();
}

void SimBackend::synchronize(int index) {
  if (check_) check_->waited(named(index), nullptr);
  device(index).synchronize();
}

std::unique_ptr<TimeMark> SimBackend::mark_time(int index) {
  return std::make_unique<QueueMark>(device(index).queue());
}

void* SimBackend::allocate_pinned(size_t bytes) {
  void* p = Backend::allocate_pinned(bytes);
  if (check_) check_->allocated(Device(), p, bytes);
  try {
    const std::lock_guard lock(pinned_mutex_);
    pinned_.emplace(static_cast<const char*>(p), bytes);
  } catch (...) {
    Backend::free_pinned(p, bytes);
    throw;
  }
  return p;
}

void SimBackend::free_pinned(void* p, size_t bytes) noexcept {
  if (check_) check_->freed(p);
  for (const auto& d : devices_) d->queue().wait();  // a queued copy may still use it
  {
    const std::lock_guard lock(pinned_mutex_);
    pinned_.erase(static_cast<const char*>(p));
  }
  Backend::free_pinned(p, bytes);
}

// The only memory another library can lend is this device's own, lent to it before.
void SimBackend::borrow(int index, void* p, size_t bytes, std::optional<int64_t>) {
  if (bytes > 0 && !device(index).arena().contains(p, bytes)) {
    throw BackendError(name_ + ": expected memory of " + name_ + ":" + std::to_string(index) +
                       ", got other memory");
  }
}

void SimBackend::end_borrow(int index, void*, size_t) noexcept { device(index).queue().wait(); }

bool SimBackend::is_pinned(const void* host, size_t bytes) {
  const auto* begin = static_cast<const char*>(host);
  const std::lock_guard lock(pinned_mutex_);
  auto block = pinned_.upper_bound(begin);
  if (block == pinned_.begin()) return false;
  --block;
  return begin + bytes <= block->first + block->second;
}

}  // namespace ambit::sim
