// Allocation and release of a tensor's bytes.
#include <ambit/registry.h>
#include <ambit/storage.h>

#include <utility>

namespace ambit {

StorageImpl::StorageImpl(Device device, size_t size_bytes)
    : size_bytes_(size_bytes), device_(device) {
  if (device.is_meta()) return;
  Backend& backend = usable_backend(device);
  if (size_bytes == 0) return;
  data_ = backend.allocate(device.index(), size_bytes);
  backend_ = &backend;
}

StorageImpl::StorageImpl(void* data, size_t size_bytes, std::function<void(void*)> deleter)
    : data_(data), size_bytes_(size_bytes), deleter_(std::move(deleter)) {}

StorageImpl::~StorageImpl() {
  if (backend_) backend_->free(device_.index(), data_, size_bytes_);
  if (deleter_) deleter_(data_);
}

// Threads that look at the same time may all come here: each waits.
void StorageImpl::wait() const {
  const Device source = awaited_.load(std::memory_order_acquire);
  if (source.is_cpu()) return;
  backend_of(source).wait_for_copies(source.index(), data_);
  awaited_.store(kCPU, std::memory_order_release);
}

void StorageImpl::destroy(StorageImpl* s) noexcept { delete s; }

}  // namespace ambit
