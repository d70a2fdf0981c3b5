// What runs when an op is called, found out by calling it: the registry knows whether there is a
// kernel, but not for which dtypes, nor whether it only borrows a loop of `reference`.
#pragma once

#include <ambit/backend/kernels.h>

#include <functional>
#include <string>
#include <vector>

/// What runs. In order: of several functions of one op, the last verdict is the op's.
enum class Verdict {
  native,     ///< a kernel of the backend's own
  reference,  ///< a kernel of the backend that runs a loop of the reference backend
  composite,  ///< other ops, on the device
  fallback,   ///< the CPU's kernel, with copies; AMBIT_FALLBACK allows it
  missing,  ///< nothing: NotImplementedError, or DTypeError for a dtype that the op is defined for
  failed,   ///< a kernel that throws something else
};
const char* name(Verdict verdict);

struct Finding {
  Verdict verdict = Verdict::native;
  std::string text;  ///< what was thrown; empty for what runs
};

/// The smallest call of an op, or of one function of a family such as `unary`.
struct Probe {
  const ambit::OpBase* op;
  std::string function;              ///< "exp"; empty where the op is one function
  std::vector<ambit::DType> dtypes;  ///< that it is defined for
  /// Make operands on a device; what is returned calls the op.
  std::function<std::function<void()>(ambit::DType, ambit::Device)> prepare;
};

/// Return the probes of all ops, in the order of kernels.h.
std::vector<Probe> all_probes();

/// Call the op on the device, without fallback. Never throws.
Finding find_out(const Probe& probe, ambit::DType dtype, ambit::Device device);
