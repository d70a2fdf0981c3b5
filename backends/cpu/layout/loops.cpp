#include "loops.h"

namespace ambit::cpu {
namespace {

/// Return true if dims d and d + 1 can be merged in every operand.
bool joinable(const Dims& sizes, const Dims* strides, size_t operands, size_t d) {
  for (size_t i = 0; i < operands; ++i) {
    // Unsigned, because strides of an empty tensor may be arbitrarily large.
    const auto inner = static_cast<uint64_t>(strides[i][d + 1]);
    if (static_cast<uint64_t>(strides[i][d]) != inner * static_cast<uint64_t>(sizes[d + 1])) {
      return false;
    }
  }
  return true;
}

void swap_dims(Dims& sizes, Dims* strides, size_t operands, size_t a, size_t b) {
  std::swap(sizes[a], sizes[b]);
  for (size_t i = 0; i < operands; ++i) std::swap(strides[i][a], strides[i][b]);
}

void erase_dim(Dims& sizes, Dims* strides, size_t operands, size_t d) {
  sizes.erase(d);
  for (size_t i = 0; i < operands; ++i) strides[i].erase(d);
}

}  // namespace

void collapse(Dims& sizes, Dims* strides, size_t operands) {
  for (size_t d = sizes.size(); d-- > 0;) {
    if (sizes[d] == 1) erase_dim(sizes, strides, operands, d);
  }
  // Insertion sort by the output's stride: there are few dims, nearly always already in order.
  for (size_t i = 1; i < sizes.size(); ++i) {
    for (size_t d = i; d > 0 && strides[0][d - 1] < strides[0][d]; --d) {
      swap_dims(sizes, strides, operands, d - 1, d);
    }
  }
  for (size_t d = sizes.size(); d-- > 1;) {
    if (!joinable(sizes, strides, operands, d - 1)) continue;
    sizes[d] *= sizes[d - 1];
    erase_dim(sizes, strides, operands, d - 1);
  }
  if (sizes.empty()) {
    sizes.push_back(1);
    for (size_t i = 0; i < operands; ++i) strides[i].push_back(1);
  }
}

template <size_t N>
RunWalk<N>::RunWalk(const Loops<N>& loops, int64_t run)
    : loops_(loops), at_(loops.sizes.size() - 1) {
  for (size_t d = at_.size(); d-- > 0;) {
    at_[d] = run % loops.sizes[d];
    run /= loops.sizes[d];
    for (size_t i = 0; i < N; ++i) offsets_[i] += at_[d] * loops.strides[i][d];
  }
  if (at_.empty()) return;
  row_left_ = loops.sizes[at_.size() - 1] - at_.back();
  for (size_t i = 0; i < N; ++i) steps_[i] = loops.strides[i][at_.size() - 1];
}

template <size_t N>
void RunWalk<N>::next_row() {
  if (at_.empty()) return;
  size_t d = at_.size() - 1;
  row_left_ = loops_.sizes[d];
  for (size_t i = 0; i < N; ++i) offsets_[i] -= (row_left_ - 1) * steps_[i];
  // Advance the next outer dim that is not exhausted.
  while (d-- > 0) {
    const bool steps = ++at_[d] < loops_.sizes[d];
    for (size_t i = 0; i < N; ++i) {
      offsets_[i] += (steps ? 1 : 1 - at_[d]) * loops_.strides[i][d];
    }
    if (steps) return;
    at_[d] = 0;
  }
}

template class RunWalk<1>;
template class RunWalk<2>;
template class RunWalk<3>;
template class RunWalk<4>;

}  // namespace ambit::cpu
