// How calls come apart: along which dims of their operands the parts of an op are calls of their
// own.
#pragma once

#include <ambit/backend/op.h>

#include <array>
#include <cstdint>
#include <span>

namespace ambit {

/// One way to cut the calls of an op.
struct Cut {
  static constexpr int8_t kWhole = -1;  ///< each part takes all of the operand
  static constexpr int8_t kSum = -2;    ///< an output: the sum of what all parts give
  /// Any one dim that all such operands are as long along, but that which the call is along.
  static constexpr int8_t kBeside = -3;

  const OpBase* op;
  std::array<int8_t, OpBase::kMaxArgs> dims;  ///< of each operand the dim that is cut, or the above
};

/// Return the ways of all ops.
std::span<const Cut> all_cuts();

}  // namespace ambit
