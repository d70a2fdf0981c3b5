// Average pooling and its gradient composed of ops: windows are separable, so sums are computed
// axis by axis, over the windows' first elements, then their second ones, and so on.
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/index.h>
#include <ambit/ops/shape.h>

#include <algorithm>
#include <vector>

#include "core/ops/composite.h"

namespace ambit {
namespace {

/// The windows along one dim, in elements of the input.
struct Windows {
  Windows(const PoolParams& p, size_t axis, int64_t in, int64_t out) : size(in) {
    for (int64_t i = 0; i < out; ++i) {
      if (p.adaptive) {
        begin.push_back(i * in / out);
        count.push_back(((i + 1) * in + out - 1) / out - begin.back());
        divisor.push_back(static_cast<double>(count.back()));
        continue;
      }
      const int64_t first = i * p.stride[axis] - p.padding[axis], past = first + p.kernel[axis];
      begin.push_back(std::clamp<int64_t>(first, 0, in));
      count.push_back(std::max<int64_t>(std::min(past, in) - begin.back(), 0));
      divisor.push_back(static_cast<double>(
          p.count_include_pad ? std::min(past, in + p.padding[axis]) - first : count.back()));
    }
    most = *std::max_element(count.begin(), count.end());
  }

  /// Call f(positions [out] in the input, mask [out,1...] of windows that have this element) for
  /// each element index of the longest window; `inner`: the number of trailing dims.
  template <class F>
  void for_each_place(Device device, int64_t inner, const F& f) const {
    std::vector<int64_t> shape(static_cast<size_t>(inner) + 1, 1);
    shape[0] = static_cast<int64_t>(begin.size());
    for (int64_t r = 0; r < most; ++r) {
      std::vector<int64_t> at(begin.size());
      std::vector<int64_t> there(begin.size());
      for (size_t i = 0; i < begin.size(); ++i) {
        at[i] = std::min(begin[i] + r, size - 1);
        there[i] = r < count[i];
      }
      f(tensor(at).to(device), tensor(there).to(device).view(shape).to(kBool));
    }
  }

  int64_t size, most = 0;
  std::vector<int64_t> begin, count;
  std::vector<double> divisor;
};

/// Divide y, or dy, [N,C,out...] by the divisors of the windows' sums.
Tensor divided(Tensor y, IntArrayRef x, const PoolParams& p) {
  const auto quotient = [&](const auto& divisor) {
    return y.is_floating_point() ? y / divisor : div(y, divisor, "trunc");
  };
  if (p.divisor != 0) return quotient(p.divisor);
  Tensor all = ones({1}, y.options());
  for (int64_t dim = 2; dim < y.dim(); ++dim) {
    const auto d = static_cast<size_t>(dim);
    const Windows windows(p, d - 2, x[d], y.size(dim));
    const Tensor one = tensor(windows.divisor, kFloat64).to(y.options());
    all = all.unsqueeze(-1) * one;
  }
  return quotient(all.clamp_min(1));  // the mean of a window of only padding is 0
}

}  // namespace

void composite::avg_pool(Tensor& y, const Tensor& x, const PoolParams& p) {
  if (y.numel() == 0) return;
  Tensor sums = x;
  for (int64_t dim = 2; dim < x.dim(); ++dim) {
    const auto d = static_cast<size_t>(dim);
    const Windows windows(p, d - 2, x.size(dim), y.size(dim));
    Tensor total;
    windows.for_each_place(
        x.device(), x.dim() - dim - 1, [&](const Tensor& at, const Tensor& there) {
          const Tensor some = index_select(sums, dim, at).masked_fill(there.logical_not(), 0);
          total = total.defined() ? total + some : some;
        });
    sums = total;
  }
  y.copy_(divided(sums, x.sizes(), p));
}

void composite::avg_pool_grad(Tensor& dx, const Tensor& dy, const PoolParams& p) {
  dx.fill_(0);
  if (dy.numel() == 0) return;
  Tensor shares = divided(dy, dx.sizes(), p);
  for (int64_t dim = 2; dim < dx.dim(); ++dim) {
    const auto d = static_cast<size_t>(dim);
    const Windows windows(p, d - 2, dx.size(dim), dy.size(dim));
    Dims sizes(shares.sizes());
    sizes[d] = dx.size(dim);
    const Tensor spread = zeros(sizes, dx.options());
    windows.for_each_place(dx.device(), dx.dim() - dim - 1,
                           [&](const Tensor& at, const Tensor& there) {
                             spread.index_add_(dim, at, shares.masked_fill(there.logical_not(), 0));
                           });
    shares = spread;
  }
  dx.copy_(shares);
}

}  // namespace ambit
