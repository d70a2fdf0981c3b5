// Results of a case and of a run.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace conformance {

enum class Outcome {
  passed,
  failed,
  skipped,  // does not apply
  missing,  // the backend has no kernel, or none for the dtype
};
NLOHMANN_JSON_SERIALIZE_ENUM(Outcome, {{Outcome::passed, "passed"},
                                       {Outcome::failed, "failed"},
                                       {Outcome::skipped, "skipped"},
                                       {Outcome::missing, "missing"}})

struct Result {
  std::string name, op;  // as in Case
  Outcome outcome = Outcome::passed;
  std::string text;  // the reason; empty if passed
  double error = 0;  // largest error, in units of its bound
  double seconds = 0;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Result, name, op, outcome, text, error, seconds)

/// How an op runs on the device.
struct Coverage {
  std::string op;
  std::string kernel;   // "native", "composite" or "missing"
  std::string library;  // explain(op, device)
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Coverage, op, kernel, library)

struct CaseName {
  std::string name, op;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CaseName, name, op)

/// Sent by a worker before it runs any case.
struct Plan {
  std::string device, hardware;  // "npu:0", "NPU 3000, /opt/npu/libambit_npu.so"
  std::vector<Coverage> coverage;
  std::vector<CaseName> cases;  // the cases that match --filter
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Plan, device, hardware, coverage, cases)

}  // namespace conformance
