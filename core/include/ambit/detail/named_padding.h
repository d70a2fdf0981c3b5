// Convolutions whose padding has a name in place of numbers.
#pragma once

#include <ambit/params.h>
#include <ambit/tensor.h>

#include <concepts>
#include <cstddef>
#include <string_view>

namespace ambit {

/// A padding by name: "valid" is none; "same" keeps the spatial sizes, with one element more behind
/// than before where the padding is odd, and takes a stride of 1. Errors also: Error for another.
template <class Name>
concept PaddingName = std::convertible_to<const Name&, std::string_view>;

namespace detail {
/// `op`: by which name errors and the graph know it.
AMBIT_API Tensor convolve(const char* op, size_t spatial_dims, const Tensor& input,
                          const Tensor& weight, const Tensor& bias, const ConvParams& params,
                          std::string_view padding);
}  // namespace detail

}  // namespace ambit
