// The handler uses only async-signal-safe calls: no allocation, no stdio, no locks.
#include "trap.h"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>

#include "requests.h"

namespace ambit::sim {
namespace {

struct Range {
  const char* name;
  uintptr_t begin, end;
};

// Ranges are only appended, and published by the release store of `range_count`.
constinit std::array<Range, kMaxDevices> ranges{};
constinit std::atomic<size_t> range_count{0};
struct sigaction previous;

// A text of bounded length on the stack.
class Line {
 public:
  Line& operator<<(const char* text) {
    while (*text && size_ < bytes_.size()) bytes_[size_++] = *text++;
    return *this;
  }
  Line& operator<<(uintptr_t address) {
    std::array<char, 2 * sizeof address + 3> digits{};
    size_t at = digits.size() - 1;
    do {
      digits[--at] = "0123456789abcdef"[address % 16];
      address /= 16;
    } while (address);
    digits[--at] = 'x';
    digits[--at] = '0';
    return *this << &digits[at];
  }
  void print() const {
    // Nothing can be done if this fails.
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, bytes_.data(), size_);
  }

 private:
  std::array<char, 200> bytes_;
  size_t size_ = 0;
};

const Range* find_range(uintptr_t address) {
  const size_t count = range_count.load(std::memory_order_acquire);
  for (size_t i = 0; i < count; ++i) {
    if (address >= ranges[i].begin && address < ranges[i].end) return &ranges[i];
  }
  return nullptr;
}

// Terminate by the signal, as without a handler. It is blocked while a handler runs, so it is
// delivered when this one returns.
void die(int signal) {
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  sigaction(signal, &standard, nullptr);
  raise(signal);
}

void on_fault(int signal, siginfo_t* info, void* context) {
  const auto address = reinterpret_cast<uintptr_t>(info->si_addr);
  // Positive codes come from the kernel; a signal sent by kill() has no address.
  if (const Range* range = info->si_code > 0 ? find_range(address) : nullptr) {
    Line line;
    line << "ambit: host access to memory of " << range->name << " at " << address
         << "; copy it to the cpu first\n";
    line.print();
    return die(signal);
  }
  if (previous.sa_flags & SA_SIGINFO) return previous.sa_sigaction(signal, info, context);
  if (previous.sa_handler == SIG_DFL || previous.sa_handler == SIG_IGN) return die(signal);
  previous.sa_handler(signal);
}

void install_handler() {
  struct sigaction action {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  // Set before the handler can run: sigaction() locks the table of handlers, also for other
  // threads.
  sigaction(SIGSEGV, nullptr, &previous);
  sigaction(SIGSEGV, &action, nullptr);
}

}  // namespace

void trap_host_access(const char* name, const void* begin, size_t bytes) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  const size_t count = range_count.load(std::memory_order_relaxed);
  const auto first = reinterpret_cast<uintptr_t>(begin);
  ranges[count] = {name, first, first + bytes};
  range_count.store(count + 1, std::memory_order_release);
  if (count == 0) install_handler();
}

}  // namespace ambit::sim
