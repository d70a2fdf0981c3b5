// Policy for an op without a kernel or composite on a device. The default is an error. Running it
// on the CPU instead is opt-in, counted, and reported at exit, so that no fallback is silent.
#pragma once

#include <ambit/device.h>

#include <cstddef>
#include <string>
#include <vector>

namespace ambit {

/// How an op runs on a device that has neither a kernel nor a composite for it.
enum class Fallback {
  error,  ///< NotImplementedError
  warn,   ///< run on the CPU; a line on stderr the first time for each op and device
  cpu,    ///< run on the CPU
};

/// Set the policy. It is initially $AMBIT_FALLBACK (error, warn or cpu), or error. Both functions
/// throw Error if $AMBIT_FALLBACK has another value.
AMBIT_API void set_fallback(Fallback policy);
/// Return the policy.
AMBIT_API Fallback get_fallback();

/// Calls that ran on the CPU instead of another device.
struct FallbackCount {
  std::string op;    ///< the kernel's name: "sort"
  Device device;     ///< device of the operands
  size_t calls = 0;  ///< number of calls that ran on the CPU
  size_t bytes = 0;  ///< bytes copied to and from the CPU: outputs both ways, inputs one way
};

/// Return the counts so far, by op and device. They are printed at exit unless empty.
AMBIT_API std::vector<FallbackCount> fallback_counts();

/// Describe the kernel that an op would use on a device, and its library: "conv2d on cuda:0: kernel
/// of /usr/lib/ambit/backends/libambit_cuda.so", or composite, or the CPU's by fallback, or why
/// there is none.
AMBIT_API std::string explain(const class OpBase& op, Device device);

}  // namespace ambit
