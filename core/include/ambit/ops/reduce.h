// Reductions. `dims` may count from the end; an empty list means all; `keepdim` keeps them as 1.
// Errors of all: IndexError (dim out of range), ShapeError (a dim twice, or empty where no identity
// exists), DTypeError.
#pragma once

#include <ambit/tensor.h>

namespace ambit {

/// Sum; bool and integers give int64. Gradient: self.
AMBIT_API Tensor sum(const Tensor& self, std::optional<DType> dtype = {});
AMBIT_API Tensor sum(const Tensor& self, IntArrayRef dims, bool keepdim = false,
                     std::optional<DType> dtype = {});
/// Mean of floats; of no elements it is NaN. Gradient: self.
AMBIT_API Tensor mean(const Tensor& self);
AMBIT_API Tensor mean(const Tensor& self, IntArrayRef dims, bool keepdim = false);
/// Product; bool and integers give int64. Gradient: self.
AMBIT_API Tensor prod(const Tensor& self);
AMBIT_API Tensor prod(const Tensor& self, int64_t dim, bool keepdim = false);
/// Variance of floats, divided by n - 1 (unbiased) or n. Gradient: self.
AMBIT_API Tensor var(const Tensor& self, bool unbiased = true);
AMBIT_API Tensor var(const Tensor& self, IntArrayRef dims, bool unbiased = true,
                     bool keepdim = false);
/// Square root of var.
AMBIT_API Tensor std(const Tensor& self, bool unbiased = true);
AMBIT_API Tensor std(const Tensor& self, IntArrayRef dims, bool unbiased = true,
                     bool keepdim = false);
/// Largest (smallest) element; NaN wins. Gradient: shared equally among equals.
AMBIT_API Tensor max(const Tensor& self);
AMBIT_API Tensor min(const Tensor& self);
/// Values and indices along dim. Gradient: the element taken, of equals the first.
AMBIT_API std::tuple<Tensor, Tensor> max(const Tensor& self, int64_t dim, bool keepdim = false);
AMBIT_API std::tuple<Tensor, Tensor> min(const Tensor& self, int64_t dim, bool keepdim = false);
/// The same as maximum and minimum.
AMBIT_API Tensor max(const Tensor& self, const Tensor& other);
AMBIT_API Tensor min(const Tensor& self, const Tensor& other);
/// Position of the largest (smallest) element, of the flattened tensor without dim; int64, no
/// gradient.
AMBIT_API Tensor argmax(const Tensor& self, std::optional<int64_t> dim = {}, bool keepdim = false);
AMBIT_API Tensor argmin(const Tensor& self, std::optional<int64_t> dim = {}, bool keepdim = false);
/// Whether any (all) elements are not zero; bool, no gradient.
AMBIT_API Tensor any(const Tensor& self);
AMBIT_API Tensor any(const Tensor& self, int64_t dim, bool keepdim = false);
AMBIT_API Tensor all(const Tensor& self);
AMBIT_API Tensor all(const Tensor& self, int64_t dim, bool keepdim = false);
/// (sum |x|^p)^(1/p); p = 0 counts what is not zero, p = inf takes the largest |x|. Gradient: self.
AMBIT_API Tensor norm(const Tensor& self, const Scalar& p = 2);
AMBIT_API Tensor norm(const Tensor& self, const Scalar& p, IntArrayRef dims, bool keepdim = false);
/// log(sum(exp(x))), safe from overflow. Gradient: self.
AMBIT_API Tensor logsumexp(const Tensor& self, IntArrayRef dims, bool keepdim = false);
/// Running sum along dim. Gradient: self.
AMBIT_API Tensor cumsum(const Tensor& self, int64_t dim);

}  // namespace ambit
