// Reading and writing along one dim at the positions in an index tensor.
#include <ambit/backend/kernels.h>
#include <ambit/detail/autocast.h>
#include <ambit/detail/record.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/index.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include "core/ops/operands/allocate.h"
#include "core/ops/operands/expect.h"
#include "core/ops/operands/operand_grad.h"
#include "core/ops/operands/scalar_operand.h"
#include "core/ops/operands/unrecorded.h"
#include "gather.h"
#include "index_values.h"
#include "operands.h"

namespace ambit {
namespace {

// True if `small` has as many dims as `large` and is not larger except along `dim`.
bool fits_into(const Tensor& small, const Tensor& large, int64_t dim) {
  const Tensor a = at_least_1d(small), b = at_least_1d(large);
  bool fits = a.dim() == b.dim();
  for (size_t k = 0; fits && k < a.sizes().size(); ++k) {
    fits = static_cast<int64_t>(k) == dim || a.sizes()[k] <= b.sizes()[k];
  }
  return fits;
}

// Check the index of gather and scatter; return the wrapped dim.
int64_t check_index(const char* op, const Tensor& self, int64_t dim, const Tensor& index) {
  expect_index_dtype(op, index);
  const int64_t d = wrap_dim(op, dim, self.dim());
  if (index.numel() > 0 && !fits_into(index, self, d)) {
    throw ShapeError(fmt::format("{}: expected index sizes of at most {} except in dim {}, got {}",
                                 op, str(self.sizes()), d, str(index.sizes())));
  }
  return d;
}

}  // namespace

Tensor gather(const Tensor& self, int64_t dim, const Tensor& given, bool) {
  check_devices("gather", {{"self", self}, {"index", given}});
  expect_defined("gather", "self", self);
  const Tensor index = as_int64(given);
  const int64_t d = check_index("gather", self, dim, index);
  Tensor out = allocate("gather", index.sizes(), self.dtype(), self.device());
  if (index.numel() > 0) {
    Tensor y = at_least_1d(out);
    kernels::gather(y, at_least_1d(self), at_least_1d(index), d);
  }
  if (!needs_gradient(self)) return out;
  return record("gather", std::move(out),
                wrt(self, [d, i = saved(index), sizes = Dims(self.sizes())](const Tensor& g) {
                  return scatter_add(zeros(sizes, g.options()), d, i(), g);
                }));
}

int64_t check_scatter(const char* op, const Tensor& self, int64_t dim, const Tensor& index,
                      const Tensor& src, DeviceRule rule) {
  check_devices(op, {{"self", self}, {"index", index}, {"src", src}}, rule);
  expect_defined(op, "self", self);
  expect_dtype(op, "src", src, self.dtype());
  const int64_t d = check_index(op, self, dim, index);
  if (index.numel() > 0 && !fits_into(index, src, -1)) {
    throw ShapeError(fmt::format("{}: expected src sizes of at least {}, those of index, got {}",
                                 op, str(index.sizes()), str(src.sizes())));
  }
  check_index_values(op, index, 0, self.dim() == 0 ? 1 : self.size(d), d);
  return d;
}

Tensor covered(const Tensor& src, const Tensor& index) {
  if (src.sizes() == index.sizes()) return src;
  Tensor part = src.dim() == 0 ? reshape(src, {1}) : src;
  if (index.dim() == 0) part = narrow(part, 0, 0, 1);
  for (int64_t k = 0; k < index.dim(); ++k) part = narrow(part, k, 0, index.size(k));
  return reshape(part, index.sizes());
}

namespace {

struct Scatter {
  static constexpr const char *kName = "scatter", *kNameInPlace = "scatter_";
  static constexpr const auto& kKernel = kernels::scatter;
  // Overwritten elements have no gradient.
  static Tensor self_grad(const Tensor& g, int64_t dim, const Tensor& index) {
    return scatter(g, dim, index, scalar_on(0, g.dtype(), g.device(), index.sizes()));
  }
};
struct ScatterAdd {
  static constexpr const char *kName = "scatter_add", *kNameInPlace = "scatter_add_";
  static constexpr const auto& kKernel = kernels::scatter_add;
  static Tensor self_grad(const Tensor& g, int64_t, const Tensor&) { return g; }
};

template <class Family>
void run_scatter(const Tensor& self, const Tensor& index, const Tensor& part, int64_t d) {
  Tensor y = at_least_1d(self);
  Family::kKernel(y, at_least_1d(index), at_least_1d(part), d);
}

// The gradient's formula of src, which has index's shape here.
auto src_grad(const Tensor& index, int64_t d) {
  return [d, i = saved(index)](const Tensor& g) { return gather(g, d, i()); };
}

// The gradient's formula of src for an empty index: zeros of src's shape.
auto no_src_grad(const Tensor& src) {
  return [sizes = Dims(src.sizes()), o = src.options()](const Tensor&) { return zeros(sizes, o); };
}
auto same_grad() {
  return [](const Tensor& g) { return g; };
}

template <class Family>
auto self_grad(const Tensor& index, int64_t d) {
  return [d, i = saved(index)](const Tensor& g) { return Family::self_grad(g, d, i()); };
}

template <class Family>
Tensor scattered(const Tensor& self, int64_t dim, const Tensor& given, const Tensor& src) {
  const Tensor index = as_int64(given);
  const int64_t d = check_scatter(Family::kName, self, dim, index, src, DeviceRule::strict);
  if (index.numel() == 0) {
    return record(Family::kName, clone(self.detach()), wrt(self, same_grad()),
                  wrt(src, no_src_grad(src)));
  }
  const Tensor part = covered(src, index);
  Tensor out = allocate(Family::kName, self.sizes(), self.dtype(), self.device());
  kernels::copy(out, self);
  run_scatter<Family>(out, index, part, d);
  if (!needs_gradient(self, part)) return out;
  return record(Family::kName, std::move(out), wrt(self, self_grad<Family>(index, d)),
                wrt(part, src_grad(index, d)));
}

template <class Family>
const Tensor& scatter_in_place(const Tensor& self, int64_t dim, const Tensor& given,
                               const Tensor& src) {
  constexpr const char* kOp = Family::kNameInPlace;
  const Tensor index = as_int64(given);
  const int64_t d = check_scatter(kOp, self, dim, index, src, DeviceRule::in_place);
  check_in_place(kOp, self);
  if (index.numel() == 0) {
    record_in_place(Family::kName, self, wrt(self, same_grad()), wrt(src, no_src_grad(src)));
    return self;
  }
  const Tensor part = covered(src, index);
  check_apart(kOp, self, part);
  check_apart(kOp, self, index);
  check_savable(kOp, self, index);
  run_scatter<Family>(self, index, part, d);
  record_in_place(Family::kName, self, wrt(self, self_grad<Family>(index, d)),
                  wrt(part, src_grad(index, d)));
  return self;
}

}  // namespace

Tensor scatter(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  return scattered<Scatter>(self, dim, index, src);
}
Tensor scatter_add(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  AMBIT_AUTOCAST(scatter_add, self, dim, index, src)
  return scattered<ScatterAdd>(self, dim, index, src);
}
const Tensor& scatter_(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  return scatter_in_place<Scatter>(self, dim, index, src);
}
const Tensor& scatter_add_(const Tensor& self, int64_t dim, const Tensor& index,
                           const Tensor& src) {
  return scatter_in_place<ScatterAdd>(self, dim, index, src);
}

}  // namespace ambit
