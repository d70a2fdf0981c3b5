// What happens where a device has no kernel for an op, and no composite stands in: by default an
// error. Running it on the CPU instead is a choice, counted, and said at exit: nothing falls back
// silently.
#pragma once

#include <ambit/device.h>

#include <cstddef>
#include <string>
#include <vector>

namespace ambit {

enum class Fallback {
  error,  ///< NotImplementedError
  warn,   ///< run on the CPU; a line on stderr the first time for each op and device
  cpu,    ///< run on the CPU
};

/// Set the policy. At first it is $AMBIT_FALLBACK (error, warn or cpu), or error.
/// Both functions throw Error where $AMBIT_FALLBACK is anything else.
AMBIT_API void set_fallback(Fallback policy);
/// Return the policy.
AMBIT_API Fallback get_fallback();

/// What ran on the CPU in another device's place.
struct FallbackCount {
  std::string op;
  Device device;
  size_t calls = 0;
  size_t bytes = 0;  ///< copied to and from the CPU: outputs both ways, inputs one way
};

/// Return the counts so far, by op and device. Where there are any, they are printed at exit.
AMBIT_API std::vector<FallbackCount> fallback_counts();

/// Say which library's kernel would run for an op on a device: "conv2d on cuda:0: kernel of
/// /usr/lib/ambit/backends/libambit_cuda.so", or composite, or the CPU's by fallback, or why none.
AMBIT_API std::string explain(const class OpBase& op, Device device);

}  // namespace ambit
