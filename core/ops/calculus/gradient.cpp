// Derivatives of samples by finite differences.
#include <ambit/backend/op.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/samples.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include "core/ops/operands/expect.h"
#include "core/ops/shape/part.h"

namespace ambit {
namespace {

// The weights of three neighbours: numbers, or tensors that broadcast along the dim.
template <class T>
struct Weights {
  T first, second, third;
};

Tensor at(const Tensor& t, int64_t dim, int64_t begin) {
  return narrow(t, dim, begin < 0 ? t.size(dim) + begin : begin, 1);
}

template <class T>
Tensor weighted(const Tensor& a, const Tensor& b, const Tensor& c, const Weights<T>& w) {
  return a * w.first + b * w.second + c * w.third;
}

// The weights of the derivative at the left, middle and right of three neighbours with spacings h
// and k. Source: the parabola through them.
Weights<Tensor> weights_left(const Tensor& h, const Tensor& k) {
  return {-(2 * h + k) / (h * (h + k)), (h + k) / (h * k), -h / (k * (h + k))};
}
Weights<Tensor> weights_middle(const Tensor& h, const Tensor& k) {
  return {-k / (h * (h + k)), (k - h) / (h * k), h / (k * (h + k))};
}
Weights<Tensor> weights_right(const Tensor& h, const Tensor& k) {
  return {k / (h * (h + k)), -(h + k) / (h * k), (h + 2 * k) / (k * (h + k))};
}

// spaces: the distances of neighbours, [n - 1] at dim and 1 elsewhere; even: all are equal, so the
// middle one of three neighbours has weight 0 and must be ignored even if it is NaN.
Tensor finite_differences(const Tensor& x, const Tensor& spaces, bool even, int64_t dim,
                          int64_t edge_order) {
  const int64_t n = x.size(dim);
  std::vector<Tensor> parts;
  if (edge_order == 1) {
    parts.push_back((at(x, dim, 1) - at(x, dim, 0)) / at(spaces, dim, 0));
  } else {
    parts.push_back(weighted(at(x, dim, 0), at(x, dim, 1), at(x, dim, 2),
                             weights_left(at(spaces, dim, 0), at(spaces, dim, 1))));
  }
  if (n > 2) {
    const auto three = [&](int64_t begin) { return narrow(x, dim, begin, n - 2); };
    parts.push_back(even ? (three(2) - three(0)) / (at(spaces, dim, 0) * 2)
                         : weighted(three(0), three(1), three(2),
                                    weights_middle(narrow(spaces, dim, 0, n - 2),
                                                   narrow(spaces, dim, 1, n - 2))));
  }
  if (edge_order == 1) {
    parts.push_back((at(x, dim, -1) - at(x, dim, -2)) / at(spaces, dim, -1));
  } else {
    parts.push_back(weighted(at(x, dim, -3), at(x, dim, -2), at(x, dim, -1),
                             weights_right(at(spaces, dim, -2), at(spaces, dim, -1))));
  }
  return cat(parts, dim);
}

// Return the dims after the checks shared by all overloads.
Dims checked_dims(const Tensor& self, std::optional<IntArrayRef> dims, size_t spacings,
                  int64_t edge_order) {
  expect_defined("gradient", "self", self);
  if (self.dtype() == kBool || self.dtype() == kUInt8) {
    throw DTypeError(fmt::format("gradient: expected signed numbers, got {}", name(self.dtype())));
  }
  if (edge_order != 1 && edge_order != 2) {
    throw Error(fmt::format("gradient: expected edge_order 1 or 2, got {}", edge_order));
  }
  Dims all;
  if (dims) {
    for (const int64_t d : *dims) {
      all.push_back(static_cast<int64_t>(index_of("gradient", d, self)));
    }
  } else {
    for (int64_t d = 0; d < self.dim(); ++d) all.push_back(d);
  }
  for (size_t i = 0; i < all.size(); ++i) {
    if (std::count(all.begin(), all.end(), all[i]) > 1) {
      throw ShapeError(fmt::format("gradient: expected each dim once, got {}", str(*dims)));
    }
    if (self.size(all[i]) <= edge_order) {
      throw ShapeError(fmt::format("gradient: expected {} samples or more along dim {}, got {}",
                                   edge_order + 1, all[i], self.size(all[i])));
    }
  }
  if (spacings != 1 && spacings != all.size()) {
    throw ShapeError(
        fmt::format("gradient: expected one spacing, or one for each of {} dims, got {}",
                    all.size(), spacings));
  }
  return all;
}

Tensor as_floats(const Tensor& t) {
  return is_differentiable(t.dtype()) ? t : t.to(get_default_dtype());
}

// Reshape a list to lie along dim.
Tensor reshape_along(const Tensor& list, const Tensor& self, int64_t dim) {
  Dims sizes(self.sizes().size(), 1);
  sizes[static_cast<size_t>(dim)] = list.numel();
  return reshape(list, sizes);
}

std::vector<Tensor> with_even_spacing(const Tensor& self, ArrayRef<Scalar> spacing,
                                      std::optional<IntArrayRef> dims, int64_t edge_order) {
  const Dims all = checked_dims(self, dims, spacing.size(), edge_order);
  const Tensor x = as_floats(self);
  std::vector<Tensor> out;
  for (size_t i = 0; i < all.size(); ++i) {
    const Tensor spaces =
        full({self.size(all[i]) - 1}, spacing[spacing.size() == 1 ? 0 : i], x.options());
    out.push_back(
        finite_differences(x, reshape_along(spaces, x, all[i]), true, all[i], edge_order));
  }
  return out;
}

std::vector<Tensor> at_positions(const Tensor& self, TensorList positions,
                                 std::optional<IntArrayRef> dims, int64_t edge_order) {
  for (const Tensor& p : positions) check_devices("gradient", {{"self", self}, {"spacing", p}});
  const Dims all = checked_dims(self, dims, positions.size(), edge_order);
  for (size_t i = 0; i < all.size(); ++i) {
    const Tensor& p = positions[positions.size() == 1 ? 0 : i];
    expect_defined("gradient", "spacing", p);
    if (p.dtype() == kBool) throw DTypeError("gradient: expected numbers as spacing, got bool");
    expect_sizes("gradient", "spacing", p, {self.size(all[i])});
  }
  const Tensor x = as_floats(self);
  std::vector<Tensor> out;
  for (size_t i = 0; i < all.size(); ++i) {
    const Tensor p = as_floats(positions[positions.size() == 1 ? 0 : i]);
    const Tensor spaces = slice(p, 0, 1) - slice(p, 0, 0, -1);
    out.push_back(
        finite_differences(x, reshape_along(spaces, x, all[i]), false, all[i], edge_order));
  }
  return out;
}

std::optional<IntArrayRef> list_of(const std::optional<int64_t>& dim) {
  return dim ? std::optional<IntArrayRef>(IntArrayRef(*dim)) : std::nullopt;
}

}  // namespace

std::vector<Tensor> gradient(const Tensor& self, const std::optional<Scalar>& spacing,
                             std::optional<int64_t> dim, int64_t edge_order) {
  return with_even_spacing(self, spacing.value_or(1), list_of(dim), edge_order);
}
std::vector<Tensor> gradient(const Tensor& self, const Scalar& spacing, IntArrayRef dim,
                             int64_t edge_order) {
  return with_even_spacing(self, spacing, dim, edge_order);
}
std::vector<Tensor> gradient(const Tensor& self, IntArrayRef dim, int64_t edge_order) {
  return with_even_spacing(self, Scalar(1), dim, edge_order);
}
std::vector<Tensor> gradient(const Tensor& self, ArrayRef<Scalar> spacing,
                             std::optional<int64_t> dim, int64_t edge_order) {
  return with_even_spacing(self, spacing, list_of(dim), edge_order);
}
std::vector<Tensor> gradient(const Tensor& self, ArrayRef<Scalar> spacing, IntArrayRef dim,
                             int64_t edge_order) {
  return with_even_spacing(self, spacing, dim, edge_order);
}
std::vector<Tensor> gradient(const Tensor& self, TensorList spacing, std::optional<int64_t> dim,
                             int64_t edge_order) {
  return at_positions(self, spacing, list_of(dim), edge_order);
}
std::vector<Tensor> gradient(const Tensor& self, TensorList spacing, IntArrayRef dim,
                             int64_t edge_order) {
  return at_positions(self, spacing, dim, edge_order);
}

}  // namespace ambit
