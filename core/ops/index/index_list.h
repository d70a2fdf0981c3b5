// A list of indices as in x[1, ..., 2:5, mask], split into what is a view and what is not.
#pragma once

#include <ambit/ops/index.h>

#include <span>

#include "linear_index.h"

namespace ambit {

/// Borrowed.
using IndexList = std::span<const indexing::TensorIndex>;

struct ParsedIndex {
  Tensor view;  ///< of self, after integers, slices, None and ellipsis
  /// For each dim of view the tensor that indexes it; undefined: all of the dim.
  std::vector<AxisIndex> axes;

  bool is_view() const;
};

/// Check that all tensors are defined and where self is, but for indices on cpu, which may go with
/// any device. `value`: what `op` writes there, null if it reads.
void check_index_devices(const char* op, const Tensor& self, IndexList indices,
                         const Tensor* value = nullptr);
/// Check devices and bounds and take the view. `value`: as above.
ParsedIndex parse_index(const char* op, const Tensor& self, IndexList indices,
                        const Tensor* value = nullptr);

}  // namespace ambit
