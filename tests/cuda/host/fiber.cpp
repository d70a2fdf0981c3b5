#include "fiber.h"

#include <cstdint>
#include <cstring>

// ambit_cuda_host_change(void** from, void* to): push the callee-saved registers of the ABI, store
// the stack pointer in *from, load the other one, and pop.
#if defined(__x86_64__)
asm(R"(
  .text
  .type ambit_cuda_host_change, @function
  .hidden ambit_cuda_host_change
  .globl ambit_cuda_host_change
ambit_cuda_host_change:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
  .size ambit_cuda_host_change, . - ambit_cuda_host_change
)");
#elif defined(__aarch64__)
asm(R"(
  .text
  .type ambit_cuda_host_change, %function
  .hidden ambit_cuda_host_change
  .globl ambit_cuda_host_change
ambit_cuda_host_change:
  sub sp, sp, #160
  stp x19, x20, [sp, #0]
  stp x21, x22, [sp, #16]
  stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]
  stp x29, x30, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x9, sp
  str x9, [x0]
  mov sp, x1
  ldp x19, x20, [sp, #0]
  ldp x21, x22, [sp, #16]
  ldp x23, x24, [sp, #32]
  ldp x25, x26, [sp, #48]
  ldp x27, x28, [sp, #64]
  ldp x29, x30, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  add sp, sp, #160
  ret
  .size ambit_cuda_host_change, . - ambit_cuda_host_change
)");
#endif

#if defined(__x86_64__) || defined(__aarch64__)

extern "C" void ambit_cuda_host_change(void** from, void* to);

namespace ambit::cuda::host {

// Prepare the stack as after a switch, with entry as the return address.
Fiber::Fiber(char* stack, size_t bytes, void (*entry)()) {
#if defined(__x86_64__)
  constexpr size_t kSlots = 8, kReturn = 6;  // the last slot is entry's return address, 0
#else
  constexpr size_t kSlots = 20, kReturn = 11;
#endif
  void* frame[kSlots] = {};
  frame[kReturn] = reinterpret_cast<void*>(entry);
  const auto top = reinterpret_cast<uintptr_t>(stack + bytes) & ~uintptr_t{15};
  stack_pointer_ = reinterpret_cast<void*>(top - sizeof frame);
  std::memcpy(stack_pointer_, frame, sizeof frame);
}

void Fiber::change(Fiber& from, Fiber& to) {
  ambit_cuda_host_change(&from.stack_pointer_, to.stack_pointer_);
}

}  // namespace ambit::cuda::host

#else

namespace ambit::cuda::host {

Fiber::Fiber(char* stack, size_t bytes, void (*entry)()) {
  getcontext(&context_);
  context_.uc_stack.ss_sp = stack;
  context_.uc_stack.ss_size = bytes;
  makecontext(&context_, entry, 0);
}

void Fiber::change(Fiber& from, Fiber& to) { swapcontext(&from.context_, &to.context_); }

}  // namespace ambit::cuda::host

#endif
