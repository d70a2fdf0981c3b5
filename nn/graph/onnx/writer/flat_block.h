// A program as one list of calls, for formats without blocks. Private to nn/graph/onnx.
#pragma once

#include <cstdint>
#include <vector>

#include "nn/graph/program.h"

namespace ambit::graph::onnx {

/// Return the program's block, in which blocks that only switch gradients on or off are replaced by
/// their calls. Its `outputs` are the outputs of the block.
Block flat_block(const Program& program);

/// Finds values that share memory: a call that changes one of them in place changes the others.
class Aliases {
 public:
  explicit Aliases(const Block& block);

  /// Values with this number share memory: views of one tensor.
  uint32_t memory(uint32_t value) const { return memory_[value]; }
  /// Values with this number are one tensor.
  uint32_t identity(uint32_t value) const { return identity_[value]; }

 private:
  std::vector<uint32_t> memory_, identity_;
};

/// True for a call that changes its first argument: the result is not only in its outputs.
bool changes_argument(const Node& node);
/// Call `visit` with each value that an argument refers to.
template <class Visit>
void each_value(const Argument& a, Visit visit) {
  if (a.kind == Argument::Kind::value) visit(static_cast<uint32_t>(a.integer));
  for (const Argument& item : a.items) each_value(item, visit);
}
/// Return which calls the outputs need.
std::vector<bool> needed_calls(const Block& block, const Aliases& aliases);

}  // namespace ambit::graph::onnx
