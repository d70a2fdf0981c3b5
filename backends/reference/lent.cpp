// What other backends need to use the loops: aliases to run them on, and the count that shows it.
#include <ambit/backend/reference.h>
#include <ambit/detail/tensor_impl.h>

#include <atomic>

#include "runs.h"

namespace ambit::reference {
namespace {

std::atomic<uint64_t> count{0};

}  // namespace

void count_run() { count.fetch_add(1, std::memory_order_relaxed); }

uint64_t runs() { return count.load(std::memory_order_relaxed); }

Tensor alias(const Tensor& t, void* bytes) {
  Storage storage(new StorageImpl(bytes, t.storage()->size_bytes(), nullptr));
  return Tensor(intrusive_ptr<TensorImpl>(
      new TensorImpl(std::move(storage), t.sizes(), t.strides(), t.storage_offset(), t.dtype())));
}

}  // namespace ambit::reference
