// Calls with new operands, one function per family: it draws sizes and parameters, and appends a
// call by Generator::call.
#pragma once

#include <vector>

#include "generator.h"

namespace fuzz {

using Call = void (*)(Generator&);
extern const std::vector<Call> kLayerCalls, kNetworkCalls, kLossCalls, kMatrixCalls, kIndexCalls,
    kNumberCalls, kPoolCalls, kPartCalls, kComplexCalls;

/// Return all elements of all tensors as one float64 tensor, for calls with several results.
ambit::Tensor flat(const Tensors& results);
template <class... T>
ambit::Tensor flat(const std::tuple<T...>& results) {
  return std::apply([](const auto&... t) { return flat(Tensors{t...}); }, results);
}

/// Return "F.conv2d" for "F.conv" and 2.
std::string spatial(const char* name, size_t D);
/// Return [N,C,...] with these spatial sizes, occasionally without N.
Sizes image_sizes(Generator& g, int64_t C, const Sizes& spatial_sizes);
/// Return n random integers in [least, most].
Sizes draw(Generator& g, size_t n, int64_t least, int64_t most);

}  // namespace fuzz
