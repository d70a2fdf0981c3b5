// State machine of a storage block's element order and conversions: one atomic integer, so that
// most calls need only a load and a comparison. It owns no memory and moves no elements;
// StorageImpl does.
//
//   open          --settle_row_major-->  row-major
//   open          --become_native-->     native, with any number of readers
//   native        --next_step-->         converting, after the last reader released it
//   converting    --end_conversion-->    row-major, or native again if that failed
//   any           --set_pending_copy-->  pending copy
//   pending copy  --end_pending_copy-->  row-major
#pragma once

#include <ambit/api.h>

#include <atomic>
#include <cassert>
#include <cstdint>

namespace ambit {

class AMBIT_API LayoutState {
 public:
  /// The next step needed to make the block row-major.
  enum class Step { none, await_copy, convert };

  /// Start as row-major, for memory that is filled elsewhere.
  LayoutState() = default;
  /// Let the kernel that fills a new block choose its layout.
  void open() { state_.store(kOpen, std::memory_order_relaxed); }

  bool is_open() const { return state_.load(std::memory_order_acquire) == kOpen; }
  bool is_native() const { return state_.load(std::memory_order_acquire) >= kNative; }

  /// Return true if the block is row-major; an open block becomes row-major.
  bool settle_row_major() {
    const int32_t state = state_.load(std::memory_order_acquire);
    if (state == kOpen) {
      state_.store(kRowMajor, std::memory_order_relaxed);
      return true;
    }
    return state == kRowMajor;
  }

  /// From open: the block is in the backend's native layout, which must already be stored.
  void become_native() {
    assert(is_open());
    state_.store(kNative, std::memory_order_release);
  }
  /// Register a reader of the native layout, which is kept until all readers release it. Return
  /// false if the block is not native.
  bool acquire_native();
  void release_native();

  /// From any state: a copy into this block was requested and may not have finished.
  void set_pending_copy() { state_.store(kPendingCopy, std::memory_order_release); }
  void end_pending_copy();

  /// Return the step that the caller must perform, after waiting for readers of a native layout and
  /// for another thread's conversion. After await_copy call end_pending_copy(); after convert,
  /// which only one thread gets, end_conversion(). Requires: not open, and the calling thread reads
  /// no native layout, since two such threads would deadlock.
  Step next_step();
  /// Becomes row-major, or native again if the conversion failed.
  void end_conversion(bool converted);

 private:
  // From kNative on: native, with state_ - kNative readers.
  enum State : int32_t {
    kPendingCopy = -3,
    kConverting = -2,
    kOpen = -1,
    kRowMajor = 0,
    kNative = 1
  };

  std::atomic<int32_t> state_{kRowMajor};
};

}  // namespace ambit
