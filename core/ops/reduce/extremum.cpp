// Largest and smallest elements and their indices.
#include <ambit/backend/alias.h>
#include <ambit/backend/kernels.h>
#include <ambit/detail/record.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/index.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/shape.h>

#include "core/ops/operands/expect.h"
#include "core/ops/operands/unrecorded.h"
#include "reduce_shape.h"

namespace ambit {
namespace {

Tensor extremum(const char* op, const Tensor& self, ReduceOp reduce, IntArrayRef dims,
                bool keepdim) {
  expect_defined(op, "self", self);
  ReduceShape shape(op, self.sizes(), dims, keepdim);
  expect_elements(op, shape, self.sizes());
  Tensor out = run_reduce(self, shape, reduce, self.dtype());
  return record(op, out,
                wrt(self, [x = saved(self), y = saved_output(out), kept = std::move(shape.kept),
                           dims = Dims(dims)](const Tensor& g) {
                  // If the result is NaN, all NaN share the gradient.
                  const Tensor taken = logical_or(x() == with_kept_dims(y(), kept), isnan(x()));
                  return taken * (with_kept_dims(g, kept) / sum(taken, dims, true));
                }));
}

std::tuple<Tensor, Tensor> extremum_along(const char* op, const Tensor& self, int64_t dim,
                                          bool keepdim, bool largest) {
  expect_defined(op, "self", self);
  ReduceShape shape(op, self.sizes(), {dim}, keepdim);
  expect_elements(op, shape, self.sizes());
  dim = wrap_dim(op, dim, self.dim());
  const Tensor x = at_least_1d(self);
  if (self.dim() == 0) shape.kept = {1};
  Tensor value = empty(shape.kept, x.options());
  Tensor index = empty(shape.kept, x.options().dtype(kInt64));
  kernels::arg_reduce(value, index, without_repeats(x, shape.kept), dim, largest);
  set_sizes(value, shape.result);
  set_sizes(index, shape.result);
  value = record(op, value,
                 wrt(self, [index = saved(index), kept = std::move(shape.kept),
                            sizes = Dims(self.sizes()), dim](const Tensor& g) {
                   if (sizes.empty()) return g;
                   return scatter(zeros(sizes, g.options()), dim, reshape(index(), kept),
                                  reshape(g, kept));
                 }));
  return {value, index};
}

Tensor extremum_index(const char* op, const Tensor& self, std::optional<int64_t> dim, bool keepdim,
                      bool largest) {
  expect_defined(op, "self", self);
  const ReduceShape shape(op, self.sizes(), dim ? IntArrayRef(&*dim, 1) : IntArrayRef(), keepdim);
  expect_elements(op, shape, self.sizes());
  const bool along = dim && self.dim() > 0;
  const Tensor x = along ? without_repeats(self, shape.kept) : alias(dense(self), {self.numel()});
  Tensor none;
  Tensor index = empty(along ? shape.kept : Dims{1}, x.options().dtype(kInt64));
  kernels::arg_reduce(none, index, x, along ? wrap_dim(op, *dim, self.dim()) : 0, largest);
  set_sizes(index, shape.result);
  return index;
}

}  // namespace

Tensor max(const Tensor& self) { return extremum("max", self, ReduceOp::max, {}, false); }

Tensor min(const Tensor& self) { return extremum("min", self, ReduceOp::min, {}, false); }

std::tuple<Tensor, Tensor> max(const Tensor& self, int64_t dim, bool keepdim) {
  return extremum_along("max", self, dim, keepdim, true);
}

std::tuple<Tensor, Tensor> min(const Tensor& self, int64_t dim, bool keepdim) {
  return extremum_along("min", self, dim, keepdim, false);
}

Tensor max(const Tensor& self, const Tensor& other) { return maximum(self, other); }

Tensor min(const Tensor& self, const Tensor& other) { return minimum(self, other); }

Tensor amax(const Tensor& self, IntArrayRef dims, bool keepdim) {
  return extremum("amax", self, ReduceOp::max, dims, keepdim);
}

Tensor amin(const Tensor& self, IntArrayRef dims, bool keepdim) {
  return extremum("amin", self, ReduceOp::min, dims, keepdim);
}

std::tuple<Tensor, Tensor> aminmax(const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
  const IntArrayRef dims = dim ? IntArrayRef(&*dim, 1) : IntArrayRef();
  return {extremum("aminmax", self, ReduceOp::min, dims, keepdim),
          extremum("aminmax", self, ReduceOp::max, dims, keepdim)};
}

Tensor argmax(const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
  return extremum_index("argmax", self, dim, keepdim, true);
}

Tensor argmin(const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
  return extremum_index("argmin", self, dim, keepdim, false);
}

}  // namespace ambit
