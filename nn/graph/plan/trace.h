// The sizes of all values of a program, found without computing them.
#pragma once

#include <set>
#include <vector>

#include "nn/graph/call.h"

namespace ambit::graph {

/// A run of a block on meta.
struct Trace {
  std::vector<Slot> values{};  ///< content of each value: a tensor on meta, or a number
  std::vector<bool>
      is_constant{};  ///< true for each value that depends on no input and no random number
  std::vector<Slot> constants{};           ///< the content of each constant value
  std::set<const StorageImpl*> written{};  ///< memory of values that calls write in place

  bool is_written(uint32_t v) const {
    const Tensor& t = values[v].tensor;
    return t.defined() && written.contains(t.storage().get());
  }
};

/// Find the values of a block. `given`: the contents of its inputs; those in `constant` do not
/// change. Errors: NotImplementedError naming the call whose sizes depend on values.
Trace trace(const Block& block, const std::vector<Slot>& given, const std::vector<bool>& constant,
            const Mode& mode);

/// Call visit(v) for each value that an argument uses.
template <class Visit>
void each_value(const Argument& a, const Visit& visit) {
  if (a.kind == Argument::Kind::value) visit(static_cast<uint32_t>(a.integer));
  for (const Argument& item : a.items) each_value(item, visit);
}

}  // namespace ambit::graph
