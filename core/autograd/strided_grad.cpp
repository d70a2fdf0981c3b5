#include "strided_grad.h"

#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/index.h>
#include <ambit/ops/shape.h>

#include <algorithm>

namespace ambit {
namespace {

// Return one past the last element's position; t is not empty.
int64_t end_of(const Geometry& t) {
  int64_t last = t.offset;
  for (size_t i = 0; i < t.sizes.size(); ++i) last += (t.sizes[i] - 1) * t.strides[i];
  return last + 1;
}

}  // namespace

Tensor strided_grad(const Tensor& g, const Geometry& from, const Geometry& to) {
  if (g.numel() == 0) return zeros(from.sizes, g.options());
  const int64_t first = std::min(from.offset, to.offset);
  const int64_t length = std::max(end_of(from), end_of(to)) - first;
  const Tensor all = arange(length, TensorOptions(kInt64).device(g.device()));
  // The storage position, relative to `first`, of each element.
  const auto places = [&](const Geometry& t) {
    return reshape(as_strided(all, t.sizes, t.strides, t.offset - first), {-1});
  };
  const auto scattered = [&](const Tensor& at, const Tensor& src) {
    return scatter_add(zeros({length}, src.options()), 0, at, src);
  };
  const Tensor owned = places(from), memory = scattered(places(to), reshape(g, {-1}));
  const Tensor owners = scattered(owned, ones_like(owned, real_dtype(g.dtype())));
  return reshape(gather(memory / owners.clamp_min(1), 0, owned), from.sizes);
}

}  // namespace ambit
