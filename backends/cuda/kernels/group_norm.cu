// Group normalisation and its gradient: x [N,C,...]; groups are lines, each read from memory once
// by a warp or a block. The gradient first sums over each channel; the sums of groups and of weight
// and bias are computed from these in a fixed order.
#include <ambit/backend/alias.h>

#include "backends/cuda/kernels.h"
#include "backends/cuda/loops/lines.cuh"
#include "backends/cuda/runtime/workspace.h"
#include "upcast_operand.h"

namespace ambit::cuda {
namespace {

template <class T>
const T* data_or_null(const Tensor& t) {
  return t.defined() ? t.data_ptr<T>() : nullptr;
}

/// Groups of `channels` channels of `inner` elements, G groups per sample.
struct Groups {
  Groups(const Tensor& x, const Tensor& mean)
      : N(x.size(0)), C(x.size(1)), G(mean.size(1)), channels(C / G), inner(x.numel() / (N * C)) {}
  int64_t N, C, G, channels, inner;
};

// y, x [N,C,...]; mean, invstd [N,G]; w, b [C] or null.
template <class T, int kLanes>
__global__ void normalize_groups(ContiguousLines lines, Groups groups, double eps, T* y,
                                 Computed<T>* mean, Computed<T>* invstd, const T* x, const T* w,
                                 const T* b) {
  using S = Computed<T>;
  for_each_line<kLanes>(lines, [&](int64_t group, int64_t lane) {
    const int64_t length = lines.length, start = group * length;
    const auto n = static_cast<double>(length);
    double sum = 0, squares = 0;
    for (int64_t j = lane; j < length; j += kLanes)
      sum += static_cast<double>(upcast(x[start + j]));
    const double center = sum_line<kLanes>(sum) / n;
    for (int64_t j = lane; j < length; j += kLanes) {
      const double d = static_cast<double>(upcast(x[start + j])) - center;
      squares += d * d;
    }
    const double inverse = 1 / std::sqrt(sum_line<kLanes>(squares) / n + eps);
    if (lane == 0) {
      mean[group] = static_cast<S>(center);
      invstd[group] = static_cast<S>(inverse);
    }
    for (int64_t j = lane; j < length; j += kLanes) {
      const int64_t channel = group % groups.G * groups.channels + j / groups.inner;
      const S u = static_cast<S>((static_cast<double>(upcast(x[start + j])) - center) * inverse);
      y[start + j] =
          downcast<T>((w ? u * upcast(w[channel]) : u) + (b ? upcast(b[channel]) : S(0)));
    }
  });
}

struct ChannelSums {
  double dyu, dy;
};

// sums [N,C]: of dy u and dy, u = (x - mean) invstd, over the `inner` elements of a channel.
template <class T, int kLanes>
__global__ void sum_channels(ContiguousLines lines, Groups groups, ChannelSums* sums, const T* dy,
                             const T* x, const Computed<T>* mean, const Computed<T>* invstd) {
  for_each_line<kLanes>(lines, [&](int64_t channel, int64_t lane) {
    const int64_t start = channel * lines.length, group = channel / groups.channels;
    const auto center = static_cast<double>(mean[group]);
    double dyu = 0, dy_sum = 0;
    for (int64_t j = lane; j < lines.length; j += kLanes) {
      const auto g = static_cast<double>(upcast(dy[start + j]));
      dyu += g * (static_cast<double>(upcast(x[start + j])) - center);
      dy_sum += g;
    }
    dyu = sum_line<kLanes>(dyu) * static_cast<double>(invstd[group]);
    dy_sum = sum_line<kLanes>(dy_sum);
    if (lane == 0) sums[channel] = {dyu, dy_sum};
  });
}

// dx = invstd (g - mean(g) - u mean(g u)) with g = dy w.
template <class T, int kLanes>
__global__ void group_grads(ContiguousLines lines, Groups groups, T* dx, const T* dy, const T* x,
                            const T* w, const Computed<T>* mean, const Computed<T>* invstd,
                            const ChannelSums* sums) {
  for_each_line<kLanes>(lines, [&](int64_t group, int64_t lane) {
    const int64_t start = group * lines.length, first = group % groups.G * groups.channels;
    const auto weight = [&](int64_t c) {
      return w ? static_cast<double>(upcast(w[first + c])) : 1;
    };
    double sum_g = 0, sum_gu = 0;
    for (int64_t c = lane; c < groups.channels; c += kLanes) {
      const ChannelSums s = sums[group * groups.channels + c];
      sum_g += s.dy * weight(c);
      sum_gu += s.dyu * weight(c);
    }
    const auto n = static_cast<double>(lines.length);
    const double mean_g = sum_line<kLanes>(sum_g) / n, mean_gu = sum_line<kLanes>(sum_gu) / n;
    const auto center = static_cast<double>(mean[group]);
    const auto inverse = static_cast<double>(invstd[group]);
    for (int64_t j = lane; j < lines.length; j += kLanes) {
      const double u = (static_cast<double>(upcast(x[start + j])) - center) * inverse;
      const double g = static_cast<double>(upcast(dy[start + j])) * weight(j / groups.inner);
      dx[start + j] = downcast<T>(inverse * (g - mean_g - u * mean_gu));
    }
  });
}

// dw, db [C]
template <class T>
__global__ void add_samples(Groups groups, T* dw, T* db, const ChannelSums* sums) {
  for (int64_t c = thread_index(); c < groups.C; c += thread_count()) {
    ChannelSums sum{0, 0};
    for (int64_t n = 0; n < groups.N; ++n) {
      sum.dyu += sums[n * groups.C + c].dyu;
      sum.dy += sums[n * groups.C + c].dy;
    }
    dw[c] = downcast<T>(sum.dyu);
    db[c] = downcast<T>(sum.dy);
  }
}

}  // namespace

void group_norm(Tensor& y, Tensor& mean, Tensor& invstd, const Tensor& x, const Tensor& w,
                const Tensor& b, double eps) {
  const Groups groups(x, mean);
  const Tensor rows = alias(x, {groups.N * groups.G, groups.channels * groups.inner});
  UpcastOperand own_mean = UpcastOperand::for_output(mean),
                own_invstd = UpcastOperand::for_output(invstd);
  visit_lines<dtypes::kAnyFloating>(
      rows, 1, [&]<class T, int kLanes>(const ContiguousLines& lines, Grid grid) {
        using S = Computed<T>;
        launch(normalize_groups<T, kLanes>, grid, lines, groups, eps, y.data_ptr<T>(),
               own_mean.data<S>(), own_invstd.data<S>(), x.data_ptr<T>(), data_or_null<T>(w),
               data_or_null<T>(b));
      });
  own_mean.write_back();
  own_invstd.write_back();
}

void group_norm_grad(Tensor& dx, Tensor& dw, Tensor& db, const Tensor& dy, const Tensor& x,
                     const Tensor& w, const Tensor& mean, const Tensor& invstd) {
  const Groups groups(x, mean);
  const Workspace sums(static_cast<size_t>(groups.N * groups.C) * sizeof(ChannelSums));
  const Tensor channels = alias(x, {groups.N * groups.C, groups.inner});
  const UpcastOperand own_mean(mean), own_invstd(invstd);
  visit_lines<dtypes::kAnyFloating>(
      channels, 1, [&]<class T, int kLanes>(const ContiguousLines& lines, Grid grid) {
        using S = Computed<T>;
        launch(sum_channels<T, kLanes>, grid, lines, groups, sums.as<ChannelSums>(),
               dy.data_ptr<T>(), x.data_ptr<T>(), own_mean.data<S>(), own_invstd.data<S>());
      });
  const Tensor rows = alias(x, {groups.N * groups.G, groups.channels * groups.inner});
  visit_lines<dtypes::kAnyFloating>(
      rows, 1, [&]<class T, int kLanes>(const ContiguousLines& lines, Grid grid) {
        using S = Computed<T>;
        launch(group_grads<T, kLanes>, grid, lines, groups, dx.data_ptr<T>(), dy.data_ptr<T>(),
               x.data_ptr<T>(), data_or_null<T>(w), own_mean.data<S>(), own_invstd.data<S>(),
               sums.as<ChannelSums>());
      });
  visit<dtypes::kAnyFloating>(x.dtype(), [&]<class T>() {
    launch(add_samples<T>, grid_for(groups.C), groups, dw.data_ptr<T>(), db.data_ptr<T>(),
           sums.as<ChannelSums>());
  });
}

}  // namespace ambit::cuda
