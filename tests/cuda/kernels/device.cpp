#include "device.h"

#include "backends/cuda/kernels.h"

#include <memory>

HostBlock* HostBlock::current = nullptr;

void HostBarrier::wait() {
  const unsigned now = generation;
  if (++arrived == expected) {
    arrived = 0;
    ++generation;
  }
  while (now == generation) HostBlock::current->yield();
}

HostBlock::HostBlock(unsigned threads, std::function<void()> kernel)
    : all{threads},
      warps((threads + kWarp - 1) / kWarp, HostBarrier{kWarp}),
      kernel_(std::move(kernel)),
      scheduler_(),
      threads_(threads) {}

void HostBlock::enter() {
  HostBlock& block = *current;
  block.kernel_();
  block.threads_[threadIdx.x].finished = true;
  swapcontext(&block.threads_[threadIdx.x].context, &block.scheduler_);
}

void HostBlock::yield() { swapcontext(&threads_[threadIdx.x].context, &scheduler_); }

// Kernels may return early only where no thread waits for them any more.
void HostBlock::run() {
  constexpr size_t kStackBytes = size_t{64} << 10;
  static const auto stacks =
      std::make_unique_for_overwrite<char[]>(ambit::cuda::kThreads * kStackBytes);
  current = this;
  for (size_t i = 0; i < threads_.size(); ++i) {
    ucontext_t& context = threads_[i].context;
    getcontext(&context);
    context.uc_stack.ss_sp = stacks.get() + i * kStackBytes;
    context.uc_stack.ss_size = kStackBytes;
    makecontext(&context, enter, 0);
  }
  for (bool working = true; working;) {
    working = false;
    for (unsigned i = 0; i < threads_.size(); ++i) {
      if (threads_[i].finished) continue;
      working = true;
      threadIdx = {i};
      swapcontext(&scheduler_, &threads_[i].context);
    }
  }
}

// What kernels call of those that are not compiled here.
void ambit::cuda::fill(Tensor& y, const Scalar& value) { y.fill_(value); }
