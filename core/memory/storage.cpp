// Allocation and release of a tensor's bytes, and what happens when somebody looks at them.
#include <ambit/backend/registry.h>
#include <ambit/detail/storage.h>

#include <utility>

namespace ambit {

StorageImpl::StorageImpl(Device device, size_t size_bytes)
    : size_bytes_(size_bytes), device_(device) {
  if (device.is_meta()) return;
  Backend& backend = usable_backend(device);
  if (size_bytes == 0) return;
  data_ = backend.allocate(device.index(), size_bytes);
  backend_ = &backend;
  order_.store(kOpen, std::memory_order_relaxed);
}

StorageImpl::StorageImpl(void* data, size_t size_bytes, std::function<void(void*)> deleter)
    : data_(data), size_bytes_(size_bytes), deleter_(std::move(deleter)) {}

StorageImpl::~StorageImpl() {
  if (backend_) backend_->free(device_.index(), data_, size_bytes_);
  if (deleter_) deleter_(data_);
}

void StorageImpl::await(Device source) {
  source_ = source;
  order_.store(kOnItsWay, std::memory_order_release);
}

bool StorageImpl::adopt(const PhysicalLayout& layout) {
  const int32_t order = order_.load(std::memory_order_acquire);
  if (order >= kLaidOut) return layout_ == layout;
  if (order != kOpen) return false;
  layout_ = layout;
  order_.store(kLaidOut, std::memory_order_release);
  return true;
}

bool StorageImpl::hold() const {
  int32_t order = order_.load(std::memory_order_acquire);
  while (order >= kLaidOut) {
    if (order_.compare_exchange_weak(order, order + 1, std::memory_order_acquire)) return true;
  }
  return false;
}

void StorageImpl::release() const {
  if (order_.fetch_sub(1, std::memory_order_release) == kLaidOut + 1) order_.notify_all();
}

// One of those who look converts; the others wait for it, and it for those who hold the block.
void StorageImpl::look() const {
  for (;;) {
    int32_t order = order_.load(std::memory_order_acquire);
    if (order == kRowMajor) return;
    if (order == kLaidOut && order_.compare_exchange_strong(order, kConverting)) return convert();
    if (order == kConverting || order > kLaidOut) order_.wait(order, std::memory_order_acquire);
    if (order == kOnItsWay) {
      backend_of(source_).wait_for_copies(source_.index(), data_);
      order_.compare_exchange_strong(order, kRowMajor);
    }
  }
}

void StorageImpl::convert() const {
  const auto end = [this](Order order) {
    order_.store(order, std::memory_order_release);
    order_.notify_all();
  };
  void* row_major = nullptr;
  try {
    row_major = backend_->allocate(device_.index(), size_bytes_);
    backend_->to_row_major(device_.index(), row_major, data_, size_bytes_, layout_);
  } catch (...) {
    if (row_major) backend_->free(device_.index(), row_major, size_bytes_);
    end(kLaidOut);
    throw;
  }
  backend_->free(device_.index(), std::exchange(data_, row_major), size_bytes_);
  end(kRowMajor);
}

void StorageImpl::destroy(StorageImpl* s) noexcept { delete s; }

}  // namespace ambit
