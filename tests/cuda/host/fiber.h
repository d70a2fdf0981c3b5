// Fibers: the threads of a block have their own stacks, and switch without the system calls of
// swapcontext.
#pragma once

#include <cstddef>

#if !defined(__x86_64__) && !defined(__aarch64__)
#include <ucontext.h>
#endif

namespace ambit::cuda::host {

/// A suspended execution: a stack with all callee-saved registers.
class Fiber {
 public:
  /// The caller itself; filled when it switches away.
  Fiber() = default;
  /// Starts with entry() on `stack` at the first switch; entry must not return.
  Fiber(char* stack, size_t bytes, void (*entry)());

  /// Suspend `from`, and resume `to`.
  static void change(Fiber& from, Fiber& to);

 private:
#if defined(__x86_64__) || defined(__aarch64__)
  void* stack_pointer_ = nullptr;
#else
  ucontext_t context_;
#endif
};

}  // namespace ambit::cuda::host
