// Ops that join several tensors along a dim or on a diagonal.
#include <ambit/backend/op.h>
#include <ambit/detail/memory_errors.h>
#include <ambit/detail/record.h>
#include <ambit/error.h>
#include <ambit/ops/arrange.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include "core/ops/operands/expect.h"

namespace ambit {
namespace {

void check_list(const char* op, TensorList tensors) {
  check_devices(op, {{"tensors", tensors}});
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (!tensors[i].defined()) {
      throw Error(fmt::format("{}: expected defined tensors, got tensors[{}] undefined", op, i));
    }
  }
}

// Concatenate view(t) of each tensor along dim(first).
template <class View, class Dim>
Tensor joined(const char* op, TensorList tensors, View view, Dim dim) try {
  if (tensors.empty()) throw ShapeError(fmt::format("{}: expected tensors, got an empty list", op));
  check_list(op, tensors);
  std::vector<Tensor> parts;
  parts.reserve(tensors.size());
  for (const Tensor& t : tensors) parts.push_back(view(t));
  return cat(parts, dim(parts[0]));
} catch (const std::bad_alloc&) {
  throw_out_of_host_memory(op);
}

int64_t column_dim(const Tensor& first) { return first.dim() == 1 ? 0 : 1; }

Tensor joined_rows(const char* op, TensorList tensors) {
  return joined(
      op, tensors, [](const Tensor& t) { return atleast_2d(t); },
      [](const Tensor&) { return int64_t{0}; });
}

// The position of a block, and its original sizes and dtype.
struct Block {
  int64_t row, column, rows, columns;
  Dims sizes;
  DType dtype;
  Tensor of(const Tensor& t) const { return narrow(narrow(t, 0, row, rows), 1, column, columns); }
};

}  // namespace

Tensor hstack(TensorList tensors) {
  return joined(
      "hstack", tensors, [](const Tensor& t) { return atleast_1d(t); }, column_dim);
}

Tensor vstack(TensorList tensors) { return joined_rows("vstack", tensors); }

Tensor row_stack(TensorList tensors) { return joined_rows("row_stack", tensors); }

Tensor dstack(TensorList tensors) {
  return joined(
      "dstack", tensors, [](const Tensor& t) { return atleast_3d(t); },
      [](const Tensor&) { return int64_t{2}; });
}

Tensor column_stack(TensorList tensors) {
  const auto column = [](const Tensor& t) { return t.dim() <= 1 ? view(t, {t.numel(), 1}) : t; };
  return joined("column_stack", tensors, column, column_dim);
}

Tensor block_diag(TensorList tensors) try {
  const char* op = "block_diag";
  if (tensors.empty()) return zeros({1, 0});
  check_list(op, tensors);
  std::vector<Block> blocks;
  DType dtype = tensors[0].dtype();
  int64_t rows = 0, columns = 0;
  for (const Tensor& t : tensors) {
    if (t.dim() > 2) {
      throw ShapeError(fmt::format("{}: expected matrices, got shape {}", op, str(t.sizes())));
    }
    const int64_t m = t.dim() < 2 ? 1 : t.size(0), n = t.dim() == 0 ? 1 : t.size(-1);
    blocks.push_back({rows, columns, m, n, t.sizes(), t.dtype()});
    rows += m;
    columns += n;
    dtype = promote_types(dtype, t.dtype());
  }
  Tensor out = zeros({rows, columns}, tensors[0].options().dtype(dtype));
  {
    const NoGradGuard no_grad;
    for (size_t i = 0; i < blocks.size(); ++i) blocks[i].of(out).copy_(tensors[i]);
  }
  return record_list(op, std::move(out), tensors,
                     [blocks = std::move(blocks)](const Tensor& g, size_t i) {
                       return reshape(blocks[i].of(g), blocks[i].sizes).to(blocks[i].dtype);
                     });
} catch (const std::bad_alloc&) {
  throw_out_of_host_memory("block_diag");
}

}  // namespace ambit
