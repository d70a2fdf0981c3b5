// Allocation and release of storages, and conversion to row-major order.
#include <ambit/backend/registry.h>
#include <ambit/detail/printable.h>
#include <ambit/detail/storage.h>
#include <ambit/error.h>

#include <fmt/format.h>

#include <utility>

#include "core/devices/backend_call.h"
#include "destroy_iteratively.h"
#include "inference_flag.h"
#include "planned_blocks.h"

namespace ambit {

constinit thread_local bool InferenceFlag::on = false;

namespace {

[[noreturn, gnu::noinline]] void throw_null(Device device, size_t bytes) {
  throw OutOfMemoryError(fmt::format("{}: expected {} bytes from allocate() of {}, got null",
                                     device.str(), bytes,
                                     printable(backend_library(device.kind()))));
}

[[gnu::always_inline]] inline void* allocate(Backend& backend, Device device, size_t bytes) {
  void* const p =
      call_backend(device, "allocate()", [&] { return backend.allocate(device.index(), bytes); });
  if (!p) [[unlikely]]
    throw_null(device, bytes);
  return p;
}

}  // namespace

StorageImpl::StorageImpl(Device device, size_t size_bytes)
    : size_bytes_(size_bytes), device_(device), inference_(InferenceFlag::on) {
  if (device.is_meta()) return;
  Backend& backend = memory_for_tensors(device, usable_backend(device));
  if (size_bytes == 0) return;
  data_ = allocate(backend, device, size_bytes);
  backend_ = &backend;
  state_.open();
}

StorageImpl::StorageImpl(void* data, size_t size_bytes, std::function<void(void*)> deleter)
    : data_(data),
      size_bytes_(size_bytes),
      inference_(InferenceFlag::on),
      deleter_(std::move(deleter)) {}

StorageImpl::StorageImpl(Device device, void* data, size_t size_bytes,
                         std::function<void(void*)> deleter)
    : data_(data),
      size_bytes_(size_bytes),
      device_(device),
      inference_(InferenceFlag::on),
      deleter_(std::move(deleter)) {
  usable_backend(device);
}

StorageImpl::~StorageImpl() {
  if (backend_) backend_->free(device_.index(), data_, size_bytes_);
  if (!deleter_) return;
  // Memory of a backend may have a deleter, too, which then only notifies.
  if (!device_.is_cpu() && !backend_)
    backend_of(device_).end_borrow(device_.index(), data_, size_bytes_);
  deleter_(data_);
}

void StorageImpl::set_pending_copy(Device source) {
  copy_source_ = source;
  state_.set_pending_copy();
}

bool StorageImpl::adopt(const PhysicalLayout& layout) {
  if (state_.is_native()) return layout_ == layout;
  if (!state_.is_open()) return false;
  layout_ = layout;
  state_.become_native();
  return true;
}

void StorageImpl::materialize() const {
  for (;;) {
    switch (state_.next_step()) {
      case LayoutState::Step::none:
        return;
      case LayoutState::Step::convert:
        return convert();
      case LayoutState::Step::await_copy:
        call_backend(copy_source_, "wait_for_copies()", [&] {
          backend_of(copy_source_).wait_for_copies(copy_source_.index(), data_);
        });
        state_.end_pending_copy();
    }
  }
}

void StorageImpl::convert() const {
  void* row_major = nullptr;
  try {
    row_major = allocate(*backend_, device_, size_bytes_);
    call_backend(device_, "to_row_major()", [&] {
      backend_->to_row_major(device_.index(), row_major, data_, size_bytes_, layout_);
    });
  } catch (...) {
    if (row_major) backend_->free(device_.index(), row_major, size_bytes_);
    state_.end_conversion(false);
    throw;
  }
  backend_->free(device_.index(), std::exchange(data_, row_major), size_bytes_);
  state_.end_conversion(true);
}

void StorageImpl::destroy(StorageImpl* s) noexcept {
  if (!s->deleter_) return delete s;
  // A deleter may drop the last reference to a tensor whose storage has a deleter too.
  destroy_iteratively(
      s, [](StorageImpl& t) -> StorageImpl*& { return t.next_to_destroy_; },
      [](StorageImpl* t) { delete t; });
}

}  // namespace ambit
