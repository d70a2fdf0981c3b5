#include <ambit/detail/layout_state.h>

namespace ambit {
namespace {

// Number of blocks that the calling thread has acquired, for assertions only: a thread that holds
// one and waits for another's readers can deadlock with one of them.
#ifdef NDEBUG
void count_acquired(int) {}
#else
thread_local int acquired_here = 0;
void count_acquired(int change) { acquired_here += change; }
#endif

}  // namespace

// Changes before notify_all() are sequentially consistent: libstdc++ skips the wake-up if its count
// of waiting threads is zero, and that load could otherwise precede a store with release.
//
// A reader's fetch_add and fetch_sub are read-modify-writes, so the exchange to kConverting
// acquires the releases of all readers before it: their reads precede the conversion. The relaxed
// stores of the header publish no data: an open block has no elements yet.

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
  if (state_.fetch_sub(1) == kNative + 1) state_.notify_all();
}

// Another state may have been set meanwhile; it is kept.
void LayoutState::end_pending_copy() {
  int32_t state = kPendingCopy;
  state_.compare_exchange_strong(state, kRowMajor);
}

LayoutState::Step LayoutState::next_step() {
  for (;;) {
    int32_t state = state_.load(std::memory_order_acquire);
    if (state == kRowMajor) return Step::none;
    if (state == kPendingCopy) return Step::await_copy;
    // Waiting for a conversion is safe: the converting thread waits for no reader.
    assert(state == kConverting || acquired_here == 0);
    if (state == kNative) {
      if (state_.compare_exchange_strong(state, kConverting)) return Step::convert;
    } else {
      state_.wait(state, std::memory_order_acquire);
    }
  }
}

void LayoutState::end_conversion(bool converted) {
  state_.store(converted ? kRowMajor : kNative);
  state_.notify_all();
}

}  // namespace ambit
