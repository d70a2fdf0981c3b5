// TensorDataset: the rows of a tensor.
#pragma once

#include <ambit/data/dataset.h>

#include <optional>
#include <vector>

namespace ambit::data::datasets {

/// Samples without targets: sample i is `tensor[i]`, a view.
struct AMBIT_API TensorDataset : public Dataset<TensorDataset, TensorExample> {
  /// Stack tensors of one shape. Errors: those of ambit::stack.
  explicit TensorDataset(const std::vector<Tensor>& tensors);
  /// Errors: ShapeError for a tensor without dims; Error for an undefined one.
  explicit TensorDataset(Tensor rows);

  /// Return row `index`, which shares memory with `tensor`. Errors: IndexError.
  TensorExample get(size_t index) override;
  std::optional<size_t> size() const override;

  Tensor tensor;  ///< the rows
};

}  // namespace ambit::data::datasets
