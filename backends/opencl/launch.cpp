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

void Launch::run(int64_t items) {
  const size_t group = device_.features().work_group;
  const size_t global = (static_cast<size_t>(items) + group - 1) / group * group;
  check(clEnqueueNDRangeKernel(device_.queue(), kernel_, 1, nullptr, &global, &group, 0, nullptr,
                               nullptr),
        op_, "clEnqueueNDRangeKernel");
  clFlush(device_.queue());
}

void Launch::run(int64_t items, int64_t rows, std::array<size_t, 2> group) {
  const auto up = [](int64_t n, size_t to) { return (static_cast<size_t>(n) + to - 1) / to * to; };
  const size_t global[2] = {up(items, group[0]), up(rows, group[1])};
  check(clEnqueueNDRangeKernel(device_.queue(), kernel_, 2, nullptr, global, group.data(), 0,
                               nullptr, nullptr),
        op_, "clEnqueueNDRangeKernel");
  clFlush(device_.queue());
}

}  // namespace ambit::opencl
