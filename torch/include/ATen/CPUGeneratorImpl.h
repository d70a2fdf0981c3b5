// Generators owned by a program: torch::make_generator<at::CPUGeneratorImpl>(seed).
#pragma once

#include <ambit/random.h>
#include <torch/namespaces.h>

#include <concepts>
#include <cstdint>

namespace at {

/// Selects CPU generators in make_generator(); ambit's class Generator is the same for all devices.
struct CPUGeneratorImpl {
  static constexpr ambit::DeviceType kType = ambit::kCPU;
};
struct CUDAGeneratorImpl {
  static constexpr ambit::DeviceType kType = ambit::kCUDA;
};

/// Make a CPU generator at the start of the seed's stream.
template <std::same_as<CPUGeneratorImpl> Impl>
Generator make_generator(uint64_t seed = Generator::kDefaultSeed) {
  return Generator(Impl::kType, seed);
}
/// As above, for a cuda device; -1 means the current one. Errors: those of Device(kCUDA).
template <std::same_as<CUDAGeneratorImpl> Impl>
Generator make_generator(int device_index = -1) {
  return Generator(Device(Impl::kType, device_index));
}

namespace detail {
inline const Generator& getDefaultCPUGenerator() { return default_generator(); }
inline Generator createCPUGenerator(uint64_t seed = Generator::kDefaultSeed) {
  return make_generator<CPUGeneratorImpl>(seed);
}
}  // namespace detail

}  // namespace at
