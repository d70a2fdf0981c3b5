#include "operand.h"

#include <ambit/backend/backend.h>
#include <ambit/backend/registry.h>
#include <ambit/detail/tensor_impl.h>
#include <ambit/ops/creation.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <utility>

namespace ambit::shadow {
namespace {

// Return the distance of t's last element from its first, in elements.
int64_t extent(const Tensor& t) {
  int64_t last = 0;
  for (int64_t d = 0; d < t.dim(); ++d) last += (t.size(d) - 1) * t.stride(d);
  return last;
}

std::vector<double> to_numbers(const Operand& o, const Bytes& bytes) {
  std::vector<double> values;
  if (bytes.empty()) return values;
  values.reserve(static_cast<size_t>(o.numel()));
  // A bool that a kernel wrote incorrectly may be any byte.
  visit<dtypes::kEvery>(o.dtype() == kBool ? kUInt8 : o.dtype(), [&]<class T>() {
    const T* data = reinterpret_cast<const T*>(bytes.data() + o.window.first);
    for (const int64_t at : o.positions()) values.push_back(static_cast<double>(data[at]));
  });
  return values;
}

double largest_of(const std::vector<double>& values) {
  double largest = 0;
  for (const double x : values) {
    if (std::isfinite(x)) largest = std::max(largest, std::abs(x));
  }
  return largest;
}

// Return a new block. `device` is complete: neither the program's default device nor its
// DeviceGuard applies.
Tensor block(size_t bytes, Device device) {
  return empty({static_cast<int64_t>(bytes)}, TensorOptions(kUInt8).device(device));
}

Tensor view(const Tensor& block, const Tensor& like, size_t first) {
  const auto offset = static_cast<int64_t>(first / element_size(like.dtype()));
  return Tensor(intrusive_ptr<TensorImpl>(
      new TensorImpl(block.storage(), like.sizes(), like.strides(), offset, like.dtype())));
}

}  // namespace

std::vector<int64_t> Operand::positions() const {
  std::vector<int64_t> all(static_cast<size_t>(numel()));
  if (tensor.is_contiguous()) {
    std::iota(all.begin(), all.end(), int64_t{0});
    return all;
  }
  Dims index(static_cast<size_t>(tensor.dim()));
  int64_t at = 0;
  for (int64_t& position : all) {
    position = at;
    for (int64_t d = tensor.dim(); d-- > 0;) {
      int64_t& i = index[static_cast<size_t>(d)];
      at += tensor.stride(d);
      if (++i < tensor.size(d)) break;
      at -= i * tensor.stride(d);
      i = 0;
    }
  }
  return all;
}

std::vector<double> Operand::values_before() const { return to_numbers(*this, before); }
std::vector<double> Operand::values_expected() const { return to_numbers(*this, expected); }
double Operand::largest() const { return largest_of(values_before()); }
double Operand::largest_expected() const { return largest_of(values_expected()); }

Window window_of(const Tensor& t, size_t margin) {
  if (t.numel() == 0) return {};
  const size_t size = element_size(t.dtype());
  const size_t first = static_cast<size_t>(t.storage_offset()) * size;
  const size_t end = first + (static_cast<size_t>(extent(t)) + 1) * size;
  // Blocks are aligned to 64 bytes: so are windows, and copies have the tensor's alignment.
  Window w{(first - std::min(first, margin)) / 64 * 64, 0, 0};
  w.first = first - w.begin;
  w.end = std::min(end + margin, t.storage()->size_bytes());
  return w;
}

Bytes read_window(const Tensor& t, const Window& window) {
  Bytes bytes(window.end - window.begin);
  if (bytes.empty()) return bytes;
  const Device device = t.device();
  Backend& backend = backend_of(device);
  const StorageImpl& storage = *t.storage().get();
  const auto copy = [&](const void* block) {
    backend.copy_to_host(device.index(), bytes.data(),
                         static_cast<const std::byte*>(block) + window.begin, bytes.size(), false);
  };
  if (storage.is_native()) {
    // Do not convert the block permanently: kernels written for the layout must continue to use it.
    const Tensor row_major = block(storage.size_bytes(), device);
    void* const to = row_major.data_ptr();
    if (storage.acquire_native()) {
      const std::unique_ptr<const StorageImpl, void (*)(const StorageImpl*)> acquired(
          &storage, [](const StorageImpl* s) { s->release_native(); });
      backend.to_row_major(device.index(), to, storage.native_data(), storage.size_bytes(),
                           storage.layout());
      copy(to);
      return bytes;
    }
  }
  copy(storage.data());
  return bytes;
}

Tensor mirror(const Tensor& t, const Window& window, const Bytes& bytes, Device device) {
  const size_t size = std::max<size_t>(window.end - window.begin, 1);
  const Tensor memory = block(size, device);
  if (!bytes.empty()) {
    backend_of(device).copy_from_host(device.index(), memory.data_ptr(), bytes.data(), bytes.size(),
                                      false);
  }
  return view(memory, t, window.first);
}

Tensor with_guards(const Tensor& t) {
  const Device device = t.device();
  const Bytes pattern(t.nbytes() + 2 * kGuardBytes, kGuardByte);
  const Tensor memory = block(pattern.size(), device);
  backend_of(device).copy_from_host(device.index(), memory.data_ptr(), pattern.data(),
                                    pattern.size(), false);
  return view(memory, t, kGuardBytes);
}

Bytes read_guarded(const Tensor& guarded) {
  return read_window(guarded, {0, guarded.nbytes() + 2 * kGuardBytes, kGuardBytes});
}

void copy_elements(const Tensor& to, const Tensor& guarded) {
  if (to.numel() == 0) return;
  const int index = to.device().index();
  backend_of(to.device()).copy(index, to.data_ptr(), index, guarded.data_ptr(), to.nbytes());
}

}  // namespace ambit::shadow
