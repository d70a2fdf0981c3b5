// Parsing of einsum's equation: the letter of each dim of each operand and of the result.
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
  std::array<int64_t, 256> sizes{};  ///< size of each label, by its unsigned char
  int64_t size(char label) const { return sizes[static_cast<unsigned char>(label)]; }
};

/// Read an equation for these tensors. Letters repeated in a term are replaced by its diagonal, and
/// dims of size 1 are removed from the terms. Errors: Error for invalid text, ShapeError for
/// tensors that do not match it.
Equation read_equation(std::string_view text, TensorList tensors);

}  // namespace ambit
