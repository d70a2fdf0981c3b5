// Products of tensors with any number of dims, elementwise or over some dims.
#include <ambit/backend/op.h>
#include <ambit/detail/autocast.h>
#include <ambit/error.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/matmul.h>
#include <ambit/ops/products.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include <algorithm>

#include "core/ops/operands/expect.h"

namespace ambit {
namespace {

// Splits t's dims into those named in `dims`, wrapped and without duplicates, and the others.
struct Choice {
  Choice(const char* op, const Tensor& t, IntArrayRef dims) {
    Dims is_named(std::max<size_t>(t.sizes().size(), 1), 0);
    for (const int64_t dim : dims) {
      const int64_t d = wrap_dim(op, dim, t.dim());
      if (is_named[static_cast<size_t>(d)]++) {
        throw ShapeError(fmt::format("{}: expected each dim once, got {}", op, str(dims)));
      }
      if (t.dim() > 0) named.push_back(d);
    }
    for (int64_t d = 0; d < t.dim(); ++d) {
      if (!is_named[static_cast<size_t>(d)]) others.push_back(d);
    }
  }
  Dims named, others;
};

Dims sizes_of(const Tensor& t, const Dims& dims) {
  Dims sizes;
  for (const int64_t d : dims) sizes.push_back(t.sizes()[static_cast<size_t>(d)]);
  return sizes;
}

Dims operator+(Dims a, const Dims& b) {
  for (const int64_t x : b) a.push_back(x);
  return a;
}

// Sum a dim first if the other tensor's matching dim has size 1.
Tensor summed_where_one(const Tensor& t, const Dims& dims, const Tensor& other,
                        const Dims& others) {
  Dims gone;
  for (size_t i = 0; i < dims.size(); ++i) {
    const bool is_one = other.sizes()[static_cast<size_t>(others[i])] == 1;
    if (is_one && t.sizes()[static_cast<size_t>(dims[i])] != 1) gone.push_back(dims[i]);
  }
  return gone.empty() ? t : sum(t, gone, true, t.dtype());
}

Tensor cross(const char* op, const Tensor& self, const Tensor& other, std::optional<int64_t> dim) {
  const auto again = [&](const auto&... cast) { return cross(op, cast..., dim); };
  AMBIT_AUTOCAST_AS("cross", again, self, other)
  check_devices(op, {{"self", self}, {"other", other}});
  expect_same_dtype(op, self, other);
  expect_numbers(op, self);
  const auto throw_sizes = [&](const char* expected) {
    throw ShapeError(fmt::format("{}: expected {}, got {} and {}", op, expected, str(self.sizes()),
                                 str(other.sizes())));
  };
  if (self.dim() != other.dim()) throw_sizes("the same number of dims of both");
  if (!dim) {
    const int64_t* three = std::find(self.sizes().begin(), self.sizes().end(), 3);
    if (three == self.sizes().end()) throw_sizes("a dim of size 3");
    dim = three - self.sizes().begin();
  }
  const int64_t d = wrap_dim(op, *dim, self.dim());
  if (self.dim() == 0 || self.size(d) != 3 || other.size(d) != 3) {
    throw_sizes(fmt::format("size 3 in dim {}", d).c_str());
  }
  broadcast(op, self.sizes(), other.sizes());
  const std::vector<Tensor> a = unbind(self, d), b = unbind(other, d);
  const auto element = [&](size_t i, size_t j) { return a[i] * b[j] - a[j] * b[i]; };
  return stack({element(1, 2), element(2, 0), element(0, 1)}, d);
}

}  // namespace

Tensor tensordot(const Tensor& self, const Tensor& other, IntArrayRef dims_self,
                 IntArrayRef dims_other) {
  AMBIT_AUTOCAST(tensordot, self, other, dims_self, dims_other)
  const char* op = "tensordot";
  check_devices(op, {{"self", self}, {"other", other}});
  expect_same_dtype(op, self, other);
  expect_numbers(op, self);
  if (dims_self.size() != dims_other.size()) {
    throw ShapeError(fmt::format("{}: expected the same number of dims of both, got {} and {}", op,
                                 str(dims_self), str(dims_other)));
  }
  const Choice a(op, self, dims_self), b(op, other, dims_other);
  const Dims own = sizes_of(self, a.named), its = sizes_of(other, b.named);
  for (size_t i = 0; i < own.size(); ++i) {
    if (own[i] != its[i] && own[i] != 1 && its[i] != 1) {
      throw ShapeError(fmt::format("{}: expected sizes that agree in dims {} and {}, got {} and {}",
                                   op, dims_self[i], dims_other[i], str(self.sizes()),
                                   str(other.sizes())));
    }
  }
  const Tensor x = summed_where_one(self, a.named, other, b.named);
  const Tensor y = summed_where_one(other, b.named, self, a.named);
  const Dims rows = sizes_of(self, a.others), columns = sizes_of(other, b.others);
  const int64_t k = count(op, sizes_of(x, a.named));
  const Tensor left = reshape(permute(x, a.others + a.named), {count(op, rows), k});
  const Tensor right = reshape(permute(y, b.named + b.others), {k, count(op, columns)});
  return reshape(mm(left, right), rows + columns);
}

Tensor kron(const Tensor& self, const Tensor& other) {
  check_devices("kron", {{"self", self}, {"other", other}});
  expect_defined("kron", "self", self);
  expect_defined("kron", "other", other);
  const size_t n = std::max(self.sizes().size(), other.sizes().size());
  if (n == 0) return mul(self, other);
  const auto size = [n](const Tensor& t, size_t i) {
    const size_t lead = n - t.sizes().size();
    return i < lead ? 1 : t.sizes()[i - lead];
  };
  // Each dim of the result combines adjacent dims of self and other. The last two are expanded
  // before the product, so that both factors have long contiguous rows.
  Dims a, b, out;
  for (size_t i = 0; i < n; ++i) {
    for (const int64_t s : {size(self, i), int64_t{1}}) a.push_back(s);
    for (const int64_t s : {int64_t{1}, size(other, i)}) b.push_back(s);
    out.push_back(count("kron", {size(self, i), size(other, i)}));
  }
  const auto laid_out = [&](const Tensor& t, const Dims& apart) {
    Dims full = apart, joined = apart;
    full[2 * n - 2] = size(self, n - 1);
    full[2 * n - 1] = size(other, n - 1);
    joined.erase(2 * n - 1);
    joined[2 * n - 2] = out[n - 1];
    return reshape(expand(reshape(t, apart), full), joined);
  };
  return reshape(mul(laid_out(self, a), laid_out(other, b)), out);
}

Tensor cross(const Tensor& self, const Tensor& other, std::optional<int64_t> dim) {
  return cross("cross", self, other, dim);
}

Tensor linalg_cross(const Tensor& self, const Tensor& other, int64_t dim) {
  return cross("linalg_cross", self, other, dim);
}

Tensor trace(const Tensor& self) {
  expect_dim("trace", "self", self, 2, "a matrix");
  expect_numbers("trace", self);
  return sum(diagonal(self));
}

}  // namespace ambit
