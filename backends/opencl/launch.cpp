#include "launch.h"

#include <algorithm>

namespace ambit::opencl {

OpenClDevice& device_of(const Tensor& t) {
  return *devices()[static_cast<size_t>(t.device().index())];
}

Walk::Walk(IntArrayRef sizes, std::initializer_list<IntArrayRef> strides)
    : operands_(strides.size()) {
  for (size_t d = 0; d < sizes.size(); ++d) {
    count_ *= sizes[d];
    if (sizes[d] == 1) continue;
    bool can_join = !sizes_.empty();
    size_t k = 0;
    for (const IntArrayRef s : strides) {
      can_join = can_join && strides_[k].back() == s[d] * sizes[d];
      ++k;
    }
    if (can_join) {
      sizes_[sizes_.size() - 1] *= sizes[d];
      k = 0;
      for (const IntArrayRef s : strides) {
        strides_[k][sizes_.size() - 1] = s[d];
        ++k;
      }
      continue;
    }
    sizes_.push_back(sizes[d]);
    k = 0;
    for (const IntArrayRef s : strides) strides_[k++].push_back(s[d]);
  }
}

bool Walk::is_linear() const {
  if (dims() > 1) return false;
  for (size_t k = 0; k < operands_; ++k) {
    if (dims() == 1 && strides_[k][0] != 1) return false;
  }
  return true;
}

Layout Walk::layout(size_t from) const {
  Layout l;
  l.dims = static_cast<cl_long>(dims() - from);
  for (size_t d = from; d < dims(); ++d) {
    l.sizes[d - from] = sizes_[d];
    for (size_t k = 0; k < operands_; ++k) l.strides[k][d - from] = strides_[k][d];
  }
  return l;
}

namespace {

// Return the maximal work-group size of the kernel on the device, which its registers limit.
size_t most_in_group(cl_kernel kernel, cl_device_id device) {
  size_t most = 1;
  clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_WORK_GROUP_SIZE, sizeof most, &most, nullptr);
  return std::max<size_t>(most, 1);
}

size_t rounded_up(int64_t n, size_t to) { return (static_cast<size_t>(n) + to - 1) / to * to; }

}  // namespace

void Launch::run(int64_t items) {
  const size_t group =
      std::min(device_.features().work_group, most_in_group(kernel_, device_.id()));
  const size_t global = rounded_up(items, group);
  check(clEnqueueNDRangeKernel(device_.queue(), kernel_, 1, nullptr, &global, &group, 0, nullptr,
                               nullptr),
        op_, "clEnqueueNDRangeKernel");
  clFlush(device_.queue());
}

void Launch::run(int64_t items, int64_t rows, size_t rows_of_group) {
  const size_t most = std::min(device_.features().work_group, most_in_group(kernel_, device_.id()));
  const size_t group[2] = {1, std::min(rows_of_group, most)};
  const size_t global[2] = {static_cast<size_t>(items), rounded_up(rows, group[1])};
  check(clEnqueueNDRangeKernel(device_.queue(), kernel_, 2, nullptr, global, group, 0, nullptr,
                               nullptr),
        op_, "clEnqueueNDRangeKernel");
  clFlush(device_.queue());
}

}  // namespace ambit::opencl
