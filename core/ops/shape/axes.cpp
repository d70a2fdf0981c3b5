// Views that move, add and expand dims, composed of those in shape.cpp.
#include <ambit/backend/op.h>
#include <ambit/detail/memory_errors.h>
#include <ambit/error.h>
#include <ambit/ops/complex.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "core/ops/operands/expect.h"

namespace ambit {
namespace {

Tensor moved(const char* op, const Tensor& self, IntArrayRef source, IntArrayRef destination) {
  expect_defined(op, "self", self);
  if (source.size() != destination.size()) {
    throw ShapeError(fmt::format("{}: expected as many destinations as sources, got {} and {}", op,
                                 str(source), str(destination)));
  }
  const size_t n = self.sizes().size();
  Dims order(std::max<size_t>(n, 1), -1), is_moved(std::max<size_t>(n, 1), 0);
  for (size_t i = 0; i < source.size(); ++i) {
    const auto from = static_cast<size_t>(wrap_dim(op, source[i], self.dim()));
    const auto to = static_cast<size_t>(wrap_dim(op, destination[i], self.dim()));
    if (is_moved[from] || order[to] >= 0) {
      throw ShapeError(fmt::format("{}: expected each dim once at most, got {} and {}", op,
                                   str(source), str(destination)));
    }
    is_moved[from] = 1;
    order[to] = static_cast<int64_t>(from);
  }
  size_t rest = 0;
  for (int64_t& from : order) {
    if (from >= 0) continue;
    while (is_moved[rest]) ++rest;
    from = static_cast<int64_t>(rest++);
  }
  order.resize(n);
  return permute(self, order);
}

Tensor swapped(const char* op, const Tensor& self, int64_t a, int64_t b) {
  expect_defined(op, "self", self);
  return transpose(self, a, b);
}

Tensor broadcast_to(const char* op, const Tensor& self, IntArrayRef sizes) {
  expect_defined(op, "self", self);
  return expand(self, sizes);
}

void expect_all_defined(const char* op, TensorList tensors) {
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (!tensors[i].defined()) {
      throw Error(fmt::format("{}: expected defined tensors, got tensors[{}] undefined", op, i));
    }
  }
}

template <class F>
std::vector<Tensor> for_each(const char* op, TensorList tensors, F view) {
  expect_all_defined(op, tensors);
  std::vector<Tensor> out;
  typed_memory_errors(op, [&] { out.reserve(tensors.size()); });
  for (const Tensor& t : tensors) out.push_back(view(t));
  return out;
}

}  // namespace

Tensor swapaxes(const Tensor& self, int64_t axis0, int64_t axis1) {
  return swapped("swapaxes", self, axis0, axis1);
}

Tensor swapdims(const Tensor& self, int64_t dim0, int64_t dim1) {
  return swapped("swapdims", self, dim0, dim1);
}

Tensor adjoint(const Tensor& self) {
  expect_defined("adjoint", "self", self);
  if (self.dim() == 1) {
    throw ShapeError(fmt::format("adjoint: expected matrices, got shape {}", str(self.sizes())));
  }
  return conj(self.dim() == 0 ? self : transpose(self, -2, -1));
}

Tensor movedim(const Tensor& self, IntArrayRef source, IntArrayRef destination) {
  return moved("movedim", self, source, destination);
}

Tensor movedim(const Tensor& self, int64_t source, int64_t destination) {
  return moved("movedim", self, source, destination);
}

Tensor moveaxis(const Tensor& self, IntArrayRef source, IntArrayRef destination) {
  return moved("moveaxis", self, source, destination);
}

Tensor moveaxis(const Tensor& self, int64_t source, int64_t destination) {
  return moved("moveaxis", self, source, destination);
}

Tensor atleast_1d(const Tensor& self) {
  expect_defined("atleast_1d", "self", self);
  return self.dim() == 0 ? view(self, {1}) : self;
}

Tensor atleast_2d(const Tensor& self) {
  expect_defined("atleast_2d", "self", self);
  if (self.dim() == 0) return view(self, {1, 1});
  return self.dim() == 1 ? unsqueeze(self, 0) : self;
}

Tensor atleast_3d(const Tensor& self) {
  expect_defined("atleast_3d", "self", self);
  if (self.dim() == 0) return view(self, {1, 1, 1});
  if (self.dim() == 1) return unsqueeze(unsqueeze(self, 0), -1);
  return self.dim() == 2 ? unsqueeze(self, -1) : self;
}

std::vector<Tensor> atleast_1d(TensorList tensors) {
  return for_each("atleast_1d", tensors, [](const Tensor& t) { return atleast_1d(t); });
}

std::vector<Tensor> atleast_2d(TensorList tensors) {
  return for_each("atleast_2d", tensors, [](const Tensor& t) { return atleast_2d(t); });
}

std::vector<Tensor> atleast_3d(TensorList tensors) {
  return for_each("atleast_3d", tensors, [](const Tensor& t) { return atleast_3d(t); });
}

Tensor broadcast_to(const Tensor& self, IntArrayRef sizes) {
  return broadcast_to("broadcast_to", self, sizes);
}

std::vector<Tensor> broadcast_tensors(TensorList tensors) {
  expect_all_defined("broadcast_tensors", tensors);
  Dims sizes;
  for (const Tensor& t : tensors) sizes = broadcast("broadcast_tensors", sizes, t.sizes());
  return for_each("broadcast_tensors", tensors, [&](const Tensor& t) { return expand(t, sizes); });
}

std::vector<Tensor> meshgrid(TensorList tensors, std::string_view indexing) {
  const char* op = "meshgrid";
  if (indexing != "ij" && indexing != "xy") {
    throw Error(fmt::format("{}: expected indexing \"ij\" or \"xy\", got \"{}\"", op, indexing));
  }
  if (tensors.empty()) throw ShapeError("meshgrid: expected tensors, got an empty list");
  check_devices(op, {{"tensors", tensors}});
  expect_all_defined(op, tensors);
  const size_t n = tensors.size();
  const bool is_xy = indexing == "xy" && n > 1;
  // Return the dim of out along which tensor i varies.
  const auto dim_of = [is_xy](size_t i) { return is_xy && i < 2 ? 1 - i : i; };
  Dims sizes(n);
  for (size_t i = 0; i < n; ++i) {
    if (tensors[i].dim() > 1) {
      throw ShapeError(
          fmt::format("{}: expected vectors, got shape {}", op, str(tensors[i].sizes())));
    }
    expect_same_dtype(op, tensors[0], tensors[i]);
    sizes[dim_of(i)] = tensors[i].numel();
  }
  std::vector<Tensor> out;
  typed_memory_errors(op, [&] { out.reserve(n); });
  for (size_t i = 0; i < n; ++i) {
    Dims own(n, 1);
    own[dim_of(i)] = tensors[i].numel();
    out.push_back(expand(view(tensors[i], own), sizes));
  }
  return out;
}

}  // namespace ambit
