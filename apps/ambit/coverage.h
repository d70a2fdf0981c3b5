// The findings of all probes on some devices, op by op.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "probe.h"

/// What runs on one device when an op is called, for each dtype that it is defined for.
struct OpCoverage {
  std::map<ambit::DType, Verdict> by_dtype;
  std::vector<std::string> notes;  ///< what the verdicts do not tell: which function, which error
};

struct Coverage {
  ambit::Device device;
  std::string library;
  std::map<std::string, OpCoverage> ops;  ///< by name
};

Coverage coverage_of(ambit::Device device);

/// Return "native", or where dtypes differ "native; missing: int8 uint8", the most frequent first.
std::string summary(const OpCoverage& op);
