// One property of a device that the conformance kit checks. Cases run in child processes, so a
// crash or a hang is reported as a failure.
#pragma once

#include <ambit/device.h>

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace conformance {

/// The device is synchronised after each case, and must not hold more memory than before.
struct Case {
  std::string name;                          // "convolution/float32/strided"; matched by --filter
  std::string op;                            // name of the tested kernel; "" for the runtime
  std::function<void(ambit::Device)> check;  // throws if the property does not hold
};
using Cases = std::vector<Case>;

/// Exception of a failed case. A backend's author sees only its text, which therefore states the
/// call, the expected result and the actual result.
struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Exception of a case that does not apply, such as "one device only". Cases do not catch
/// NotImplementedError and DTypeError, which mean that the backend lacks the kernel or dtype: a
/// gap, not a failure.
struct Skipped : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Return the seed of this run (--seed).
uint64_t seed();
/// Report the error of a result in units of its bound; the maximum of a case is kept. An infinite
/// error is reported by Failure instead.
void note_error(double bounds);

}  // namespace conformance
