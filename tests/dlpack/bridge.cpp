// Functions that cross.py calls by ctypes: ambit's side of the exchange. Functions that fail return
// null, 0 or -1, and error() returns the reason.
#include <ambit/dlpack.h>
#include <ambit/dlpack_abi.h>
#include <ambit/error.h>
#include <ambit/memory.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/shape.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>

using namespace ambit;

namespace {

std::string last_error;

template <class F>
auto guarded(F&& call) -> decltype(call()) {
  last_error.clear();
  try {
    return call();
  } catch (const std::exception& e) {
    last_error = e.what();
    return {};
  }
}

// Create tensors of numbers 0, 1, 2, ... with several strides; of bool every second one is true.
Tensor make(const std::string& shape, DType dtype) {
  const Tensor n = arange(24, kInt64);
  const Tensor all = (dtype == kBool ? fmod(n, 2) : n).to(dtype);
  if (shape == "dense") return all.view({2, 3, 4});
  if (shape == "transposed") return all.view({2, 3, 4}).permute({2, 0, 1});
  if (shape == "sliced") return all.view({4, 6}).slice(0, 1, 4, 2).slice(1, 1, 6, 2);
  if (shape == "expanded") return all.slice(0, 2, 5).unsqueeze(0).expand({2, 3});
  if (shape == "number") return all.select(0, 7);
  if (shape == "empty") return all.view({4, 6}).slice(0, 2, 2);
  throw Error("bridge: expected a shape, got " + shape);
}

void* lend(const Tensor& t, bool versioned) {
  if (versioned) return to_dlpack_versioned(t);
  return to_dlpack(t);
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) const char* bridge_error() { return last_error.c_str(); }

// versioned: a structure with a version and flags.
__attribute__((visibility("default"))) void* bridge_lend(const char* shape, int code, int bits,
                                                         bool versioned) {
  return guarded([&]() -> void* {
    const DType dtype =
        dtype_of_dlpack({static_cast<uint8_t>(code), static_cast<uint8_t>(bits), 1});
    return lend(make(shape, dtype), versioned);
  });
}

__attribute__((visibility("default"))) void* bridge_lend_again(void* tensor, bool versioned) {
  return guarded([&] { return lend(*static_cast<Tensor*>(tensor), versioned); });
}

__attribute__((visibility("default"))) void* bridge_borrow(void* managed, bool versioned) {
  return guarded([&]() -> void* {
    const Tensor t = versioned ? from_dlpack(static_cast<DLManagedTensorVersioned*>(managed))
                               : from_dlpack(static_cast<DLManagedTensor*>(managed));
    return std::make_unique<Tensor>(t).release();
  });
}

__attribute__((visibility("default"))) void bridge_release(void* tensor) {
  delete static_cast<Tensor*>(tensor);
}

// Copy the elements in order, as float64; return their number.
__attribute__((visibility("default"))) int64_t bridge_read(void* tensor, double* to) {
  return guarded([&] {
    const Tensor t = static_cast<Tensor*>(tensor)->to(kFloat64).contiguous();
    std::copy_n(t.data_ptr<double>(), t.numel(), to);
    return t.numel();
  });
}

// Write a number into all elements.
__attribute__((visibility("default"))) int bridge_write(void* tensor, double number) {
  return guarded([&] {
    static_cast<Tensor*>(tensor)->fill_(number);
    return 1;
  });
}

__attribute__((visibility("default"))) const char* bridge_describe(void* tensor) {
  static std::string text;
  const Tensor& t = *static_cast<Tensor*>(tensor);
  text = name(t.dtype()) + str(t.sizes()) + str(t.strides());
  return text.c_str();
}

__attribute__((visibility("default"))) uint64_t bridge_bytes_in_use() {
  return memory_stats(kCPU).in_use;
}
}
