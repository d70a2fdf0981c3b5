// Calls of device kernels: arguments and the queue.
#pragma once

#include <ambit/tensor.h>

#include <array>
#include <initializer_list>
#include <mutex>

#include "device.h"
#include "error.h"

namespace ambit::opencl {

/// Return the device of a tensor.
OpenClDevice& device_of(const Tensor& t);

/// Layout of types.cl: the sizes over which a kernel iterates, and the strides of its operands.
struct Layout {
  static constexpr size_t kMostDims = 6, kMostOperands = 4;
  cl_long dims = 0;
  cl_long sizes[kMostDims] = {};
  cl_long strides[kMostOperands][kMostDims] = {};

  /// Return the number of elements.
  int64_t count() const {
    int64_t n = 1;
    for (int64_t d = 0; d < dims; ++d) n *= sizes[d];
    return n;
  }
};

/// Return the size, and the stride, of a dim; 1 and 0 for a tensor without dims.
inline int64_t length_along(const Tensor& t, int64_t dim) { return t.dim() == 0 ? 1 : t.size(dim); }
inline int64_t step_along(const Tensor& t, int64_t dim) { return t.dim() == 0 ? 0 : t.stride(dim); }

/// Sizes and strides with dims merged where all operands allow it, without dims of size 1.
struct Walk {
  Walk(IntArrayRef sizes, std::initializer_list<IntArrayRef> strides);
  /// Return true if all operands are contiguous in the same order.
  bool is_linear() const;
  size_t dims() const { return sizes_.size(); }

  /// Call body(layout, offsets of the operands) for parts of at most Layout::kMostDims dims.
  template <class Body>
  void for_each_part(Body body) const {
    std::array<int64_t, Layout::kMostOperands> offsets{};
    split(0, offsets, body);
  }

  Dims sizes_;
  std::array<Dims, Layout::kMostOperands> strides_;
  size_t operands_;
  int64_t count_ = 1;  // elements

 private:
  Layout layout(size_t from) const;
  template <class Body>
  void split(size_t dim, std::array<int64_t, Layout::kMostOperands> offsets, Body& body) const {
    if (dims() - dim <= Layout::kMostDims) return body(layout(dim), offsets);
    for (int64_t i = 0; i < sizes_[dim]; ++i) {
      split(dim + 1, offsets, body);
      for (size_t k = 0; k < operands_; ++k) offsets[k] += strides_[k][dim];
    }
  }
};

/// One kernel call: add arguments in order, then run(). Holds the device's launch lock.
class Launch {
 public:
  Launch(const char* op, OpenClDevice& device, cl_kernel kernel)
      : op_(op), device_(device), kernel_(kernel), lock_(device.launch_mutex()) {}

  template <class T>
  Launch& add(const T& value) {
    check(clSetKernelArg(kernel_, arguments_++, sizeof value, &value), op_, "clSetKernelArg");
    return *this;
  }
  /// Add a buffer and the position of the tensor's first element in it; null and 0 for an undefined
  /// or empty tensor.
  Launch& add(const Tensor& t, int64_t offset = 0) {
    if (!t.defined() || t.numel() == 0) return add(cl_mem{}).add(cl_long{0});
    const void* const first = t.data_ptr();
    return add(device_.buffer(first))
        .add(static_cast<cl_long>(offset_in_slot(first) / element_size(t.dtype())) + offset);
  }
  /// Add the fault record and the op's name, as arguments of report().
  Launch& add_fault() {
    return add(device_.fault()).add(static_cast<cl_ulong>(reinterpret_cast<uintptr_t>(op_)));
  }
  /// Queue the kernel for `items` work items, in groups.
  void run(int64_t items);
  /// Queue the kernel in groups of one item by `rows_of_group` rows.
  void run(int64_t items, int64_t rows, size_t rows_of_group);

 private:
  const char* op_;
  OpenClDevice& device_;
  cl_kernel kernel_;
  std::lock_guard<std::mutex> lock_;
  cl_uint arguments_ = 0;
};

}  // namespace ambit::opencl
