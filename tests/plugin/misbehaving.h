// A backend whose functions fail on request, and a kernel that fails on request.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "toy.h"

namespace toy {

/// The function of the backend that fails, such as "copy()", or the kernel "unary".
struct Misbehaviour {
  std::string function;        ///< empty: none
  std::function<void()> fail;  ///< called instead of the function; null: do nothing
  int devices = 2;
};
inline Misbehaviour misbehaviour;

/// Return true if the function must fail, after calling `fail`.
inline bool fails(std::string_view function) {
  if (misbehaviour.function != function) return false;
  if (misbehaviour.fail) misbehaviour.fail();
  return true;
}

class MisbehavingBackend : public ToyBackend {
 public:
  MisbehavingBackend() : ToyBackend("bad", 2) {}

  int device_count() const noexcept override { return misbehaviour.devices; }
  std::string reason_for_none() const override {
    return fails("reason_for_none()") ? "" : "it is\nout\x1b[31m";
  }
  ambit::DeviceProperties properties(int) const override {
    fails("properties()");
    return {.name = "a\x1b[2Jdevice\n",
            .total_memory = ~size_t{0},
            .details = {{"dri\nver", "\x07\xff 1"}, {"", ""}}};
  }
  bool is_accelerator() const override { return !fails("is_accelerator()"); }
  void* allocate(int index, size_t bytes) override {
    return fails("allocate()") ? nullptr : ToyBackend::allocate(index, bytes);
  }
  ambit::MemoryStats memory_stats(int index) const override {
    fails("memory_stats()");
    ambit::MemoryStats stats = ToyBackend::memory_stats(index);
    stats.cached = ~size_t{0};
    return stats;
  }
  void empty_cache(int) override { fails("empty_cache()"); }
  void copy(int to_index, void* to, int from_index, const void* from, size_t bytes) override {
    if (!fails("copy()")) ToyBackend::copy(to_index, to, from_index, from, bytes);
  }
  void copy_from_host(int index, void* to, const void* host, size_t bytes, bool late) override {
    if (!fails("copy_from_host()")) ToyBackend::copy_from_host(index, to, host, bytes, late);
  }
  void copy_to_host(int index, void* host, const void* from, size_t bytes, bool late) override {
    if (!fails("copy_to_host()")) ToyBackend::copy_to_host(index, host, from, bytes, late);
  }
  void wait_for_copies(int, const void*) override { fails("wait_for_copies()"); }
  void synchronize(int) override { fails("synchronize()"); }
  void expect_true(int index, const void* fact, const char* otherwise) override {
    if (!fails("expect_true()")) Backend::expect_true(index, fact, otherwise);
  }
  void activate(int) override { fails("activate()"); }
  void* allocate_pinned(size_t bytes) override {
    return fails("allocate_pinned()") ? nullptr : Backend::allocate_pinned(bytes);
  }
  bool is_pinned(const void*, size_t) override { return fails("is_pinned()"); }
  int32_t dlpack_device_type() const override { return fails("dlpack_device_type()") ? 0 : 12; }
  void lend(int, void*, std::optional<int64_t>) override { fails("lend()"); }
};

inline void failing_unary(ambit::Tensor& y, const ambit::Tensor& x, const ambit::UnaryOp& op) {
  if (!fails("unary")) Borrowed<ambit::kernels::unary>::kernel(y, x, op);
}

/// Register the backend with devices bad:0 and bad:1.
inline void add_misbehaving(ambit::Registry& registry) {
  registry.add_backend(std::make_unique<MisbehavingBackend>());
  registry.add(ambit::kernels::unary, failing_unary);
  borrow<ambit::kernels::copy, ambit::kernels::fill, ambit::kernels::reduce>(registry);
}

}  // namespace toy
