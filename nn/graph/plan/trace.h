// The sizes of all values of a program, found without computing them.
#pragma once

#include <set>
#include <vector>

#include "nn/graph/call.h"

namespace ambit::graph {

/// A run of a block on meta.
struct Trace {
  std::vector<Slot> values{};       ///< by value: tensors on meta; numbers
  std::vector<bool> is_constant{};  ///< by value: depends on no input and on no random number
  std::vector<Slot> constants{};    ///< by value: the content of a constant
  std::set<const StorageImpl*> written{};  ///< those of `values` that calls write in place

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
