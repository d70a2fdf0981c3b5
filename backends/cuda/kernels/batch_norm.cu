// Batch normalisation and its gradient, without cuDNN: one source serves float32 and float64 and
// all cases of kernels.h (with and without weights and running statistics); cuDNN would need a
// graph for each. Memory traffic is minimal: one pass over x for two sums per channel in float64,
// one thread per channel to finish them, and one pass that applies the result.
#include <algorithm>
#include <cub/block/block_reduce.cuh>

#include "backends/cuda/kernels.h"
#include "backends/cuda/loops/element16.cuh"
#include "backends/cuda/loops/map.cuh"
#include "backends/cuda/runtime/launch.h"
#include "backends/cuda/runtime/workspace.h"
#include "upcast_operand.h"

namespace ambit::cuda {
namespace {

/// Channels of x [N,C,D], where D combines all further dims.
struct Channels {
  explicit Channels(const Tensor& x)
      : C(x.size(1)),
        D(x.size(0) * C > 0 ? x.numel() / (x.size(0) * C) : 0),
        count(x.size(0) * D) {}
  int64_t C, D, count;  // count: elements of a channel
};

struct Sums {
  double first, second;
  __device__ friend Sums operator+(Sums a, Sums b) {
    return {a.first + b.first, a.second + b.second};
  }
};

// partials [C,splits] = sums of f(element, channel) over parts of each channel.
template <class F>
__global__ void sum_channels(Channels channels, int64_t splits, F f, Sums* partials) {
  using Reduce = cub::BlockReduce<Sums, kThreads>;
  __shared__ typename Reduce::TempStorage storage;
  const auto [C, D, count] = channels;
  const int64_t c = blockIdx.x / splits, split = blockIdx.x % splits;
  const int64_t part = (count + splits - 1) / splits;
  const int64_t end = min((split + 1) * part, count);
  Sums sum{0, 0};
  int64_t i = split * part + threadIdx.x;
  if (i < end) {
    int64_t n = i / D, d = i % D;
    const int64_t step_n = kThreads / D, step_d = kThreads % D;
    for (; i < end; i += kThreads) {
      sum = sum + f((n * C + c) * D + d, c);
      n += step_n;
      d += step_d;
      if (d >= D) d -= D, ++n;
    }
  }
  sum = Reduce(storage).Reduce(sum, [](Sums a, Sums b) { return a + b; });
  if (threadIdx.x == 0) partials[blockIdx.x] = sum;
}

// As sum_channels, for small D: x is a matrix [N,C*D]; a warp reads 32 adjacent columns, a block as
// many columns in one of `parts` parts of the rows. partials [C,D*parts]; N rows.
template <class F>
__global__ void sum_columns(Channels channels, int64_t N, int64_t parts, F f, Sums* partials) {
  constexpr int kColumns = 32, kRows = kThreads / kColumns;
  __shared__ Sums sums[kThreads];
  const int t = static_cast<int>(threadIdx.x);
  const int64_t width = channels.C * channels.D;
  const int64_t part = blockIdx.x % parts, column = blockIdx.x / parts * kColumns + t % kColumns;
  const int64_t c = column / channels.D, rows = (N + parts - 1) / parts;
  const int64_t end = min((part + 1) * rows, N);
  Sums sum{0, 0};
  if (column < width) {
    for (int64_t n = part * rows + t / kColumns; n < end; n += kRows) {
      sum = sum + f(n * width + column, c);
    }
  }
  sums[t] = sum;
  for (int half = kThreads / 2; half >= kColumns; half /= 2) {
    __syncthreads();
    if (t < half) sums[t] = sums[t] + sums[t + half];
  }
  if (t < kColumns && column < width) partials[column * parts + part] = sums[t];
}

__device__ Sums joined(const Sums* partials, int64_t c, int64_t splits) {
  Sums sum{0, 0};
  for (int64_t s = 0; s < splits; ++s) sum = sum + partials[c * splits + s];
  return sum;
}

template <class T>
__device__ double at(const T* p, int64_t c, double if_null) {
  return p ? static_cast<double>(p[c]) : if_null;
}

// The sums are of deviations from the channel's first element, because squares of values far from 0
// would lose precision.
template <class T>
struct Moments {
  __device__ Sums operator()(int64_t i, int64_t c) const {
    const double v = static_cast<double>(upcast(x[i])) - static_cast<double>(upcast(x[c * D]));
    return {v, v * v};
  }
  const T* x;
  int64_t D;
};

// Sums of dy and dy (x - mean).
template <class T>
struct Slopes {
  __device__ Sums operator()(int64_t i, int64_t c) const {
    const auto g = static_cast<double>(upcast(dy[i]));
    return {g, g * (static_cast<double>(upcast(x[i])) - static_cast<double>(mean[c]))};
  }
  const T *dy, *x;
  const Computed<T>* mean;
};

/// y = (x - mean) scale + shift of a channel.
struct Affine {
  double mean, scale, shift;
};

/// Pointers to the statistics of all channels, [C] each; null: absent.
template <class T>
struct Statistics {
  T *mean, *invstd, *running_mean, *running_var;
  const T *w, *b;
};

// partials null: use the running statistics.
template <class T>
__global__ void finish_statistics(Channels channels, int64_t splits, BatchNormParams p,
                                  const Sums* partials, const T* x, Statistics<Computed<T>> s,
                                  Affine* affine) {
  for (int64_t c = thread_index(); c < channels.C; c += thread_count()) {
    double mean = at(s.running_mean, c, 0), variance = at(s.running_var, c, 1);
    if (partials) {
      const Sums sums = joined(partials, c, splits);
      const auto n = static_cast<double>(channels.count);
      const double deviation = sums.first / n;
      mean = (channels.count > 0 ? static_cast<double>(upcast(x[c * channels.D])) : 0) + deviation;
      variance = sums.second / n - deviation * deviation;
      if (variance < 0) variance = 0;  // max() would drop NaN
      const auto blend = [&](Computed<T>* running, double value) {
        if (!running) return;
        const double old = static_cast<double>(running[c]);
        running[c] = static_cast<Computed<T>>((1 - p.momentum) * old + p.momentum * value);
      };
      blend(s.running_mean, mean);
      blend(s.running_var, variance * n / (n - 1));
    }
    const double inverse = 1 / sqrt(variance + p.eps);
    s.mean[c] = static_cast<Computed<T>>(mean);
    s.invstd[c] = static_cast<Computed<T>>(inverse);
    affine[c] = {mean, inverse * at(s.w, c, 1), at(s.b, c, 0)};
  }
}

/// dx = scale dy - constant - slope (x - mean) of a channel.
struct Gradient {
  double mean, scale, constant, slope;
};

// With u = (x - mean) invstd: dw = sum(dy u), db = sum(dy),
//   dx = w invstd (dy - db / n - u dw / n) in training, since mean and invstd depend on x,
//   dx = w invstd dy otherwise.
template <class T>
__global__ void finish_gradient(Channels channels, int64_t splits, bool training,
                                const Sums* partials, T* dw, T* db, const T* w, const T* mean,
                                const T* invstd, Gradient* gradient) {
  for (int64_t c = thread_index(); c < channels.C; c += thread_count()) {
    const Sums sums = joined(partials, c, splits);
    const auto inverse = static_cast<double>(invstd[c]);
    const double n = static_cast<double>(channels.count), slope = sums.second * inverse;
    db[c] = static_cast<T>(sums.first);
    dw[c] = static_cast<T>(slope);
    const double scale = at(w, c, 1) * inverse;
    gradient[c] = {static_cast<double>(mean[c]), scale, training ? scale * sums.first / n : 0,
                   training ? scale * inverse * slope / n : 0};
  }
}

template <class T>
struct Normalize {
  __device__ T operator()(const Affine& a, T x) const {
    return downcast<T>((static_cast<double>(upcast(x)) - a.mean) * a.scale + a.shift);
  }
};
template <class T>
struct InputGradient {
  __device__ T operator()(const Gradient& g, T dy, T x) const {
    return downcast<T>(g.scale * static_cast<double>(upcast(dy)) - g.constant -
                       g.slope * (static_cast<double>(upcast(x)) - g.mean));
  }
};

// y = f(coefficients of the channel, x...), V elements at a time; D and n count vectors.
template <int V, class I, class F, class Coefficients, class Y, class... X>
__global__ void map_channels(I n, I D, I C, F f, const Coefficients* coefficients, Y* y,
                             const X*... x) {
  for (int64_t i = thread_index(); i < n; i += thread_count()) {
    const I line = static_cast<I>(i) / D;
    const Coefficients of_channel = coefficients[line % C];
    const auto make = [&](const Vector<X, V>&... v) {
      Vector<Y, V> out;
#pragma unroll
      for (int j = 0; j < V; ++j) out.lane[j] = f(of_channel, v.lane[j]...);
      return out;
    };
    reinterpret_cast<Vector<Y, V>*>(y)[i] = make(reinterpret_cast<const Vector<X, V>*>(x)[i]...);
  }
}

template <class F, class Coefficients, class T, class... X>
void apply(const Channels& channels, const F& f, const Coefficients* coefficients, T* y,
           const X*... x) {
  const int64_t n = channels.C * channels.count;
  if (n == 0) return;
  const auto run = [&]<int V, class I>() {
    launch(map_channels<V, I, F, Coefficients, T, X...>, grid_for(n / V), static_cast<I>(n / V),
           static_cast<I>(channels.D / V), static_cast<I>(channels.C), f, coefficients, y, x...);
  };
  constexpr int kWide = 16 / sizeof(T);
  const auto is_aligned = [](const void* p) { return reinterpret_cast<uintptr_t>(p) % 16 == 0; };
  const bool wide = channels.D % kWide == 0 && is_aligned(y) && (is_aligned(x) && ...);
  if (n > INT32_MAX) return run.template operator()<1, int64_t>();
  if (wide) return run.template operator()<kWide, int32_t>();
  run.template operator()<1, int32_t>();
}

/// Distribution of the sums over blocks: enough blocks to fill the GPU, each with work for all of
/// its threads.
struct SumPlan {
  explicit SumPlan(const Channels& channels) : by_columns(channels.D > 0 && channels.D < 32) {
    const int64_t wanted = 4 * int64_t{Call::stream().gpu.properties().multiProcessorCount};
    const auto clamped = [](int64_t n) { return std::clamp<int64_t>(n, 1, 1024); };
    if (by_columns) {
      N = channels.count / channels.D;
      tiles = (channels.C * channels.D + 31) / 32;
      parts = clamped(std::min(wanted / std::max<int64_t>(tiles, 1), N / 32));
      sums = parts * channels.D;
    } else {
      parts = sums = clamped(std::min(wanted / channels.C, channels.count / (4 * kThreads)));
      tiles = channels.C;
    }
  }
  bool by_columns;  // else one block for each part of a channel
  int64_t N = 0, tiles, parts;
  int64_t sums;  // per channel
};

template <class F>
void sum(const Channels& channels, const SumPlan& plan, const F& f, Sums* partials) {
  const Grid grid{static_cast<unsigned>(plan.tiles * plan.parts)};
  if (grid.blocks == 0) return;
  if (plan.by_columns) {
    launch(sum_columns<F>, grid, channels, plan.N, plan.parts, f, partials);
  } else {
    launch(sum_channels<F>, grid, channels, plan.parts, f, partials);
  }
}

}  // namespace

// y, x [N,C,...], all others [C]
void batch_norm(Tensor& y, Tensor& mean, Tensor& invstd, Tensor& running_mean, Tensor& running_var,
                const Tensor& x, const Tensor& w, const Tensor& b, const BatchNormParams& p) {
  const Channels channels(x);
  if (channels.C == 0) return;
  const SumPlan plan(channels);
  const auto C = static_cast<size_t>(channels.C);
  const Workspace sums(p.training ? C * static_cast<size_t>(plan.sums) * sizeof(Sums) : 0);
  const Workspace affine(C * sizeof(Affine));
  UpcastOperand own_mean = UpcastOperand::for_output(mean),
                own_invstd = UpcastOperand::for_output(invstd);
  UpcastOperand own_running_mean(running_mean), own_running_var(running_var);
  const UpcastOperand own_w(w), own_b(b);
  visit<dtypes::kAnyFloating>(y.dtype(), [&]<class T>() {
    using S = Computed<T>;
    const T* px = x.data_ptr<T>();
    const Statistics<S> statistics{
        own_mean.data<S>(),        own_invstd.data<S>(), own_running_mean.data<S>(),
        own_running_var.data<S>(), own_w.data<S>(),      own_b.data<S>()};
    if (p.training) sum(channels, plan, Moments<T>{px, channels.D}, sums.as<Sums>());
    launch(finish_statistics<T>, grid_for(channels.C), channels, plan.sums, p, sums.as<Sums>(), px,
           statistics, affine.as<Affine>());
    apply(channels, Normalize<T>(), affine.as<Affine>(), y.data_ptr<T>(), px);
  });
  own_mean.write_back();
  own_invstd.write_back();
  if (!p.training) return;
  own_running_mean.write_back();
  own_running_var.write_back();
}

// dx, dy, x [N,C,...], all others [C]
void batch_norm_grad(Tensor& dx, Tensor& dw, Tensor& db, const Tensor& dy, const Tensor& x,
                     const Tensor& w, const Tensor& mean, const Tensor& invstd,
                     const BatchNormParams& p) {
  const Channels channels(x);
  if (channels.C == 0) return;
  const SumPlan plan(channels);
  const auto C = static_cast<size_t>(channels.C);
  const Workspace sums(C * static_cast<size_t>(plan.sums) * sizeof(Sums));
  const Workspace gradient(C * sizeof(Gradient));
  UpcastOperand own_dw = UpcastOperand::for_output(dw), own_db = UpcastOperand::for_output(db);
  const UpcastOperand own_w(w), own_mean(mean), own_invstd(invstd);
  visit<dtypes::kAnyFloating>(dx.dtype(), [&]<class T>() {
    using S = Computed<T>;
    const T *px = x.data_ptr<T>(), *pdy = dy.data_ptr<T>();
    const S* pmean = own_mean.data<S>();
    sum(channels, plan, Slopes<T>{pdy, px, pmean}, sums.as<Sums>());
    launch(finish_gradient<S>, grid_for(channels.C), channels, plan.sums, p.training,
           sums.as<Sums>(), own_dw.data<S>(), own_db.data<S>(), own_w.data<S>(), pmean,
           own_invstd.data<S>(), gradient.as<Gradient>());
    apply(channels, InputGradient<T>(), gradient.as<Gradient>(), dx.data_ptr<T>(), pdy, px);
  });
  own_dw.write_back();
  own_db.write_back();
}

}  // namespace ambit::cuda
