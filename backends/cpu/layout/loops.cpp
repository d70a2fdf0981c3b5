#include "loops.h"

namespace ambit::cpu {
namespace {

/// Whether dim d (outer) and the next one walk like one longer dim in every operand.
bool joinable(const Dims& sizes, const Dims* strides, size_t operands, size_t d) {
  for (size_t i = 0; i < operands; ++i) {
    // Unsigned, since those of an empty tensor may be as large as they like.
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
  // Insertion sort by the output's stride: few dims, nearly always in order already.
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

}  // namespace ambit::cpu
