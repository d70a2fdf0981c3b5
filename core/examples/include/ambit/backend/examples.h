// One small example call of every kernel: `ambit ops` uses them to find which kernels run, the
// conformance kit and the tests to check operands on different devices and the overhead of calls. A
// separate library, ambit_examples, that programs do not need.
#pragma once

#include <ambit/backend/op.h>

#include <functional>
#include <string>
#include <vector>

namespace ambit {

/// A valid call on one device. Operands are the op's tensors in order, outputs first, lists as
/// their elements; all are defined, and the first has at least one dim.
struct Example {
  const OpBase* op;
  std::string function;  ///< the function of a family ("exp") or a variant of the call, else empty
  DTypeSet dtypes;       ///< supported by this call
  /// Return new operands of a dtype on the cpu; outputs are initialised too. Only the cpu's kernels
  /// run.
  std::function<std::vector<Tensor>(DType)> operands;
  /// Call the op with these operands, on their devices.
  std::function<void(std::vector<Tensor>&)> call;
};

/// Return the examples of all kernels, in the order of kernels.h, one for each function of a
/// family.
std::vector<Example> examples();

}  // namespace ambit
