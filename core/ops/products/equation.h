// What einsum's text says: which letter each dim of each operand has, and which the result has.
#pragma once

#include <ambit/tensor.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace ambit {

/// A tensor with a label for each dim. Labels are letters; those from 128 on are the dims of "...".
struct Term {
  Tensor tensor;
  std::string labels;
};

struct Equation {
  std::vector<Term> terms;
  std::string result;
  std::array<int64_t, 256> sizes{};  ///< of each label, by the label as unsigned char
  int64_t size(char label) const { return sizes[static_cast<unsigned char>(label)]; }
};

/// Read an equation for these tensors; what a letter names twice in one term is its diagonal then,
/// and dims of size 1 are gone from the terms. Errors: Error for text that cannot be read,
/// ShapeError for tensors that do not fit it.
Equation read_equation(std::string_view text, TensorList tensors);

}  // namespace ambit
