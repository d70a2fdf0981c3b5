// What runs when an op is called, found out by calling it: the registry knows whether there is a
// kernel, but not for which dtypes, nor whether it only borrows a loop of `reference`.
#pragma once

#include <ambit/backend/examples.h>

#include <string>

/// What runs. In order: of several functions of one op, the last verdict is the op's.
enum class Verdict {
  native,      ///< a kernel of the backend's own
  registered,  ///< a kernel of the backend, which has no device to call it on
  widened,     ///< a kernel of the backend, on operands of 16 bits by way of float32
  reference,   ///< a kernel of the backend that runs a loop of the reference backend
  composite,   ///< other ops, on the device
  fallback,    ///< the CPU's kernel, with copies; AMBIT_FALLBACK allows it
  missing,  ///< nothing: NotImplementedError, or DTypeError for a dtype that the op is defined for
  failed,   ///< a kernel that throws something else
};
const char* name(Verdict verdict);

struct Finding {
  Verdict verdict = Verdict::native;
  std::string text;  ///< what was thrown; empty for what runs
};

/// Call the op on the device, without fallback; where its backend has no devices, say what the
/// registry knows. Never throws; of a kernel that ends the process
/// it says on stderr which it was.
Finding find_out(const ambit::Example& example, ambit::DType dtype, ambit::Device device);
