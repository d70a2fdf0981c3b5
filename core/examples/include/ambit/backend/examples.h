// One small call of every kernel, for those who need each once, and none left out: `ambit ops`
// finds out by them what runs, the conformance kit and the tests what comes of operands on
// different devices and what a call costs beside its work. A library of its own, ambit_examples: no
// program needs it.
#pragma once

#include <ambit/backend/op.h>

#include <functional>
#include <string>
#include <vector>

namespace ambit {

/// A call that is right on one device. Operands are the op's tensors in their order, outputs first,
/// lists as their elements; all are defined, and the first has a dim.
struct Example {
  const OpBase* op;
  std::string function;  ///< of a family of functions ("exp"), or a kind of call; else empty
  DTypeSet dtypes;       ///< that this call is defined for
  /// Return new operands for such a dtype, on the cpu: outputs hold something too. No kernel but
  /// the cpu's runs.
  std::function<std::vector<Tensor>(DType)> operands;
  /// Call the op with such operands, on whatever devices they are.
  std::function<void(std::vector<Tensor>&)> call;
};

/// Return the examples of all kernels, in the order of kernels.h; of a family one per function.
std::vector<Example> examples();

}  // namespace ambit
