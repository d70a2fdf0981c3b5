// Shared by the fixture plugins: a device in host memory, with kernels borrowed from the CPU's.
#pragma once

#include <ambit/backend/alias.h>
#include <ambit/backend/backend.h>
#include <ambit/backend/caching_allocator.h>
#include <ambit/backend/kernels.h>
#include <ambit/backend/registry.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

namespace toy {

/// Devices of any name, whose memory is host memory.
class ToyBackend : public ambit::Backend {
 public:
  ToyBackend(std::string name, int devices)
      : name_(std::move(name)), devices_(devices), allocator_(memory_, name_) {}

  std::string name() const override { return name_; }
  int device_count() const noexcept override { return devices_; }
  void* allocate(int, size_t bytes) override { return allocator_.allocate(bytes); }
  void free(int, void* p, size_t bytes) noexcept override { allocator_.free(p, bytes); }
  ambit::MemoryStats memory_stats(int) const override { return allocator_.stats(); }

  void copy(int, void* to, int, const void* from, size_t bytes) override {
    copy_bytes(to, from, bytes);
  }
  void copy_from_host(int, void* to, const void* host, size_t bytes, bool) override {
    copy_bytes(to, host, bytes);
  }
  void copy_to_host(int, void* host, const void* from, size_t bytes, bool) override {
    copy_bytes(host, from, bytes);
  }

 private:
  static void copy_bytes(void* to, const void* from, size_t bytes) {
    std::copy_n(static_cast<const char*>(from), bytes, static_cast<char*>(to));
  }

  std::string name_;
  int devices_;
  ambit::HostMemory memory_;
  ambit::CachingAllocator allocator_;
};

/// Return an alias of the tensor's memory as a CPU tensor; return other arguments unchanged.
inline ambit::Tensor on_cpu(const ambit::Tensor& t) {
  return t.defined() ? ambit::alias(t, t.storage()->data()) : t;
}
template <class Parameter>
const Parameter& on_cpu(const Parameter& p) {
  return p;
}

/// The kernel of an op that calls the CPU's kernel on the same memory.
template <auto& op>
struct Borrowed;
template <class... A, ambit::Op<void(A...)>& op>
struct Borrowed<op> {
  static void kernel(A... args) {
    auto host = std::make_tuple(on_cpu(args)...);
    std::apply([](auto&... all) { op(all...); }, host);
  }
};

/// Register borrowed kernels for the ops.
template <auto&... ops>
void borrow(ambit::Registry& registry) {
  (registry.add(ops, Borrowed<ops>::kernel), ...);
}

}  // namespace toy
