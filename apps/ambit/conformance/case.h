// One claim about a device that the conformance kit can check. Cases run in child processes, so
// that one that crashes or hangs is a finding like any other.
#pragma once

#include <ambit/device.h>

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace conformance {

/// The device is synchronised after each case, and must then hold no more memory than before.
struct Case {
  std::string name;                          // "convolution/float32/strided": --filter looks here
  std::string op;                            // the kernel it is about; "" for the runtime
  std::function<void(ambit::Device)> check;  // throws whatever shows that the claim is false
};
using Cases = std::vector<Case>;

/// What a case throws: the text is all that a backend's author gets to see, so it says what was
/// done, what was expected and what came.
struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What a case throws where it cannot apply: "one device only". NotImplementedError and DTypeError
/// are not caught by cases: they say that the backend declines, which is a gap and no failure.
struct Skipped : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Return the seed of this run (--seed).
uint64_t seed();
/// Tell the report how far a result was off, in units of its bound; the largest of a case counts.
/// An infinite one, beyond any bound, is for a Failure to tell.
void note_error(double bounds);

}  // namespace conformance
