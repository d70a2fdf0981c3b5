#include "operands.h"

#include <ambit/detail/record.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include <string>

#include "core/ops/operands/broadcast.h"
#include "core/ops/operands/expect.h"
#include "core/ops/operands/unrecorded.h"
#include "index_values.h"

namespace ambit {

void check_operands(const char* op, std::initializer_list<DeviceArg> args, DeviceRule rule) {
  for (const DeviceArg& arg : args) expect_defined(op, arg.name, *arg.tensors);
  check_devices(op, args, rule);
}

void check_apart(const char* op, const Tensor& self, const Tensor& input) {
  check_no_overlap(op, self, input);
  if (self.storage().get() != input.storage().get() || input.numel() == 0 || self.numel() == 0 ||
      self.storage_offset() != input.storage_offset()) {
    return;
  }
  throw Error(fmt::format(
      "{}: expected an input that shares no memory with the output, got the output itself; use "
      "clone()",
      op));
}

void expect_index_dtype(const char* op, const Tensor& index) {
  expect_defined(op, "index", index);
  if (index.dtype() == kInt64 || index.dtype() == kInt32) return;
  throw DTypeError(
      fmt::format("{}: expected an index of int64 or int32, got {}", op, name(index.dtype())));
}

Tensor as_int64(const Tensor& index) {
  return index.defined() && index.dtype() == kInt32 ? index.to(kInt64) : index;
}

Tensor row_index(const char* op, const Tensor& index) {
  expect_index_dtype(op, index);
  const NoGradGuard no_grad;
  return reshape(index.to(kInt64), {-1});
}

RowsAt::RowsAt(const char* op, const Tensor& self, int64_t asked, const Tensor& index,
               bool from_end)
    : dim(wrap_dim(op, asked, self.dim())), rows(row_index(op, index)) {
  if (index.dim() > 1 || (self.dim() == 0 && index.numel() != 1)) {
    throw ShapeError(fmt::format("{}: expected a 1-dim index{}, got shape {}", op,
                                 self.dim() == 0 ? " of one element" : "", str(index.sizes())));
  }
  const int64_t size = self.dim() == 0 ? 1 : self.size(dim);
  check_index_values(op, rows, from_end ? -size : 0, size, dim);
  const NoGradGuard no_grad;
  if (from_end) rows = where(rows < 0, rows + size, rows);
}

void RowsAt::check_source(const char* op, const Tensor& self, const Tensor& source) const {
  expect_dtype(op, "source", source, self.dtype());
  Dims expected(self.sizes());
  if (self.dim() > 0) expected[static_cast<size_t>(dim)] = rows.numel();
  const bool same_numel = self.dim() == 0 && source.numel() == 1 && source.dim() <= 1;
  if (!same_numel) expect_sizes(op, "source", source, expected);
}

Tensor RowsAt::of_each(IntArrayRef sizes) const {
  if (sizes.empty()) return reshape(rows, {});
  Dims column(sizes.size(), 1);
  column[static_cast<size_t>(dim)] = rows.numel();
  return expanded(reshape(rows, column), sizes);
}

size_t one_of(const char* op, std::string_view reduce,
              std::initializer_list<std::string_view> names) {
  std::string list;
  for (const std::string_view& name : names) {
    const auto place = static_cast<size_t>(&name - names.begin());
    if (name == reduce) return place;
    list += place == 0 ? "" : place + 1 == names.size() ? " or " : ", ";
    list += name;
  }
  throw Error(fmt::format("{}: expected reduce to be {}, got \"{}\"", op, list, reduce));
}

void check_has_data(const char* op, const Tensor& t) {
  if (!t.is_meta()) return;
  throw NotImplementedError(fmt::format(
      "{}: expected a tensor with data, on which the result's shape depends, got a meta "
      "tensor",
      op));
}

int64_t count_true(const Tensor& mask) {
  const NoGradGuard no_grad;
  return sum(view(mask, kUInt8) != 0).item<int64_t>();
}

Tensor bool_mask(const char* op, const Tensor& mask) {
  if (mask.dtype() == kBool) return mask;
  if (mask.dtype() == kUInt8) return mask.to(kBool);
  throw DTypeError(
      fmt::format("{}: expected a mask of bool or uint8, got {}", op, name(mask.dtype())));
}

}  // namespace ambit
