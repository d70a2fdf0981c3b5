// Calls with reduced floating-point operands: bits moved as integers, or the call upcast to
// float32, in blocks or in the parts of parts.h.
#include <ambit/backend/kernels.h>
#include <ambit/backend/registry.h>
#include <ambit/detail/upcast_call.h>
#include <ambit/ops/creation.h>
#include <ambit/parallel.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include "parts.h"
#include "upcast_operands.h"

namespace ambit {
namespace {

/// Number of elements of a block of `elementwise`. On the CPU, three float32 operands of a thread's
/// part of the block fit in its cache; on accelerators a block must amortise kernel launches.
int64_t block_elements(Device device) {
  if (usable_backend(device).is_accelerator()) return int64_t{1} << 24;
  return int64_t{get_num_threads()} << 16;
}

Tensor as_bits(const Tensor& t) { return alias(t, t.sizes(), t.strides(), 0, kInt16); }

/// A range of elements of one tensor of each list.
struct Part {
  size_t tensor;
  int64_t from, size;
};

/// The iteration space of an elementwise call, with dims merged where all operands allow it.
struct Walk {
  Dims sizes;
  std::vector<Dims> strides;  // one for each operand
};

/// Requires operands of equal sizes.
Walk walk_of(const std::vector<const Tensor*>& operands) {
  const Tensor& y = *operands[0];
  std::vector<size_t> order(y.sizes().size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return y.strides()[a] > y.strides()[b]; });
  Walk walk;
  walk.strides.resize(operands.size());
  for (const size_t d : order) {
    const int64_t size = y.sizes()[d];
    if (size == 1) continue;
    bool merges = !walk.sizes.empty();
    for (size_t i = 0; merges && i < operands.size(); ++i) {
      merges = walk.strides[i].back() == operands[i]->strides()[d] * size;
    }
    if (merges) {
      *(walk.sizes.end() - 1) *= size;
    } else {
      walk.sizes.push_back(size);
    }
    for (size_t i = 0; i < operands.size(); ++i) {
      if (!merges) walk.strides[i].push_back(0);
      *(walk.strides[i].end() - 1) = operands[i]->strides()[d];
    }
  }
  if (walk.sizes.empty()) {
    walk.sizes.push_back(1);
    for (Dims& s : walk.strides) s.push_back(1);
  }
  return walk;
}

IntArrayRef from(const Dims& d, size_t split) { return {d.data() + split, d.size() - split}; }

int64_t product(IntArrayRef sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>());
}

/// Call visit(sizes, offsets) for each block of a walk: the dims from `split` on, `chunk` indices
/// of the first of them at a time.
template <class Visit>
void for_each_block(const Walk& walk, int64_t most, const Visit& visit) {
  size_t split = walk.sizes.size() - 1;
  while (split > 0 && product(from(walk.sizes, split)) < most) --split;
  const int64_t inner = product(from(walk.sizes, split + 1));
  const int64_t chunk = std::max<int64_t>(most / inner, 1);
  std::vector<int64_t> index(split, 0);
  for (;;) {
    for (int64_t first = 0; first < walk.sizes[split]; first += chunk) {
      Dims sizes(from(walk.sizes, split));
      sizes[0] = std::min(chunk, walk.sizes[split] - first);
      std::vector<int64_t> offsets;
      for (const Dims& strides : walk.strides) {
        int64_t offset = first * strides[split];
        for (size_t d = 0; d < split; ++d) offset += index[d] * strides[d];
        offsets.push_back(offset);
      }
      visit(sizes, split, offsets);
    }
    size_t d = split;
    while (d > 0 && ++index[d - 1] == walk.sizes[d - 1]) index[--d] = 0;
    if (d == 0) return;
  }
}

}  // namespace

void UpcastCall::collect(TensorList l) {
  slots_.push_back({operands_.size(), l.size(), true});
  for (const Tensor& t : l) add(t, true);
}

void UpcastCall::collect(const Tensor& t, bool is_output) {
  slots_.push_back({operands_.size(), 1, false});
  add(t, is_output);
}

void UpcastCall::add(const Tensor& t, bool is_output) {
  if (!reduced_dtype_ && is_reduced_floating(t)) reduced_dtype_ = t.dtype();
  if (!unsigned_dtype_ && is_wide_unsigned(t)) unsigned_dtype_ = t.dtype();
  operands_.push_back({t, is_output});
}

TensorList UpcastCall::converted(TensorList l, Tensor*& next) const {
  const size_t n = l.empty() || per_call_ == 0 ? l.size() : per_call_;
  return {std::exchange(next, next + n), n};
}

