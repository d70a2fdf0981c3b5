// Convolutions with padding by name.
#pragma once

#include <ambit/params.h>
#include <ambit/tensor.h>

#include <concepts>
#include <cstddef>
#include <string_view>

namespace ambit {

/// Name of a padding: "valid" is none; "same" keeps the spatial sizes (an odd total puts the extra
/// element at the end) and requires stride 1. Errors: also Error for any other name.
template <class Name>
concept PaddingName = std::convertible_to<const Name&, std::string_view>;

namespace detail {
/// `op`: the op's name in errors and in the graph.
AMBIT_API Tensor convolve(const char* op, size_t spatial_dims, const Tensor& input,
                          const Tensor& weight, const Tensor& bias, const ConvParams& params,
                          std::string_view padding);
}  // namespace detail

}  // namespace ambit
