// Writing whole slices of a dim: index_add, index_copy, index_fill and index_reduce. All but the
// first are scatters with the index repeated for each element of a slice.
#include <ambit/autograd.h>
#include <ambit/backend/kernels.h>
#include <ambit/detail/autocast.h>
#include <ambit/detail/record.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/index.h>
#include <ambit/ops/shape.h>

#include "core/ops/operands/allocate.h"
#include "core/ops/operands/expect.h"
#include "core/ops/operands/operand_grad.h"
#include "core/ops/operands/scalar_operand.h"
#include "core/ops/operands/unrecorded.h"
#include "operands.h"

namespace ambit {
namespace {

// Return source with self's number of dims: if self is 0-dim, source may have one dim of size 1.
Tensor shaped(const Tensor& source, const Tensor& self) {
  return self.dim() == 0 ? reshape(source, {}) : source;
}

// Return alpha * source in its dtype.
Tensor scaled(const char* op, const Tensor& source, const Scalar& alpha) {
  if (!alpha.is_floating_point() && alpha.to<int64_t>() == 1) return source;
  check_fits(op, alpha, source.dtype());
  return mul(source, scalar_on(alpha, source.dtype(), source.device()));
}

void add_rows(Tensor& y, const RowsAt& at, const Tensor& source) {
  if (source.numel() == 0) return;
  Tensor lines = at_least_1d(y);
  kernels::index_add(lines, at.rows, at_least_1d(source), at.dim);
}

// The gradient formula of index_add's source.
auto added_grad(const RowsAt& at) {
  return [rows = saved(at.rows), dim = at.dim](const Tensor& g) {
    return g.dim() == 0 ? g : index_select(g, dim, rows());
  };
}
constexpr auto kIdentity = [](const Tensor& g) { return g; };

Tensor prepared(const char* op, const Tensor& self, const RowsAt& at, const Tensor& source,
                const Scalar& alpha) {
  at.check_source(op, self, source);
  return scaled(op, shaped(source, self), alpha);
}

}  // namespace

Tensor index_add(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
                 const Scalar& alpha) {
  AMBIT_AUTOCAST(index_add, self, dim, index, source, alpha)
  constexpr const char* kOp = "index_add";
  check_operands(kOp, {{"self", self}, {"index", index}, {"source", source}});
  const RowsAt at(kOp, self, dim, index);
  const Tensor added = prepared(kOp, self, at, source, alpha);
  Tensor out = allocate(kOp, self.sizes(), self.dtype(), self.device());
  kernels::copy(out, self);
  add_rows(out, at, added);
  if (!needs_gradient(self, added)) return out;
  return record(kOp, std::move(out), wrt(self, kIdentity), wrt(added, added_grad(at)));
}

const Tensor& index_add_(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
                         const Scalar& alpha) {
  constexpr const char* kOp = "index_add_";
  check_operands(kOp, {{"self", self}, {"index", index}, {"source", source}}, DeviceRule::in_place);
  const RowsAt at(kOp, self, dim, index);
  const Tensor added = prepared(kOp, self, at, source, alpha);
  check_in_place(kOp, self);
  check_apart(kOp, self, added);
  check_apart(kOp, self, at.rows);
  Tensor y = self;
  add_rows(y, at, added);
  record_in_place("index_add", self, wrt(self, kIdentity), wrt(added, added_grad(at)));
  return self;
}

Tensor index_copy(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source) {
  AMBIT_AUTOCAST(index_copy, self, dim, index, source)
  constexpr const char* kOp = "index_copy";
  check_operands(kOp, {{"self", self}, {"index", index}, {"source", source}});
  const RowsAt at(kOp, self, dim, index);
  at.check_source(kOp, self, source);
  const Tensor slices = shaped(source, self);
  return scatter(self, at.dim, at.of_each(slices.sizes()), slices);
}

const Tensor& index_copy_(const Tensor& self, int64_t dim, const Tensor& index,
                          const Tensor& source) {
  constexpr const char* kOp = "index_copy_";
  check_operands(kOp, {{"self", self}, {"index", index}, {"source", source}}, DeviceRule::in_place);
  const RowsAt at(kOp, self, dim, index);
  at.check_source(kOp, self, source);
  const Tensor slices = shaped(source, self);
  return scatter_(self, at.dim, at.of_each(slices.sizes()), slices);
}

namespace {

// The slices of self that index_fill writes, all `value`.
struct Fill {
  Fill(const char* op, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& value)
      : at(op, self, dim, index, true) {
    if (value.dim() > 0) throw_dim(op, "value", "0-dim", value.sizes());
    Dims sizes(self.sizes());
    if (self.dim() > 0) sizes[static_cast<size_t>(at.dim)] = at.rows.numel();
    index_of_each = at.of_each(sizes);
    slices = expand(value.to(self.device(), self.dtype()), sizes);
  }
  RowsAt at;
  Tensor index_of_each, slices;
};

Tensor number_for(const char* op, const Tensor& self, const Scalar& value) {
  check_fits(op, value, self.dtype());
  return scalar_on(value, self.dtype(), self.device());
}

// Return a bool mask of the elements that index_fill wrote, broadcasting with g. The gradient uses
// a mask instead of the index, so that an element filled twice counts once.
Tensor filled_mask(const Tensor& g, int64_t dim, const Tensor& rows) {
  if (g.dim() == 0) return ones({}, g.options().dtype(kBool));
  const int64_t n = g.size(dim);
  Dims column(g.sizes().size(), 1);
  column[static_cast<size_t>(dim)] = n;
  return reshape(scatter(zeros({n}, g.options().dtype(kBool)), 0, rows, true), column);
}

// The gradient formulas of self and of value.
auto kept_grad(const Fill& f) {
  return [rows = saved(f.at.rows), dim = f.at.dim](const Tensor& g) {
    return masked_fill(g, filled_mask(g, dim, rows()), 0);
  };
}
auto value_grad(const Fill& f, const Tensor& value) {
  return [back = ReduceGradTo(value), rows = saved(f.at.rows), dim = f.at.dim](const Tensor& g) {
    return back(masked_fill(g, logical_not(filled_mask(g, dim, rows())), 0));
  };
}

Tensor filled(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& value) {
  const Fill f("index_fill", self, dim, index, value);
  Tensor out;
  {
    const NoGradGuard no_grad;
    out = scatter(self, f.at.dim, f.index_of_each, f.slices);
  }
  if (!needs_gradient(self, value)) return out;
  return record("index_fill", std::move(out), wrt(self, kept_grad(f)),
                wrt(value, value_grad(f, value)));
}

const Tensor& fill_in_place(const Tensor& self, int64_t dim, const Tensor& index,
                            const Tensor& value) {
  const Fill f("index_fill_", self, dim, index, value);
  check_in_place("index_fill_", self);
  {
    const NoGradGuard no_grad;
    scatter_(self, f.at.dim, f.index_of_each, f.slices);
  }
  record_in_place("index_fill", self, wrt(self, kept_grad(f)), wrt(value, value_grad(f, value)));
  return self;
}

}  // namespace

Tensor index_fill(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value) {
  check_operands("index_fill", {{"self", self}, {"index", index}});
  return filled(self, dim, index, number_for("index_fill", self, value));
}

Tensor index_fill(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& value) {
  check_operands("index_fill", {{"self", self}, {"index", index}, {"value", value}},
                 DeviceRule::in_place_elementwise);
  return filled(self, dim, index, value);
}

const Tensor& index_fill_(const Tensor& self, int64_t dim, const Tensor& index,
                          const Scalar& value) {
  check_operands("index_fill_", {{"self", self}, {"index", index}}, DeviceRule::in_place);
  return fill_in_place(self, dim, index, number_for("index_fill_", self, value));
}

const Tensor& index_fill_(const Tensor& self, int64_t dim, const Tensor& index,
                          const Tensor& value) {
  check_operands("index_fill_", {{"self", self}, {"index", index}, {"value", value}},
                 DeviceRule::in_place_elementwise);
  return fill_in_place(self, dim, index, value);
}

namespace {

void check_reduce(const char* op, std::string_view reduce) {
  one_of(op, reduce, {"prod", "mean", "amax", "amin"});
}

}  // namespace

Tensor index_reduce(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
                    std::string_view reduce, bool include_self) {
  constexpr const char* kOp = "index_reduce";
  check_operands(kOp, {{"self", self}, {"index", index}, {"source", source}});
  check_reduce(kOp, reduce);
  const RowsAt at(kOp, self, dim, index);
  at.check_source(kOp, self, source);
  const Tensor slices = shaped(source, self);
  return scatter_reduce(self, at.dim, at.of_each(slices.sizes()), slices, reduce, include_self);
}

const Tensor& index_reduce_(const Tensor& self, int64_t dim, const Tensor& index,
                            const Tensor& source, std::string_view reduce, bool include_self) {
  constexpr const char* kOp = "index_reduce_";
  check_operands(kOp, {{"self", self}, {"index", index}, {"source", source}}, DeviceRule::in_place);
  check_reduce(kOp, reduce);
  const RowsAt at(kOp, self, dim, index);
  at.check_source(kOp, self, source);
  const Tensor slices = shaped(source, self);
  return scatter_reduce_(self, at.dim, at.of_each(slices.sizes()), slices, reduce, include_self);
}

}  // namespace ambit
