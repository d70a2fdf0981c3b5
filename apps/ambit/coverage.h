// The results of all probes on a device, by op.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "probe.h"

/// How an op runs on one device, for each dtype for which it is defined.
struct OpCoverage {
  std::map<ambit::DType, Verdict> by_dtype;
  std::vector<std::string> notes;  ///< details: which function, which error
};

struct Coverage {
  ambit::Device device;
  std::string library;
  std::map<std::string, OpCoverage> ops;  ///< by name
};

Coverage coverage_of(ambit::Device device);

/// Return "native", or if dtypes differ "native; missing: int8 uint8", the most frequent first.
std::string summary(const OpCoverage& op);
