#include "arena.h"

#include <ambit/error.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <iterator>

#include "trap.h"

namespace ambit::sim {
namespace {

// A file descriptor, closed at the end of the scope; the mappings keep the memory alive.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

[[noreturn]] void throw_system_error(const char* device, const char* call) {
  throw BackendError(fmt::format("allocate: expected address space for {}, got an error of {}: {}",
                                 device, call, std::strerror(errno)));
}

}  // namespace

size_t Arena::capacity() { return std::min(kArenaBytes, HostMemory::total_bytes()); }

// [base_, + kArenaBytes) is the public range; the device's view follows directly.
void Arena::map() {
  const Descriptor memory(memfd_create("ambit_sim", MFD_CLOEXEC));
  if (memory.get() < 0) throw_system_error(device_, "memfd_create");
  if (ftruncate(memory.get(), static_cast<off_t>(kArenaBytes)) != 0) {
    throw_system_error(device_, "ftruncate");
  }
  void* reserved =
      mmap(nullptr, 2 * kArenaBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED) throw_system_error(device_, "mmap");
  const int shared = MAP_SHARED | MAP_FIXED | MAP_NORESERVE;
  void* view = device_view(reserved);
  if (mmap(reserved, kArenaBytes, PROT_NONE, shared, memory.get(), 0) == MAP_FAILED ||
      mmap(view, kArenaBytes, PROT_READ | PROT_WRITE, shared, memory.get(), 0) == MAP_FAILED) {
    const int error = errno;
    munmap(reserved, 2 * kArenaBytes);
    errno = error;
    throw_system_error(device_, "mmap");
  }
  trap_host_access(device_, reserved, kArenaBytes);
  free_.emplace(0, kArenaBytes);
  base_ = static_cast<char*>(reserved);
}

// First fit. The caching allocator requests multiples of 64.
void* Arena::allocate(size_t bytes) {
  if (!base_) map();
  if (bytes > free_bytes()) return nullptr;
  const auto fit = std::find_if(free_.begin(), free_.end(),
                                [&](const auto& range) { return range.second >= bytes; });
  if (fit == free_.end()) return nullptr;
  const auto [offset, size] = *fit;
  free_.erase(fit);
  if (size > bytes) free_.emplace(offset + bytes, size - bytes);
  used_ += bytes;
  return base_ + offset;
}

bool Arena::contains(const void* p, size_t bytes) const {
  const char* base = base_;
  if (!base) return false;
  const auto begin = reinterpret_cast<uintptr_t>(base), first = reinterpret_cast<uintptr_t>(p);
  return first >= begin && bytes <= kArenaBytes && first - begin <= kArenaBytes - bytes;
}

void Arena::free(void* p, size_t bytes) noexcept {
  queue_.wait();  // queued work may still read it
  used_ -= bytes;
  const auto begin = static_cast<size_t>(static_cast<char*>(p) - base_), end = begin + bytes;
  auto range = free_.emplace(begin, bytes).first;
  if (const auto after = std::next(range); after != free_.end() && after->first == end) {
    range->second += after->second;
    free_.erase(after);
  }
  if (range != free_.begin()) {
    if (const auto before = std::prev(range); before->first + before->second == begin) {
      before->second += range->second;
      free_.erase(range);
      range = before;
    }
  }
  // Return the pages that contain only free memory.
  static const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t range_end = range->first + range->second;
  const size_t first_page = std::max(begin / page, (range->first + page - 1) / page) * page;
  const size_t end_page = std::min((end + page - 1) / page, range_end / page) * page;
  if (first_page < end_page) {
    madvise(device_view(base_ + first_page), end_page - first_page, MADV_REMOVE);
  }
}

size_t Arena::free_bytes() {
  const size_t limit = limit_;
  return limit > used_ ? limit - used_ : 0;
}

}  // namespace ambit::sim
