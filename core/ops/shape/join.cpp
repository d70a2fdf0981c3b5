// Ops that join several tensors, or several copies of one.
#include <ambit/backend/alias.h>
#include <ambit/backend/kernels.h>
#include <ambit/detail/memory_errors.h>
#include <ambit/detail/record.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/index.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include "core/ops/operands/allocate.h"
#include "core/ops/operands/expect.h"

namespace ambit {
namespace {

void check_list(const char* op, TensorList tensors) {
  if (tensors.empty()) throw ShapeError(fmt::format("{}: expected tensors, got an empty list", op));
  check_devices(op, {{"tensors", tensors}});
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (!tensors[i].defined()) {
      throw Error(fmt::format("{}: expected defined tensors, got tensors[{}] undefined", op, i));
    }
  }
}

DType common_dtype(TensorList tensors) {
  DType dtype = tensors[0].dtype();
  for (const Tensor& t : tensors) dtype = promote_types(dtype, t.dtype());
  return dtype;
}

// As in libtorch, empty 1-dim tensors are ignored, so that lists can start from {}.
bool is_ignored(const Tensor& t) { return t.dim() == 1 && t.numel() == 0; }

// Return the sizes of the joined tensor. Errors: ShapeError.
Dims joined_sizes(TensorList tensors, size_t like, size_t d) {
  Dims sizes(tensors[like].sizes());
  sizes[d] = 0;
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (is_ignored(tensors[i])) continue;
    Dims own(tensors[i].sizes());
    const int64_t length = d < own.size() ? own[d] : 0;
    if (d < own.size()) own[d] = sizes[d];
    if (own != sizes) {
      throw ShapeError(fmt::format("cat: expected shapes that differ in dim {} only, got {} and {}",
                                   d, str(tensors[like].sizes()), str(tensors[i].sizes())));
    }
    if (__builtin_add_overflow(sizes[d], length, &sizes[d])) {
      throw ShapeError(
          fmt::format("cat: expected a size below 2^63 in dim {}, got {} tensors of sizes like {}",
                      d, tensors.size(), str(tensors[like].sizes())));
    }
  }
  return sizes;
}

// Copy t to its position in `out`, from `start` on in dim d; unsqueeze: as index `start` of dim d.
void copy_into(const Tensor& out, const Tensor& t, size_t d, int64_t start, bool unsqueeze) {
  Dims strides(out.strides());
  const int64_t offset = start * strides[d];
  if (unsqueeze) strides.erase(d);
  Tensor part = alias(out, t.sizes(), strides, offset);
  kernels::copy(part, t);
}

}  // namespace

Tensor cat(TensorList tensors, int64_t dim) try {
  check_list("cat", tensors);
  for (const Tensor& t : tensors) {
    if (t.dim() == 0) throw ShapeError("cat: expected tensors with dims, got one without");
  }
  size_t like = 0;
  while (like + 1 < tensors.size() && is_ignored(tensors[like])) ++like;
  const auto d = static_cast<size_t>(wrap_dim("cat", dim, tensors[like].dim()));
  const Dims sizes = joined_sizes(tensors, like, d);
  Tensor out = allocate("cat", sizes, common_dtype(tensors), tensors[like].device());
  struct Part {
    int64_t start, length;
    DType dtype;
    bool ignored;
  };
  std::vector<Part> parts;
  int64_t start = 0;
  for (const Tensor& t : tensors) {
    const int64_t length = is_ignored(t) ? 0 : t.sizes()[d];
    parts.push_back({start, length, t.dtype(), is_ignored(t)});
    if (t.numel() > 0) copy_into(out, t, d, start, false);
    start += length;
  }
  return record_list("cat", std::move(out), tensors,
                     [d, parts = std::move(parts)](const Tensor& g, size_t i) {
                       const Part& p = parts[i];
                       if (p.ignored) return zeros({0}, g.options().dtype(p.dtype));
                       return narrow(g, static_cast<int64_t>(d), p.start, p.length).to(p.dtype);
                     });
} catch (const std::bad_alloc&) {
  throw_out_of_host_memory("cat");
}

Tensor concat(TensorList tensors, int64_t dim) { return cat(tensors, dim); }

Tensor concatenate(TensorList tensors, int64_t dim) { return cat(tensors, dim); }

Tensor stack(TensorList tensors, int64_t dim) try {
  check_list("stack", tensors);
  const auto d = static_cast<size_t>(wrap_dim("stack", dim, tensors[0].dim() + 1));
  for (const Tensor& t : tensors) {
    if (t.sizes() == tensors[0].sizes()) continue;
    throw ShapeError(fmt::format("stack: expected tensors of one shape, got {} and {}",
                                 str(tensors[0].sizes()), str(t.sizes())));
  }
  Dims sizes(tensors[0].sizes());
  sizes.insert(d, static_cast<int64_t>(tensors.size()));
  Tensor out = allocate("stack", sizes, common_dtype(tensors), tensors[0].device());
  std::vector<DType> dtypes;
  for (size_t i = 0; i < tensors.size(); ++i) {
    dtypes.push_back(tensors[i].dtype());
    copy_into(out, tensors[i], d, static_cast<int64_t>(i), true);
  }
  return record_list(
      "stack", std::move(out), tensors, [d, dtypes = std::move(dtypes)](const Tensor& g, size_t i) {
        return select(g, static_cast<int64_t>(d), static_cast<int64_t>(i)).to(dtypes[i]);
      });
} catch (const std::bad_alloc&) {
  throw_out_of_host_memory("stack");
}

Tensor repeat(const Tensor& self, IntArrayRef repeats) {
  expect_defined("repeat", "self", self);
  const size_t n = self.sizes().size();
  bool good = repeats.size() >= n;
  for (const int64_t r : repeats) good = good && r >= 0;
  if (!good) {
    throw ShapeError(
        fmt::format("repeat: expected {} or more repeats >= 0, got {}", n, str(repeats)));
  }
  // [s, ...] -> [1, s, ...], expanded to [r, s, ...], copied, and reshaped to [r * s, ...].
  const size_t lead = repeats.size() - n;
  Dims apart, tiled, joined;
  for (size_t i = 0; i < repeats.size(); ++i) {
    const int64_t size = i < lead ? 1 : self.sizes()[i - lead];
    for (const int64_t s : {int64_t{1}, size}) apart.push_back(s);
    for (const int64_t s : {repeats[i], size}) tiled.push_back(s);
    joined.push_back(count("repeat", {repeats[i], size}));
  }
  return reshape(clone(expand(reshape(self, apart), tiled)), joined);
}

Tensor flip(const Tensor& self, IntArrayRef dims) try {
  expect_defined("flip", "self", self);
  std::vector<bool> flipped(self.sizes().size() + 1);
  Tensor out = self;
  for (const int64_t dim : dims) {
    const auto d = static_cast<size_t>(wrap_dim("flip", dim, self.dim()));
    if (flipped[d]) {
      throw ShapeError(fmt::format("flip: expected each dim once, got {}", str(dims)));
    }
    flipped[d] = true;
    if (self.dim() == 0) continue;
    const int64_t size = self.sizes()[d];
    const TensorOptions options = TensorOptions(kInt64).device(self.device());
    out = index_select(out, dim, arange(size - 1, -1, -1, options));
  }
  return out.is_same(self) ? clone(self) : out;
} catch (const std::bad_alloc&) {
  throw_out_of_host_memory("flip");
}

}  // namespace ambit
