// Values that a plan computes from parameters, once for many runs.
#pragma once

#include <utility>
#include <vector>

#include "nn/graph/call.h"

namespace ambit::graph {

/// The values that a tensor of the state had when something was computed from them. Holds their
/// memory, so that no other tensor gets its address.
struct StateVersion {
  Tensor tensor;
  uint32_t version = 0;

  StateVersion() = default;
  explicit StateVersion(const Tensor& t) : tensor(t), version(t.storage()->version()) {}
  /// Return true if `t` is the same part of the memory, and nothing has been written since.
  bool is_current(const Tensor& t) const {
    return tensor.defined() && tensor.is_set_to(t) && version == t.storage()->version();
  }
};

class Constants {
 public:
  /// `prelude`: calls on values of Program::state. `results`: the values to keep.
  Constants(const Program& program, std::vector<Node> prelude, std::vector<uint32_t> results,
            const Mode& mode);

  /// Compute the results again if a tensor of the state that they depend on has changed.
  void refresh(const std::vector<Tensor>& state);
  size_t size() const { return results_.size(); }
  uint32_t value(size_t i) const { return results_[i]; }
  const Slot& operator[](size_t i) const { return contents_[i]; }

 private:
  struct Source {
    size_t state;    // position
    uint32_t value;  // position in the block
    StateVersion computed_from{};
  };

  const std::vector<Node> prelude_;
  const std::vector<uint32_t> results_;
  const Mode mode_;
  const size_t values_;  // number of values in the block
  std::vector<Source> sources_;
  std::vector<Slot> contents_;
};

}  // namespace ambit::graph
