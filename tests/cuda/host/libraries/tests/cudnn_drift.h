// Compares the emulation of cuDNN with the real library, which needs only a description of a GPU:
// the same valid and invalid calls must return the same statuses. Calls that crash the real library
// are omitted (a null pointer in create, descriptors of another type, invalid dtypes); the
// emulation returns its own statuses for them.
#pragma once

#include <doctest/doctest.h>

#include <functional>
#include <string>

#include "cudnn_script.h"
#include "tests/cuda/described_gpu.h"

namespace host_libraries {

using D = CudnnScript::Descriptor;

// Run the same calls with both; the statuses must be equal, call by call.
inline void compare(const std::string& what, const std::function<void(CudnnScript&)>& calls) {
  if (!real_cudnn().library.is_there()) {
    MESSAGE("skipped: no cuDNN");
    return;
  }
  CAPTURE(what);
  CudnnScript real(real_cudnn()), ours(emulated_cudnn());
  calls(real);
  calls(ours);
  REQUIRE(real.log().size() == ours.log().size());
  for (size_t i = 0; i < real.log().size(); ++i) {
    CAPTURE(i);
    CAPTURE(real.log()[i].call);
    CHECK(real.log()[i].call == ours.log()[i].call);
    CHECK(static_cast<int>(ours.log()[i].status) == static_cast<int>(real.log()[i].status));
  }
}

inline const TensorSpec kImage{.id = 1, .sizes = {2, 3, 8, 8}};
inline const TensorSpec kFilter{.id = 2, .sizes = {4, 3, 3, 3}};
inline const TensorSpec kResult{.id = 3, .sizes = {2, 4, 8, 8}};
inline const TensorSpec kBias{.id = 4, .sizes = {1, 4, 1, 1}};
inline const TensorSpec kBetween{.id = 5, .sizes = {2, 4, 8, 8}, .is_virtual = true};
inline const TensorSpec kBiased{.id = 6, .sizes = {2, 4, 8, 8}, .is_virtual = true};
inline const ConvSpec kConv{.before = {1, 1}, .after = {1, 1}};

inline TensorSpec with_sizes(TensorSpec spec, Sizes sizes) {
  spec.sizes = std::move(sizes);
  return spec;
}
inline TensorSpec of_doubles(TensorSpec spec) {
  spec.type = CUDNN_DATA_DOUBLE;
  return spec;
}

inline D properties(CudnnScript& s) {
  D d = s.make(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
  const std::string text = ambit::cuda::description(ambit::cuda::kDescribedGpus[0]);
  s.set(d, CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR,
        static_cast<int64_t>(text.size()), text.data());
  s.finalize(d);
  return d;
}

}  // namespace host_libraries
