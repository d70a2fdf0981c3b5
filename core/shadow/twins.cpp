#include "twins.h"

#include <algorithm>
#include <cstring>

namespace ambit::shadow {

Twins& Twins::get() {
  static auto* all = new Twins;
  return *all;
}

Twin& Twins::of(const Operand& o) {
  const Storage& storage = o.tensor.storage();
  const size_t bytes = storage->size_bytes();
  if (!storage->owns_memory()) {
    of_borrowed_ = {Bytes(bytes), Bytes(bytes)};
    return of_borrowed_;
  }
  const std::lock_guard lock(mutex_);
  const auto [found, is_new] = twins_.try_emplace(storage.get());
  if (is_new) {
    // Both copies start with equal bytes of any value: read() replaces the bytes that differ from
    // the device's.
    found->second = {Bytes(bytes), Bytes(bytes)};
    storage->set_deleter([this, key = storage.get()](void*) { drop(key); });
  }
  return found->second;
}

void Twins::drop(const StorageImpl* storage) {
  const std::lock_guard lock(mutex_);
  twins_.erase(storage);
}

void Twins::read(Operand& o) {
  if (o.before.empty()) return;
  Twin& twin = of(o);
  std::byte *known = &twin.on_device[o.window.begin], *own = &twin.on_shadow[o.window.begin];
  const size_t bytes = o.before.size(), size = element_size(o.dtype());
  if (std::memcmp(known, o.before.data(), bytes) != 0) {
    for (size_t i = 0; i < bytes; i += size) {
      const size_t n = std::min(size, bytes - i);
      if (std::memcmp(known + i, &o.before[i], n) == 0) continue;
      std::memcpy(known + i, &o.before[i], n);
      std::memcpy(own + i, &o.before[i], n);
    }
  }
  o.twin.assign(own, own + bytes);
}

void Twins::write(const Operand& o, bool is_computed) {
  Twin& twin = of(o);
  const size_t size = element_size(o.dtype()), first = o.window.begin + o.window.first;
  const std::byte *got = o.results(), *own = is_computed ? &o.expected[o.window.first] : got;
  // Write only the elements: the window of a strided operand contains elements of other tensors.
  const size_t piece = o.tensor.is_contiguous() ? o.tensor.nbytes() : size;
  for (const int64_t at : piece == size ? o.positions() : std::vector<int64_t>{0}) {
    const size_t byte = static_cast<size_t>(at) * size;
    std::memcpy(&twin.on_device[first + byte], got + byte, piece);
    std::memcpy(&twin.on_shadow[first + byte], own + byte, piece);
  }
}

}  // namespace ambit::shadow
