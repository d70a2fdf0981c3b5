// Threads of a block take turns on stacks of their own: a switch from one to another, without the
// system calls of swapcontext.
#pragma once

#include <cstddef>

#if !defined(__x86_64__) && !defined(__aarch64__)
#include <ucontext.h>
#endif

namespace ambit::cuda::host {

/// Where something stopped and goes on: a stack with all registers that a call keeps.
class Fiber {
 public:
  /// The caller itself, which fills it when it switches away.
  Fiber() = default;
  /// Begins with entry(), on `stack`, when it is first switched to; entry must not return.
  Fiber(char* stack, size_t bytes, void (*entry)());

  /// Stop here, and go on there.
  static void change(Fiber& from, Fiber& to);

 private:
#if defined(__x86_64__) || defined(__aarch64__)
  void* stack_pointer_ = nullptr;
#else
  ucontext_t context_;
#endif
};

}  // namespace ambit::cuda::host
