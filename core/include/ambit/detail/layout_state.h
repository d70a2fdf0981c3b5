// In what order the elements of a block lie, and what is being done about it: one atomic number, so
// that most calls get by with a load and a comparison. It owns no memory and moves no elements;
// StorageImpl does.
//
//   open          --settle_row_major-->  row-major
//   open          --become_native-->     native, with any number of readers
//   native        --next_step-->         converting, when the last reader has gone
//   converting    --end_conversion-->    row-major, or native again where that failed
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
  /// What has to be done next so that the elements lie row-major.
  enum class Step { none, await_copy, convert };

  /// Start as row-major, of memory that others fill.
  LayoutState() = default;
  /// Let the kernel that fills a fresh block choose the layout.
  void open() { state_.store(kOpen, std::memory_order_relaxed); }

  bool is_open() const { return state_.load(std::memory_order_acquire) == kOpen; }
  bool is_native() const { return state_.load(std::memory_order_acquire) >= kNative; }

  /// Return whether the elements lie row-major; those of an open block do from now on.
  bool settle_row_major() {
    const int32_t state = state_.load(std::memory_order_acquire);
    if (state == kOpen) {
      state_.store(kRowMajor, std::memory_order_relaxed);
      return true;
    }
    return state == kRowMajor;
  }

  /// From open: the elements lie in the backend's native layout, which has been noted before.
  void become_native() {
    assert(is_open());
    state_.store(kNative, std::memory_order_release);
  }
  /// Join the readers of a native layout, which stays until all of them have released it. Return
  /// false where there is none.
  bool acquire_native();
  void release_native();

  /// From any: a copy to here has been asked for, which may not have happened yet.
  void set_pending_copy() { state_.store(kPendingCopy, std::memory_order_release); }
  void end_pending_copy();

  /// Find the step that the caller must take, after waiting for whom it has to: for the readers of
  /// a native layout, and for another thread that converts. After await_copy comes
  /// end_pending_copy(), after convert, which only one thread is told, end_conversion(). Requires:
  /// not open, and that the calling thread reads no native layout, as two that do would wait for
  /// each other.
  Step next_step();
  /// To row-major, or where that failed back to native.
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
