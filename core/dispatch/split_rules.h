// How calls can be split: the dims of an op's operands along which parts can run as separate calls.
#pragma once

#include <ambit/backend/op.h>

#include <array>
#include <cstdint>
#include <span>

namespace ambit {

/// One way to split the calls of an op.
struct SplitRule {
  static constexpr int8_t kWhole = -1;  ///< each part gets the whole operand
  static constexpr int8_t kSum = -2;    ///< an output: the sum of all parts' results
  /// Any one dim in which all operands with kSharedDim have the same size, except the call's own
  /// dim.
  static constexpr int8_t kSharedDim = -3;

  const OpBase* op;
  std::array<int8_t, OpBase::kMaxArgs> dims;  ///< for each operand the dim to split, or a constant
                                              ///< above
};

/// Return the splits of all ops.
std::span<const SplitRule> split_rules();

}  // namespace ambit
