// One claim about a device that the conformance kit can check. Cases run in child processes, so
// that one that crashes or hangs is a finding like any other.
#pragma once

#include <ambit/device.h>

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace conformance {

struct Case {
  std::string name;                          // "conv2d/float32/strided": --filter looks here
  std::string op;                            // the kernel it is about; "" for the runtime
  std::function<void(ambit::Device)> check;  // throws whatever shows that the claim is false
};
using Cases = std::vector<Case>;

/// What a case throws: the text is all that a backend's author gets to see, so it says what was
/// done, what was expected and what came.
struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What a case throws where it cannot apply: "one device only".
struct Skipped : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace conformance
