#include <ambit/detail/layout_state.h>

namespace ambit {
namespace {

// Blocks that the calling thread has acquired. Only assertions ask: where a thread has one, and
// waits for the readers of another, it may wait for one who waits for it.
#ifdef NDEBUG
void count_acquired(int) {}
#else
thread_local int acquired_here = 0;
void count_acquired(int change) { acquired_here += change; }
#endif

}  // namespace

bool LayoutState::acquire_native() {
  int32_t state = state_.load(std::memory_order_acquire);
  while (state >= kNative) {
    if (!state_.compare_exchange_weak(state, state + 1, std::memory_order_acquire)) continue;
    count_acquired(1);
    return true;
  }
  return false;
}

void LayoutState::release_native() {
  count_acquired(-1);
  if (state_.fetch_sub(1, std::memory_order_release) == kNative + 1) state_.notify_all();
}

// A copy may have been followed by another state meanwhile, which stays.
void LayoutState::end_pending_copy() {
  int32_t state = kPendingCopy;
  state_.compare_exchange_strong(state, kRowMajor);
}

LayoutState::Step LayoutState::next_step() {
  for (;;) {
    int32_t state = state_.load(std::memory_order_acquire);
    if (state == kRowMajor) return Step::none;
    if (state == kPendingCopy) return Step::await_copy;
    // Those who wait for a conversion wait for nobody who reads.
    assert(state == kConverting || acquired_here == 0);
    if (state == kNative) {
      if (state_.compare_exchange_strong(state, kConverting)) return Step::convert;
    } else {
      state_.wait(state, std::memory_order_acquire);
    }
  }
}

void LayoutState::end_conversion(bool converted) {
  state_.store(converted ? kRowMajor : kNative, std::memory_order_release);
  state_.notify_all();
}

}  // namespace ambit
