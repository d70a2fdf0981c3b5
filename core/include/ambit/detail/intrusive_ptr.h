// A reference-counted pointer with the count in the object: one word, one allocation, no control
// block. Modelled on boost::intrusive_ptr and c10::intrusive_ptr.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

namespace ambit {

/// Base of all classes held by an intrusive_ptr.
class RefCounted {
 public:
  RefCounted() = default;
  RefCounted(const RefCounted&) = delete;
  RefCounted& operator=(const RefCounted&) = delete;

  // No other thread can change the count while the caller holds the first or the last reference, so
  // creating and dropping an object in one place costs no atomic read-modify-write.
  void retain() const noexcept {
    if (count_.load(std::memory_order_relaxed) == 0) {
      count_.store(1, std::memory_order_relaxed);
    } else {
      count_.fetch_add(1, std::memory_order_relaxed);
    }
  }
  /// Return true if the caller dropped the last reference and must destroy the object.
  bool drop() const noexcept {
    return count_.load(std::memory_order_acquire) == 1 ||
           count_.fetch_sub(1, std::memory_order_acq_rel) == 1;
  }
  /// Acquires the accesses of owners that dropped their references before, so that a sole owner may
  /// write the object.
  uint32_t use_count() const noexcept { return count_.load(std::memory_order_acquire); }

 protected:
  ~RefCounted() = default;

 private:
  mutable std::atomic<uint32_t> count_{0};
};

/// T must have `static void destroy(T*) noexcept`, called when the last reference is dropped.
template <class T>
class intrusive_ptr {
 public:
  constexpr intrusive_ptr() noexcept = default;
  constexpr intrusive_ptr(std::nullptr_t) noexcept {}
  explicit intrusive_ptr(T* p) noexcept : p_(p) {
    if (p_) p_->retain();
  }
  intrusive_ptr(const intrusive_ptr& o) noexcept : intrusive_ptr(o.p_) {}
  intrusive_ptr(intrusive_ptr&& o) noexcept : p_(std::exchange(o.p_, nullptr)) {}
  intrusive_ptr& operator=(const intrusive_ptr& o) noexcept {
    intrusive_ptr(o).swap(*this);
    return *this;
  }
  intrusive_ptr& operator=(intrusive_ptr&& o) noexcept {
    intrusive_ptr(std::move(o)).swap(*this);
    return *this;
  }
  ~intrusive_ptr() {
    if (p_ && p_->drop()) T::destroy(p_);
  }

  T* get() const noexcept { return p_; }
  T* operator->() const noexcept { return p_; }
  T& operator*() const noexcept { return *p_; }
  explicit operator bool() const noexcept { return p_ != nullptr; }
  void reset() noexcept { intrusive_ptr().swap(*this); }
  void swap(intrusive_ptr& o) noexcept { std::swap(p_, o.p_); }
  /// Give up ownership without dropping the reference.
  T* detach() noexcept { return std::exchange(p_, nullptr); }
  /// A shared_ptr that holds a reference, for programs that store graph nodes as libtorch does.
  operator std::shared_ptr<T>() const {
    return p_ ? std::shared_ptr<T>(p_, [held = *this](T*) {}) : nullptr;
  }
  friend bool operator==(const intrusive_ptr& a, const intrusive_ptr& b) { return a.p_ == b.p_; }

 private:
  T* p_ = nullptr;
};

}  // namespace ambit
