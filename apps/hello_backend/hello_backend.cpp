// A complete backend, as small as possible: the device `hello:0` has memory that the host cannot
// access, and borrowed kernels. In a real backend, memory and copies call the driver, and the
// backend's own kernels replace the borrowed ones step by step. docs/adding-a-backend.md explains
// it.
#include <ambit/backend/alias.h>
#include <ambit/backend/caching_allocator.h>
#include <ambit/backend/kernels.h>
#include <ambit/backend/plugin.h>
#include <ambit/backend/reference.h>

#include <cstring>
#include <memory>
#include <tuple>

namespace hello {

using namespace ambit;

// Tensors hold addresses without memory, so a direct access from the host, without a copy, is a
// SIGSEGV. The bytes are kFar below; only this file depends on that.
constexpr uintptr_t kFar = uintptr_t{1} << 52;

void* far_address(void* p) {
  return p ? reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(p) + kFar) : nullptr;
}
void* near_address(const void* p) {
  return p ? reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(p) - kFar) : nullptr;
}

class Memory final : public RawMemory {
 public:
  void* allocate(size_t bytes) override { return far_address(host_.allocate(bytes)); }
  void free(void* p, size_t bytes) noexcept override { host_.free(near_address(p), bytes); }
  size_t free_bytes() override { return host_.free_bytes(); }

 private:
  HostMemory host_;
};

class HelloBackend final : public Backend {
 public:
  std::string name() const override { return "hello"; }
  int device_count() const noexcept override { return 1; }
  bool is_accelerator() const override { return false; }  // it computes on the host
  DeviceProperties properties(int) const override {
    return {.name = "Hello 1", .total_memory = HostMemory::total_bytes()};
  }

  void* allocate(int, size_t bytes) override { return allocator_.allocate(bytes); }
  void free(int, void* p, size_t bytes) noexcept override { allocator_.free(p, bytes); }
  MemoryStats memory_stats(int) const override { return allocator_.stats(); }
  void empty_cache(int) override { allocator_.empty_cache(); }

  void copy(int, void* to, int, const void* from, size_t bytes) override {
    if (bytes > 0) std::memmove(near_address(to), near_address(from), bytes);
  }
  void copy_from_host(int, void* to, const void* host, size_t bytes, bool) override {
    if (bytes > 0) std::memcpy(near_address(to), host, bytes);
  }
  void copy_to_host(int, void* host, const void* from, size_t bytes, bool) override {
    if (bytes > 0) std::memcpy(host, near_address(from), bytes);
  }

 private:
  Memory memory_;
  CachingAllocator allocator_{memory_, "hello:0"};
};

// Kernels receive tensors with these addresses; the borrowed loop runs on aliases of the actual
// bytes.
Tensor near(const Tensor& t) {
  return t.defined() ? alias(t, near_address(t.storage()->data())) : t;
}
template <class Parameter>
const Parameter& near(const Parameter& p) {
  return p;
}

template <auto loop>
struct Borrowed;
template <class... A, void (*loop)(A...)>
struct Borrowed<loop> {
  static void kernel(A... args) {
    auto operands = std::make_tuple(near(args)...);
    std::apply(loop, operands);
  }
};

void load(Registry& registry) {
  registry.add_backend(std::make_unique<HelloBackend>());
  // The minimum set of kernels: ambit composes all other ops from these.
  registry.add(kernels::copy, Borrowed<reference::copy>::kernel);
  registry.add(kernels::fill, Borrowed<reference::fill>::kernel);
  registry.add(kernels::random, Borrowed<reference::random>::kernel);
  registry.add(kernels::unary, Borrowed<reference::unary>::kernel);
  registry.add(kernels::binary, Borrowed<reference::binary>::kernel);
  registry.add(kernels::compare, Borrowed<reference::compare>::kernel);
  registry.add(kernels::where, Borrowed<reference::where>::kernel);
  registry.add(kernels::reduce, Borrowed<reference::reduce>::kernel);
  registry.add(kernels::arg_reduce, Borrowed<reference::arg_reduce>::kernel);
  registry.add(kernels::scan, Borrowed<reference::scan>::kernel);
  registry.add(kernels::gather, Borrowed<reference::gather>::kernel);
  registry.add(kernels::scatter, Borrowed<reference::scatter>::kernel);
  registry.add(kernels::scatter_add, Borrowed<reference::scatter_add>::kernel);
  registry.add(kernels::nonzero, Borrowed<reference::nonzero>::kernel);
  registry.add(kernels::matmul, Borrowed<reference::matmul>::kernel);
  registry.add(kernels::convolution, Borrowed<reference::convolution>::kernel);
  registry.add(kernels::max_pool, Borrowed<reference::max_pool>::kernel);
  registry.add(kernels::max_pool_grad, Borrowed<reference::max_pool_grad>::kernel);
}

}  // namespace hello

AMBIT_PLUGIN(hello, hello::load)
