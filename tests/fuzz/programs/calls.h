// Calls with operands of their own, a function for each family: it draws sizes and parameters, and
// appends one call by Generator::call.
#pragma once

#include <vector>

#include "generator.h"

namespace fuzz {

using Call = void (*)(Generator&);
extern const std::vector<Call> kLayerCalls, kNetworkCalls, kLossCalls, kMatrixCalls, kIndexCalls,
    kNumberCalls, kPoolCalls, kPartCalls;

/// Return all elements of all tensors, as float64: of calls with several results.
ambit::Tensor flat(const Tensors& results);
template <class... T>
ambit::Tensor flat(const std::tuple<T...>& results) {
  return std::apply([](const auto&... t) { return flat(Tensors{t...}); }, results);
}

/// "F.conv" and 2: "F.conv2d".
std::string spatial(const char* name, size_t D);
/// Return [N,C,...] for these spatial sizes, now and then without N.
Sizes image_sizes(Generator& g, int64_t C, const Sizes& spatial_sizes);
/// Return n random integers of [least, most].
Sizes draw(Generator& g, size_t n, int64_t least, int64_t most);

}  // namespace fuzz