Scalar UpcastCall::as_element(const Scalar& number) const {
  if (unsigned_dtype_) return as_unsigned_element(number);
  const bool is_bitwise = op_.upcast_rule() == UpcastRule::bitwise;
  // A number to compare with is first rounded to the dtype; other numbers are not.
  if (!is_bitwise && &op_ != &kernels::compare_scalar) return number;
  return visit<dtypes::kReducedFloating>(*reduced_dtype_, [&]<class T>() -> Scalar {
    const auto element = number.to<T>();
    if (is_bitwise) return std::bit_cast<int16_t>(element);
    return element;
  });
}

void UpcastCall::run(const Call& call) {
  if (unsigned_dtype_) return run_unsigned(call);
  switch (op_.upcast_rule()) {
    case UpcastRule::bitwise:
      return run_bitwise(call);
    case UpcastRule::elementwise:
      return slots_[0].is_list ? run_lists(call) : run_elementwise(call);
    case UpcastRule::native:  // not upcast
    case UpcastRule::upcast:
    case UpcastRule::upcast_inout:
      return run_upcast(call);
  }
}

void UpcastCall::run_bitwise(const Call& call) const {
  std::vector<Tensor> operands;
  for (const Operand& o : operands_)
    operands.push_back(is_reduced_floating(o.tensor) ? as_bits(o.tensor) : o.tensor);
  call(operands.data());
}

void UpcastCall::run_upcast(const Call& call) const {
  Pieces pieces;
  for (const Slot& slot : slots_) {
    const bool updates = slot.is_list || op_.upcast_rule() == UpcastRule::upcast_inout;
    for (size_t i = slot.first; i < slot.first + slot.count; ++i) {
      const auto& [t, is_output] = operands_[i];
      pieces.push_back({t, !is_output || updates, is_output});
    }
  }
  run_in_parts(op_, pieces, dim_, call);
}

void UpcastCall::run_elementwise(const Call& call) const {
  std::vector<const Tensor*> defined;
  for (const Operand& o : operands_) {
    if (o.tensor.defined()) defined.push_back(&o.tensor);
  }
  const int64_t most = block_elements(defined[0]->device());
  if (defined[0]->numel() <= most) return run_upcast(call);
  const Walk walk = walk_of(defined);
  std::vector<Tensor> scratch(operands_.size());  // flat tensors, each for one block
  for (size_t i = 0; i < operands_.size(); ++i) {
    const Tensor& t = operands_[i].tensor;
    if (is_reduced_floating(t))
      scratch[i] = empty({most}, TensorOptions(kFloat32).device(t.device()));
  }
  for_each_block(walk, most, [&](const Dims& sizes, size_t split, const auto& offsets) {
    UpcastOperands operands;
    size_t k = 0;  // index among the defined operands
    for (size_t i = 0; i < operands_.size(); ++i) {
      const auto& [t, is_output] = operands_[i];
      if (!t.defined()) {
        operands.add(t, false, false);
        continue;
      }
      const Tensor block = alias(t, sizes, from(walk.strides[k], split), offsets[k], t.dtype());
      ++k;
      operands.add(block, !is_output, is_output, scratch[i]);
    }
    operands.run(call);
  });
}

// Process as many tensors at a time as fill a block; larger tensors are split.
void UpcastCall::run_lists(const Call& call) {
  size_t longest = 0;
  const Slot* last = nullptr;  // of several lists only the last is read-only
  size_t lists = 0;
  for (const Slot& slot : slots_) {
    if (!slot.is_list || slot.count == 0) continue;
    longest = slot.count;
    last = &slot;
    ++lists;
  }
  if (longest == 0) return run_upcast(call);
  const Operand* const first = &operands_[last->first];
  const int64_t most = block_elements(first->tensor.device());
  std::vector<Part> parts;
  int64_t elements = 0;
  const auto flush = [&] {
    if (parts.empty()) return;
    UpcastOperands operands;
    for (const Slot& slot : slots_) {
      if (!slot.is_list) {
        operands.add(operands_[slot.first].tensor, true, operands_[slot.first].is_output);
        continue;
      }
      if (slot.count == 0) continue;
      const bool writes = &slot != last || lists == 1;
      for (const Part& part : parts) {
        const Tensor& t = operands_[slot.first + part.tensor].tensor;
        // a 0-dim tensor among larger ones
        const bool is_whole = t.numel() == part.size || t.dim() == 0;
        operands.add(is_whole ? t : alias(t, {part.size}, {1}, part.from, t.dtype()), true, writes);
      }
    }
    per_call_ = parts.size();
    operands.run(call);
    parts.clear();
    elements = 0;
  };
  for (size_t i = 0; i < longest; ++i) {
    const int64_t n = first[i].tensor.numel();
    for (int64_t from = 0; from < n; from += most) {
      const int64_t size = std::min(most, n - from);
      if (elements + size > most) flush();
      parts.push_back({i, from, size});
      elements += size;
    }
  }
  flush();
}

}  // namespace ambit
