// Determines how an op runs by calling it: the registry shows whether there is a kernel, but not
// for which dtypes, nor whether it calls a loop of `reference`.
#pragma once

#include <ambit/backend/examples.h>

#include <string>

/// How an op runs. Ordered: for several functions of one op, the last verdict is the op's.
enum class Verdict {
  native,      ///< a kernel of the backend, not one borrowed from `reference`
  registered,  ///< a kernel of the backend, which has no devices
  upcast,      ///< a kernel of the backend that upcasts reduced floating-point operands to float32
  reference,   ///< a kernel of the backend that borrows a loop of `reference`
  composite,   ///< other ops, on the device
  fallback,    ///< the CPU's kernel, with copies; if AMBIT_FALLBACK allows it
  missing,     ///< nothing: NotImplementedError, or DTypeError for a dtype the op is defined for
  failed,      ///< a kernel that throws something else
};
const char* name(Verdict verdict);

struct Finding {
  Verdict verdict = Verdict::native;
  std::string text;  ///< the error message; empty if it runs
};

/// Call the op on the device, without fallback; if its backend has no devices, return the
/// registry's information. Never throws; if a kernel crashes the process, its name is printed on
/// stderr.
Finding find_out(const ambit::Example& example, ambit::DType dtype, ambit::Device device);
