#include "upcast_operands.h"

#include <ambit/backend/kernels.h>
#include <ambit/ops/creation.h>

#include <algorithm>
#include <numeric>

namespace ambit {
namespace {

/// Return dense strides in the order of t's elements; 0 where t's are 0, so that broadcast elements
/// are stored once.
Dims dense_strides(IntArrayRef sizes, IntArrayRef strides, int64_t* count) {
  std::vector<size_t> order(sizes.size());
  std::iota(order.rbegin(), order.rend(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return strides[a] < strides[b]; });
  Dims dense(sizes.size(), 0);
  int64_t step = 1;
  for (const size_t d : order) {
    if (strides[d] == 0 && sizes[d] > 1) continue;
    dense[d] = step;
    step *= std::max<int64_t>(sizes[d], 1);
  }
  *count = step;
  return dense;
}

/// Return an operand like t, upcast to float32 if needed, in new memory or in `memory`.
Tensor make_upcast(const Tensor& t, const Tensor& memory = {}) {
  const DType dtype = is_reduced_floating(t) ? kFloat32 : t.dtype();
  const TensorOptions options = TensorOptions(dtype).device(t.device());
  if (!memory.defined() && t.is_contiguous()) return empty(t.sizes(), options);
  int64_t count = 0;
  const Dims strides = dense_strides(t.sizes(), t.strides(), &count);
  return alias(memory.defined() ? memory : empty({count}, options), t.sizes(), strides, 0, dtype);
}

}  // namespace

Tensor alias(const Tensor& t, IntArrayRef sizes, IntArrayRef strides, int64_t offset, DType dtype) {
  const TensorImpl& impl = *t.impl();
  return Tensor(intrusive_ptr<TensorImpl>(
      new TensorImpl(impl.storage, sizes, strides, impl.offset + offset, dtype)));
}

Tensor without_broadcast(const Tensor& t) {
  Dims sizes = t.sizes();
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (t.strides()[d] == 0) sizes[d] = std::min<int64_t>(sizes[d], 1);
  }
  return alias(t, sizes, t.strides(), 0, t.dtype());
}

void convert(const Tensor& to, const Tensor& from) {
  const bool repeats = !to.is_contiguous() || !from.is_contiguous();
  Tensor out = repeats ? without_broadcast(to) : to;
  kernels::copy(out, repeats ? without_broadcast(from) : from);
}

void UpcastOperands::add(const Tensor& t, bool reads, bool writes, const Tensor& memory) {
  if (is_reduced_floating(t)) return add_copy(t, reads, writes, memory);
  given_.push_back(t);
  passed_.push_back(t);
  writes_.push_back(false);
}

void UpcastOperands::add_copy(const Tensor& t, bool reads, bool writes, const Tensor& memory) {
  given_.push_back(t);
  passed_.push_back(make_upcast(t, memory));
  writes_.push_back(writes);
  if (reads) convert(passed_.back(), t);
}

void UpcastOperands::run(const std::function<void(Tensor*)>& call) {
  call(passed_.data());
  for (size_t i = 0; i < passed_.size(); ++i) {
    if (writes_[i]) convert(given_[i], passed_[i]);
  }
}

}  // namespace ambit
