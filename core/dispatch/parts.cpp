#include "parts.h"

#include <ambit/backend/kernels.h>
#include <ambit/backend/registry.h>
#include <ambit/ops/creation.h>
#include <ambit/parallel.h>

#include <algorithm>

#include "split_rules.h"
#include "upcast_operands.h"

namespace ambit {
namespace {

/// How a call is split: for each operand its dim or a constant of SplitRule, the total size of
/// these dims, and the number of indices in a part.
struct Split {
  std::array<int8_t, OpBase::kMaxArgs> dims{};
  int64_t size = 0, step = 0;
  int64_t elements = 0;  // elements of the largest reduced floating-point operand
};

/// Return the split along `dims` into parts of at most `most` elements, if possible; elements = 0
/// if the operands' sizes differ.
Split split_along(const decltype(Split::dims)& dims, const Pieces& pieces, int64_t most) {
  constexpr int64_t kLine = 32;  // elements in a cache line, which narrower parts would share
  Split split{.dims = dims};
  int64_t least = 1;
  for (size_t i = 0; i < pieces.size(); ++i) {
    const Tensor& t = pieces[i].tensor;
    if (!t.defined() || dims[i] < 0) continue;
    if (split.size > 0 && t.size(dims[i]) != split.size) return {};
    split.size = t.size(dims[i]);
    const int64_t n = is_reduced_floating(t) ? without_broadcast(t).numel() : 0;
    if (n <= split.elements) continue;
    split.elements = n;
    least = t.stride(dims[i]) == 1 ? kLine : 1;
  }
  const int64_t parts = (split.elements + most - 1) / most;
  if (parts < 2) return {};
  split.step = std::max((split.size + parts - 1) / parts, least);
  return split.step < split.size ? split : Split{};
}

/// Return how to split a call if a reduced floating-point operand has more than `most` elements: by
/// the rule that splits the largest operand. elements = 0 if no rule applies. `dim`, along which
/// the op works, is never split.
Split find_split(const OpBase& op, const Pieces& pieces, int64_t dim, int64_t most) {
  Split best;
  const auto is_large = [=](const Piece& p) {
    return is_reduced_floating(p.tensor) && p.tensor.numel() > most;
  };
  if (std::ranges::none_of(pieces, is_large)) return best;  // most calls
  for (const SplitRule& rule : split_rules()) {
    if (rule.op != &op) continue;
    const auto consider = [&](const auto& dims) {
      if (Split split = split_along(dims, pieces, most); split.elements > best.elements)
        best = split;
    };
    if (std::ranges::count(rule.dims, SplitRule::kSharedDim) == 0) {
      consider(rule.dims);
      continue;
    }
    for (int8_t d = 0; d < pieces.back().tensor.dim(); ++d) {
      auto dims = rule.dims;
      std::ranges::replace(dims, SplitRule::kSharedDim, d);
      if (d != dim) consider(dims);
    }
  }
  return best;
}

Piece slice(const Piece& whole, int64_t dim, int64_t first, int64_t size) {
  const Tensor& t = whole.tensor;
  Dims sizes = t.sizes();
  sizes[static_cast<size_t>(dim)] = size;
  Piece piece = whole;
  piece.tensor = alias(t, sizes, t.strides(), first * t.stride(dim), t.dtype());
  piece.copies |= t.is_contiguous() && !piece.tensor.is_contiguous();
  return piece;
}

/// An output that is the sum of all parts' results.
struct Sum {
  size_t operand;
  Tensor total, part;
};

/// `most`: the result of part_elements().
void run_parts(const OpBase& op, const Pieces& pieces, int64_t dim, int64_t most,
               const UpcastCall::Call& call) {
  const Split split = find_split(op, pieces, dim, most);
  if (split.elements == 0) {
    UpcastOperands operands;
    for (const auto& [t, reads, writes, copies] : pieces) {
      copies ? operands.add_copy(t, reads, writes) : operands.add(t, reads, writes);
    }
    return operands.run(call);
  }
  std::vector<Sum> sums;
  for (size_t i = 0; i < pieces.size(); ++i) {
    const Tensor& t = pieces[i].tensor;
    if (!t.defined() || split.dims[i] != SplitRule::kSum) continue;
    const TensorOptions wide = TensorOptions(kFloat32).device(t.device());
    sums.push_back({i, zeros(t.sizes(), wide), empty(t.sizes(), wide)});
  }
  for (int64_t first = 0; first < split.size; first += split.step) {
    Pieces part = pieces;
    for (size_t i = 0; i < pieces.size(); ++i) {
      if (!part[i].tensor.defined() || split.dims[i] < 0) continue;
      part[i] = slice(pieces[i], split.dims[i], first, std::min(split.step, split.size - first));
    }
    for (const Sum& sum : sums) part[sum.operand].tensor = sum.part;
    run_parts(op, part, dim, most, call);
    for (Sum& sum : sums) kernels::binary(sum.total, sum.total, sum.part, BinaryOp::add);
  }
  for (const Sum& sum : sums) convert(pieces[sum.operand].tensor, sum.total);
}

}  // namespace

int64_t part_elements(Device device) {
  if (usable_backend(device).is_accelerator()) return int64_t{1} << 24;
  return int64_t{get_num_threads()} << 19;
}

void run_in_parts(const OpBase& op, const Pieces& pieces, int64_t dim,
                  const UpcastCall::Call& call) {
  const auto first =
      std::ranges::find_if(pieces, [](const Piece& p) { return is_reduced_floating(p.tensor); });
  run_parts(op, pieces, dim, part_elements(first->tensor.device()), call);
}

}  // namespace ambit
