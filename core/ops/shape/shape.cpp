// Views that keep all elements: their gradients use the inverse view. Views of a part are in
// slice.cpp.
#include <ambit/ops/shape.h>

#include <ambit/detail/record.h>
#include <ambit/error.h>
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "core/ops/operands/expect.h"
#include "core/ops/operands/operand_grad.h"

namespace ambit {
namespace {

// Return `asked` with its -1 replaced.
Dims infer_sizes(const char* op, IntArrayRef asked, int64_t numel) {
  Dims sizes(asked);
  int64_t* inferred = nullptr;
  int64_t known = 1;
  for (int64_t& s : sizes) {
    if (s == -1 && inferred) {
      throw ShapeError(fmt::format("{}: expected one -1 at most, got {}", op, str(asked)));
    }
    if (s < -1 || (s >= 0 && __builtin_mul_overflow(known, s, &known))) {
      throw ShapeError(
          fmt::format("{}: expected sizes >= -1 of {} elements, got {}", op, numel, str(asked)));
    }
    if (s == -1) inferred = &s;
  }
  const bool fits = inferred ? known > 0 && numel % known == 0 : known == numel;
  if (!fits) {
    throw ShapeError(
        fmt::format("{}: expected a shape for {} elements, got {}", op, numel, str(asked)));
  }
  if (inferred) *inferred = numel / known;
  count(op, sizes);  // if one size is 0, all other sizes fit
  return sizes;
}

// Return strides of an alias of t with `sizes`, or nullopt if a copy is needed. Dims of t that are
// contiguous with each other form chunks; new dims must divide chunks without crossing a boundary.
// Source: computeStride in ATen/TensorUtils.cpp.
std::optional<Dims> view_strides(const TensorImpl& t, IntArrayRef sizes) {
  if (t.contiguous || t.numel == 0) return contiguous_strides(sizes);
  Dims strides(sizes.size());
  auto at = static_cast<int64_t>(sizes.size()) - 1;
  int64_t chunk_stride = t.strides.back(), chunk = 1, taken = 1;
  for (size_t d = t.sizes.size(); d-- > 0;) {
    chunk *= t.sizes[d];
    const bool ends = d == 0 || (t.sizes[d - 1] != 1 && t.strides[d - 1] != chunk * chunk_stride);
    if (!ends) continue;
    while (at >= 0 && (taken < chunk || sizes[static_cast<size_t>(at)] == 1)) {
      strides[static_cast<size_t>(at)] = taken * chunk_stride;
      taken *= sizes[static_cast<size_t>(at)];
      --at;
    }
    if (taken != chunk) return std::nullopt;
    if (d > 0) chunk_stride = t.strides[d - 1];
    chunk = taken = 1;
  }
  if (at >= 0) return std::nullopt;
  return strides;
}

// View with complete sizes; the gradient is reshaped to self's shape.
Tensor reshaped(const char* op, const Tensor& self, IntArrayRef sizes, IntArrayRef strides) {
  Tensor out = make_view(self, sizes, strides, self.storage_offset());
  if (!needs_gradient(self)) return out;
  return record(op, std::move(out), wrt(self, [before = Dims(self.sizes())](const Tensor& g) {
                  return reshape(g, before);
                }));
}

size_t index_of(const char* op, int64_t dim, int64_t ndim) {
  return static_cast<size_t>(wrap_dim(op, dim, ndim));
}

}  // namespace

Tensor view(const Tensor& self, IntArrayRef sizes) {
  expect_defined("view", "self", self);
  const Dims full = infer_sizes("view", sizes, self.numel());
  const std::optional<Dims> strides = view_strides(*self.impl(), full);
  if (!strides) {
    throw ShapeError(
        fmt::format("view: expected a shape that is an alias of sizes {} with strides {}, got {}; "
                    "use reshape()",
                    str(self.sizes()), str(self.strides()), str(full)));
  }
  return reshaped("view", self, full, *strides);
}

Tensor reshape(const Tensor& self, IntArrayRef sizes) {
  expect_defined("reshape", "self", self);
  const Dims full = infer_sizes("reshape", sizes, self.numel());
  const std::optional<Dims> strides = view_strides(*self.impl(), full);
  if (strides) return reshaped("reshape", self, full, *strides);
  const Tensor copy = clone(self);
  return reshaped("reshape", copy, full, contiguous_strides(full));
}

Tensor transpose(const Tensor& self, int64_t dim0, int64_t dim1) {
  expect_defined("transpose", "self", self);
  const size_t a = index_of("transpose", dim0, self.dim()),
               b = index_of("transpose", dim1, self.dim());
  Dims sizes(self.sizes()), strides(self.strides());
  if (self.dim() > 0) {
    std::swap(sizes[a], sizes[b]);
    std::swap(strides[a], strides[b]);
  }
  Tensor out = make_view(self, sizes, strides, self.storage_offset());
  return record("transpose", std::move(out),
                wrt(self, [dim0, dim1](const Tensor& g) { return transpose(g, dim0, dim1); }));
}

Tensor permute(const Tensor& self, IntArrayRef dims) {
  expect_defined("permute", "self", self);
  const size_t n = self.sizes().size();
  Dims sizes(n), strides(n), inverse(n, -1);
  bool good = dims.size() == n;
  for (size_t i = 0; good && i < n; ++i) {
    const size_t d = index_of("permute", dims[i], self.dim());
    good = inverse[d] < 0;
    inverse[d] = static_cast<int64_t>(i);
    sizes[i] = self.sizes()[d];
    strides[i] = self.strides()[d];
  }
  if (!good) {
    throw ShapeError(fmt::format("permute: expected each of {} dims once, got {}", n, str(dims)));
  }
  Tensor out = make_view(self, sizes, strides, self.storage_offset());
  return record("permute", std::move(out),
                wrt(self, [inverse](const Tensor& g) { return permute(g, inverse); }));
}

Tensor t(const Tensor& self) {
  expect_defined("t", "self", self);
  if (self.dim() > 2) {
    throw ShapeError(fmt::format("t: expected at most 2 dims, got shape {}", str(self.sizes())));
  }
  return self.dim() < 2 ? view(self, self.sizes()) : transpose(self, 0, 1);
}

Tensor squeeze(const Tensor& self) {
  expect_defined("squeeze", "self", self);
  Dims sizes, strides;
  for (size_t i = 0; i < self.sizes().size(); ++i) {
    if (self.sizes()[i] == 1) continue;
    sizes.push_back(self.sizes()[i]);
    strides.push_back(self.strides()[i]);
  }
  return reshaped("squeeze", self, sizes, strides);
}

Tensor squeeze(const Tensor& self, int64_t dim) {
  expect_defined("squeeze", "self", self);
  const size_t d = index_of("squeeze", dim, self.dim());
  Dims sizes(self.sizes()), strides(self.strides());
  if (self.dim() > 0 && sizes[d] == 1) {
    sizes.erase(d);
    strides.erase(d);
  }
  return reshaped("squeeze", self, sizes, strides);
}

Tensor squeeze(const Tensor& self, IntArrayRef dims) {
  expect_defined("squeeze", "self", self);
  Dims chosen(std::max<size_t>(self.sizes().size(), 1), 0);
  for (const int64_t dim : dims) {
    const size_t d = index_of("squeeze", dim, self.dim());
    if (chosen[d]++ != 0) {
      throw ShapeError(fmt::format("squeeze: expected each dim once, got {}", str(dims)));
    }
  }
  Dims sizes, strides;
  for (size_t i = 0; i < self.sizes().size(); ++i) {
    if (chosen[i] != 0 && self.sizes()[i] == 1) continue;
    sizes.push_back(self.sizes()[i]);
    strides.push_back(self.strides()[i]);
  }
  return reshaped("squeeze", self, sizes, strides);
}

Tensor unsqueeze(const Tensor& self, int64_t dim) {
  expect_defined("unsqueeze", "self", self);
  const size_t d = index_of("unsqueeze", dim, self.dim() + 1);
  Dims sizes(self.sizes()), strides(self.strides());
  int64_t stride = 1;  // for an empty tensor with unusual strides the product may overflow
  if (d >= sizes.size() || __builtin_mul_overflow(sizes[d], strides[d], &stride)) stride = 1;
  sizes.insert(d, 1);
  strides.insert(d, stride);
  return reshaped("unsqueeze", self, sizes, strides);
}

Tensor expand(const Tensor& self, IntArrayRef sizes) {
  expect_defined("expand", "self", self);
  const size_t n = self.sizes().size(), lead = sizes.size() - n;
  Dims full(sizes), strides(sizes.size(), 0);
  bool good = sizes.size() >= n;
  for (size_t i = 0; good && i < full.size(); ++i) {
    const int64_t own = i < lead ? 1 : self.sizes()[i - lead];
    if (full[i] == -1 && i >= lead) full[i] = own;
    good = full[i] >= 0 && (own == 1 || full[i] == own);
    if (i >= lead && full[i] == own) strides[i] = self.strides()[i - lead];
  }
  if (!good) {
    throw ShapeError(fmt::format("expand: expected a shape that {} broadcasts to, got {}",
                                 str(self.sizes()), str(sizes)));
  }
  count("expand", full);  // stride 0 allows sizes that exceed any memory
  Tensor out = make_view(self, full, strides, self.storage_offset());
  return record("expand", std::move(out), wrt(self, [before = Dims(self.sizes())](const Tensor& g) {
                  return sum_to(g, before);
                }));
}

Tensor flatten(const Tensor& self, int64_t start_dim, int64_t end_dim) {
  expect_defined("flatten", "self", self);
  const size_t first = index_of("flatten", start_dim, self.dim());
  const size_t last = index_of("flatten", end_dim, self.dim());
  if (first > last) {
    throw ShapeError(
        fmt::format("flatten: expected start_dim <= end_dim, got {} and {}", start_dim, end_dim));
  }
  if (self.dim() == 0) return reshape(self, {1});
  if (first == last) return self;
  const int64_t* s = self.sizes().begin();
  Dims sizes(IntArrayRef(s, first + 1));
  sizes[first] = std::accumulate(s + first, s + last + 1, int64_t{1}, std::multiplies<>());
  for (size_t i = last + 1; i < self.sizes().size(); ++i) sizes.push_back(s[i]);
  return reshape(self, sizes);
}

Tensor ravel(const Tensor& self) {
  expect_defined("ravel", "self", self);
  return reshape(self, -1);
}

Tensor unflatten(const Tensor& self, int64_t dim, IntArrayRef sizes) {
  expect_defined("unflatten", "self", self);
  if (self.dim() == 0) {
    throw IndexError("unflatten: expected a tensor with dims, got one without");
  }
  const size_t d = index_of("unflatten", dim, self.dim());
  if (sizes.empty()) throw ShapeError("unflatten: expected sizes, got none");
  const Dims parts = infer_sizes("unflatten", sizes, self.sizes()[d]);
  Dims full(self.sizes());
  full.erase(d);
  for (size_t i = 0; i < parts.size(); ++i) full.insert(d + i, parts[i]);
  return view(self, full);
}

Tensor view(const Tensor& self, DType dtype) {
  expect_defined("view", "self", self);
  const auto from = static_cast<int64_t>(element_size(self.dtype()));
  const auto to = static_cast<int64_t>(element_size(dtype));
  Dims sizes(self.sizes()), strides(self.strides());
  int64_t offset = self.storage_offset();
  if (from != to) {
    const int64_t grow = std::max<int64_t>(from / to, 1), shrink = std::max<int64_t>(to / from, 1);
    bool good = !sizes.empty() && strides.back() == 1 && offset % shrink == 0;
    for (size_t i = 0; good && i < sizes.size(); ++i) {
      const bool is_last = i + 1 == sizes.size();
      int64_t& scaled = is_last ? sizes[i] : strides[i];
      good = scaled % shrink == 0 && !__builtin_mul_overflow(scaled / shrink, grow, &scaled);
    }
    if (!good) {
      throw ShapeError(fmt::format(
          "view: expected a contiguous last dim, and sizes, strides and an offset that are whole "
          "numbers of {}, got sizes {} with strides {} and offset {} of {}",
          name(dtype), str(self.sizes()), str(self.strides()), self.storage_offset(),
          name(self.dtype())));
    }
    offset = offset / shrink * grow;
  }
  self.storage()->make_row_major();  // native layouts are specific to the old element size
  intrusive_ptr<TensorImpl> out(new TensorImpl(self.storage(), sizes, strides, offset, dtype));
  out->writes = self.impl()->writes;
  return Tensor(std::move(out));
}

}  // namespace ambit
