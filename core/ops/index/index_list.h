// Parsing of index lists, as in x[1, ..., 2:5, mask], into a view and index tensors.
#pragma once

#include <ambit/ops/index.h>

#include <span>

#include "linear_index.h"

namespace ambit {

/// Non-owning.
using IndexList = std::span<const indexing::TensorIndex>;

struct ParsedIndex {
  Tensor view;  ///< of self, after integers, slices, None and ellipsis
  /// For each dim of view its index tensor; undefined: the whole dim.
  std::vector<AxisIndex> axes;

  bool is_view() const;
};

/// Check that all tensors are defined and on self's device; indices may also be on cpu. `value`:
/// the value that `op` writes, null if it reads.
void check_index_devices(const char* op, const Tensor& self, IndexList indices,
                         const Tensor* value = nullptr);
/// Check devices and bounds and build the view. `value`: as above.
ParsedIndex parse_index(const char* op, const Tensor& self, IndexList indices,
                        const Tensor* value = nullptr);

}  // namespace ambit
