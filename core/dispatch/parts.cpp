#include "parts.h"

#include <ambit/backend/kernels.h>
#include <ambit/backend/registry.h>
#include <ambit/ops/creation.h>
#include <ambit/parallel.h>

#include <algorithm>

#include "cuts.h"
#include "wide_row.h"

namespace ambit {
namespace {

/// Elements of the largest operand of 16 bits of a call that is not cut any further. On the CPU a
/// thread's share of it is 2 MiB in float32.
int64_t part_elements(Device device) {
  if (usable_backend(device).is_accelerator()) return int64_t{1} << 24;
  return int64_t{get_num_threads()} << 19;
}

/// Return how a call comes apart where one of its operands of 16 bits has more than `most`
/// elements, null where none has, or no way does. `parts`: how many there are to be.
const Cut* find_cut(const OpBase& op, const Pieces& pieces, int64_t most, int64_t* parts) {
  const Cut* found = nullptr;
  int64_t largest = most;
  for (const Cut& cut : all_cuts()) {
    if (cut.op != &op) continue;
    for (size_t i = 0; i < pieces.size(); ++i) {
      const Tensor& t = pieces[i].tensor;
      if (!is_reduced(t) || cut.dims[i] < 0 || t.size(cut.dims[i]) < 2) continue;
      if (t.numel() <= largest) continue;  // most calls end here, before anything is made
      const int64_t n = once(t).numel();
      if (n <= largest) continue;
      found = &cut;
      largest = n;
    }
  }
  *parts = (largest + most - 1) / most;
  return found;
}

Piece slice(const Piece& whole, int64_t dim, int64_t first, int64_t size) {
  const Tensor& t = whole.tensor;
  Dims sizes = t.sizes();
  sizes[static_cast<size_t>(dim)] = size;
  Piece piece = whole;
  piece.tensor = alias(t, sizes, t.strides(), first * t.stride(dim), t.dtype());
  piece.gathers |= t.is_contiguous() && !piece.tensor.is_contiguous();
  return piece;
}

/// An output that parts add to.
struct Sum {
  size_t operand;
  Tensor total, part;
};

/// `most`: part_elements().
void run_parts(const OpBase& op, const Pieces& pieces, int64_t most, const Widened::Call& call) {
  int64_t parts = 0;
  const Cut* const cut = find_cut(op, pieces, most, &parts);
  if (!cut) {
    WideRow row;
    for (const auto& [t, reads, writes, gathers] : pieces) {
      gathers ? row.add_copy(t, reads, writes) : row.add(t, reads, writes);
    }
    return row.run(call);
  }
  const size_t count = pieces.size();
  int64_t size = 0;
  std::vector<Sum> sums;
  for (size_t i = 0; i < count; ++i) {
    const Tensor& t = pieces[i].tensor;
    if (!t.defined()) continue;
    if (cut->dims[i] >= 0) size = t.size(cut->dims[i]);
    if (cut->dims[i] != Cut::kSum) continue;
    const TensorOptions wide = TensorOptions(kFloat32).device(t.device());
    sums.push_back({i, zeros(t.sizes(), wide), empty(t.sizes(), wide)});
  }
  const int64_t step = (size + parts - 1) / parts;
  for (int64_t first = 0; first < size; first += step) {
    Pieces part = pieces;
    for (size_t i = 0; i < count; ++i) {
      if (!part[i].tensor.defined() || cut->dims[i] < 0) continue;
      part[i] = slice(pieces[i], cut->dims[i], first, std::min(step, size - first));
    }
    for (const Sum& sum : sums) part[sum.operand].tensor = sum.part;
    run_parts(op, part, most, call);
    for (Sum& sum : sums) kernels::binary(sum.total, sum.total, sum.part, BinaryOp::add);
  }
  for (const Sum& sum : sums) convert(pieces[sum.operand].tensor, sum.total);
}

}  // namespace

void run_in_parts(const OpBase& op, const Pieces& pieces, const Widened::Call& call) {
  const auto first =
      std::ranges::find_if(pieces, [](const Piece& p) { return is_reduced(p.tensor); });
  run_parts(op, pieces, part_elements(first->tensor.device()), call);
}

}  // namespace ambit
