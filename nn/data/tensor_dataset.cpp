#include <ambit/data/tensor_dataset.h>
#include <ambit/error.h>
#include <ambit/ops/shape.h>

#include <fmt/format.h>

#include <utility>

namespace ambit::data::datasets {

TensorDataset::TensorDataset(const std::vector<Tensor>& tensors) : TensorDataset(stack(tensors)) {}

TensorDataset::TensorDataset(Tensor rows) : tensor(std::move(rows)) {
  if (!tensor.defined()) throw Error("TensorDataset: expected a tensor, got an undefined one");
  if (tensor.dim() == 0) throw ShapeError("TensorDataset: expected at least 1 dim, got 0");
}

TensorExample TensorDataset::get(size_t index) {
  const auto rows = static_cast<size_t>(tensor.size(0));
  if (index >= rows) {
    throw IndexError(fmt::format("TensorDataset: expected an index below {}, got {}", rows, index));
  }
  return tensor.select(0, static_cast<int64_t>(index));
}

std::optional<size_t> TensorDataset::size() const { return static_cast<size_t>(tensor.size(0)); }

}  // namespace ambit::data::datasets
