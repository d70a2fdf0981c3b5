// A backend that records the calls of another one.
#pragma once

#include <ambit/backend/backend.h>

#include <memory>
#include <string>

#include "events.h"

namespace ambit::check {

class WatchedBackend final : public Backend {
 public:
  explicit WatchedBackend(std::unique_ptr<Backend> backend)
      : inner_(std::move(backend)), name_(inner_->name()) {}

  std::string name() const override { return name_; }
  int device_count() const noexcept override { return inner_->device_count(); }
  std::string reason_for_none() const override { return inner_->reason_for_none(); }
  DeviceProperties properties(int index) const override { return inner_->properties(index); }
  bool is_accelerator() const override { return inner_->is_accelerator(); }

  void* allocate(int index, size_t bytes) override {
    void* p = inner_->allocate(index, bytes);
    if (p) allocated(named(index), p, bytes);
    return p;
  }
  void free(int index, void* p, size_t bytes) noexcept override {
    freed(p);
    inner_->free(index, p, bytes);
  }
  MemoryStats memory_stats(int index) const override { return inner_->memory_stats(index); }
  void empty_cache(int index) override { inner_->empty_cache(index); }

  void copy(int to_index, void* to, int from_index, const void* from, size_t bytes) override {
    if (to_index != from_index) device_copy(named(from_index), from, named(to_index), to, bytes);
    inner_->copy(to_index, to, from_index, from, bytes);
  }
  void copy_from_host(int index, void* to, const void* host, size_t bytes,
                      bool non_blocking) override {
    const bool is_late = non_blocking && inner_->is_pinned(host, bytes);
    host_copy(named(index), to, true, host, bytes, is_late);
    inner_->copy_from_host(index, to, host, bytes, non_blocking);
  }
  void copy_to_host(int index, void* host, const void* from, size_t bytes,
                    bool non_blocking) override {
    const bool is_late = non_blocking && inner_->is_pinned(host, bytes);
    host_copy(named(index), from, false, host, bytes, is_late);
    inner_->copy_to_host(index, host, from, bytes, non_blocking);
  }
  void to_row_major(int index, void* to, const void* from, size_t bytes,
                    const PhysicalLayout& layout) override {
    inner_->to_row_major(index, to, from, bytes, layout);
  }
  void wait_for_copies(int index, const void* host) override {
    waited(named(index), host);
    inner_->wait_for_copies(index, host);
  }
  void synchronize(int index) override {
    if (!named(index).is_cpu()) waited(named(index), nullptr);
    inner_->synchronize(index);
  }
  void expect_true(int index, const void* fact, const char* otherwise) override {
    inner_->expect_true(index, fact, otherwise);
  }
  void activate(int index) override { inner_->activate(index); }
  std::unique_ptr<TimeMark> mark_time(int index) override { return inner_->mark_time(index); }
  void* allocate_pinned(size_t bytes) override {
    void* p = inner_->allocate_pinned(bytes);
    if (p) allocated(kCPU, p, bytes);
    return p;
  }
  void free_pinned(void* p, size_t bytes) noexcept override {
    freed(p);
    inner_->free_pinned(p, bytes);
  }
  bool is_pinned(const void* host, size_t bytes) override { return inner_->is_pinned(host, bytes); }

  int32_t dlpack_device_type() const override { return inner_->dlpack_device_type(); }
  void lend(int index, void* p, std::optional<int64_t> stream) override {
    inner_->lend(index, p, stream);
  }
  void borrow(int index, void* p, size_t bytes, std::optional<int64_t> stream) override {
    inner_->borrow(index, p, bytes, stream);
  }
  void end_borrow(int index, void* p, size_t bytes) noexcept override {
    inner_->end_borrow(index, p, bytes);
  }
  void expect_repeatable(int index, const char* what) override {
    inner_->expect_repeatable(index, what);
  }

 private:
  Device named(int index) const {
    return name_ == "cpu" ? Device() : Device(name_ + ":" + std::to_string(index));
  }

  const std::unique_ptr<Backend> inner_;
  const std::string name_;
};

}  // namespace ambit::check
