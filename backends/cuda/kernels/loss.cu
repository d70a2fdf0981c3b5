// Classification losses: negative log-likelihood, and cross-entropy, which is the negative
// log-likelihood of the softmax. One reduction sums the weights and also writes each loss; long
// rows of logits are processed by warps or blocks before. No temporary is as large as the logits. x
// [N,C], target [N], w [C] or null. For reduced floating-point x, losses, weight sums and gradients
// of losses are float32.
#include "backends/cuda/kernels.h"
#include "backends/cuda/loops/lines.cuh"
#include "backends/cuda/loops/reduce.cuh"
#include "upcast_operand.h"

namespace ambit::cuda {
namespace {

/// The classes and weights of targets.
template <class T>
struct Classes {
  /// Return true if a row with target t counts. Invalid targets do not count and are reported.
  __device__ bool counts(int64_t t) const {
    if (t == ignore_index) return false;
    if (t >= 0 && t < C) return true;
    faults.report(FaultKind::target, t, C);
    return false;
  }
  __device__ Computed<T> weight(int64_t t) const { return w ? upcast(w[t]) : 1; }

  const T* w;
  int64_t C, ignore_index;
  FaultSink faults;
};
template <class T>
Classes<T> classes_of(const Tensor& x, const Tensor& w, int64_t ignore_index) {
  return {w.defined() ? w.data_ptr<T>() : nullptr, x.size(1), ignore_index,
          Call::stream().gpu.faults().sink(Call::op())};
}

// The log-probability of class t in row n, stored in x.
template <class T>
struct FromLogProbabilities {
  __device__ Computed<T> operator()(int64_t n, int64_t t) const { return upcast(x[n * C + t]); }
  const T* x;
  int64_t C;
};
// As FromLogProbabilities, but x contains logits, in short rows, which one thread processes.
template <class T>
struct FromLogits {
  __device__ Computed<T> operator()(int64_t n, int64_t t) const {
    const T* row = x + n * C;
    return sum_exponentials<1>(row, C, 1, 0).log_softmax(upcast(row[t]));
  }
  const T* x;
  int64_t C;
};
// As FromLogProbabilities, but read from of_target [N], which contains it for each row's target.
template <class T>
struct StoredLogProbability {
  __device__ Computed<T> operator()(int64_t n, int64_t) const { return of_target[n]; }
  const Computed<T>* of_target;
};

// Reduces target [N] to weight_sum []; writes y [N].
template <class T, class LogProbability>
struct Losses {
  using Value = double;
  using S = Computed<T>;
  __device__ Value first() const { return 0; }
  __device__ Value load(const int64_t* target, int64_t n) const {
    const int64_t t = *target;
    if (!classes.counts(t)) {
      y[n] = S{0};
      return 0;
    }
    const S weight = classes.weight(t);
    y[n] = -weight * log_probability(n, t);
    return static_cast<Value>(weight);
  }
  __device__ Value join(Value a, Value b) const { return a + b; }
  __device__ void store(int64_t, Value v) const { *weight_sum = static_cast<S>(v); }

  S *y, *weight_sum;
  Classes<T> classes;
  LogProbability log_probability;
};

template <class T, class LogProbability>
void write_losses(const UpcastOperand& y, const UpcastOperand& weight_sum, const Tensor& target,
                  const Classes<T>& classes, const LogProbability& log_probability) {
  const ReduceWalk walk = reduce_walk(Call::op(), target, [](size_t) { return false; });
  using S = Computed<T>;
  const Losses<T, LogProbability> losses{y.data<S>(), weight_sum.data<S>(), classes,
                                         log_probability};
  run_reduce<int64_t>(losses, target, walk, 1, target.numel());
}

// of_target [N]
template <class T, int kLanes>
__global__ void find_log_probabilities(ContiguousLines rows, Classes<T> classes,
                                       Computed<T>* of_target, const T* x, const int64_t* target) {
  for_each_line<kLanes>(rows, [&](int64_t n, int64_t lane) {
    const int64_t t = target[n];
    if (!classes.counts(t)) return;
    const T* row = x + n * rows.length;
    const auto e = sum_exponentials<kLanes>(row, rows.length, 1, lane);
    if (lane == 0) of_target[n] = e.log_softmax(upcast(row[t]));
  });
}

// dx = slope (softmax(x) - onehot(t)), g [N] with a stride
template <class T, int kLanes>
__global__ void cross_entropy_grad_rows(ContiguousLines rows, Classes<T> classes, T* dx,
                                        const Computed<T>* g, int64_t g_stride, const T* x,
                                        const int64_t* target) {
  using S = Computed<T>;
  for_each_line<kLanes>(rows, [&](int64_t n, int64_t lane) {
    const int64_t C = rows.length, t = target[n];
    const T* row = x + n * C;
    T* to = dx + n * C;
    if (!classes.counts(t)) {
      for (int64_t c = lane; c < C; c += kLanes) to[c] = downcast<T>(S{0});
      return;
    }
    const auto [largest, sum] = sum_exponentials<kLanes>(row, C, 1, lane);
    const S slope = classes.weight(t) * g[n * g_stride], factor = static_cast<S>(1 / sum);
    for (int64_t c = lane; c < C; c += kLanes) {
      const S probability = std::exp(upcast(row[c]) - largest) * factor;
      to[c] = downcast<T>(slope * (probability - (c == t ? S{1} : S{0})));
    }
  });
}

}  // namespace

void nll_loss(Tensor& y, Tensor& weight_sum, const Tensor& x, const Tensor& target, const Tensor& w,
              int64_t ignore_index) {
  UpcastOperand own_y = UpcastOperand::for_output(y),
                own_sum = UpcastOperand::for_output(weight_sum);
  visit<dtypes::kAnyFloating>(x.dtype(), [&]<class T>() {
    const Classes<T> classes = classes_of<T>(x, w, ignore_index);
    write_losses(own_y, own_sum, target, classes,
                 FromLogProbabilities<T>{x.data_ptr<T>(), classes.C});
  });
  own_y.write_back();
  own_sum.write_back();
}

void cross_entropy(Tensor& y, Tensor& weight_sum, const Tensor& x, const Tensor& target,
                   const Tensor& w, int64_t ignore_index) {
  constexpr int64_t kShortRow = 16;  // longer rows occupy most of a warp
  const bool is_short = x.size(1) <= kShortRow;
  UpcastOperand own_y = UpcastOperand::for_output(y),
                own_sum = UpcastOperand::for_output(weight_sum);
  if (!is_short) {
    visit_lines<dtypes::kAnyFloating>(
        x, 1, [&]<class T, int kLanes>(const ContiguousLines& rows, Grid grid) {
          launch(find_log_probabilities<T, kLanes>, grid, rows, classes_of<T>(x, w, ignore_index),
                 own_y.data<Computed<T>>(), x.data_ptr<T>(), target.data_ptr<int64_t>());
        });
  }
  visit<dtypes::kAnyFloating>(x.dtype(), [&]<class T>() {
    const Classes<T> classes = classes_of<T>(x, w, ignore_index);
    if (is_short) {
      write_losses(own_y, own_sum, target, classes, FromLogits<T>{x.data_ptr<T>(), classes.C});
    } else {
      write_losses(own_y, own_sum, target, classes,
                   StoredLogProbability<T>{own_y.data<Computed<T>>()});
    }
  });
  own_y.write_back();
  own_sum.write_back();
}

void cross_entropy_grad(Tensor& dx, const Tensor& g, const Tensor& x, const Tensor& target,
                        const Tensor& w, int64_t ignore_index) {
  const UpcastOperand own_g(g);
  visit_lines<dtypes::kAnyFloating>(
      x, 1, [&]<class T, int kLanes>(const ContiguousLines& rows, Grid grid) {
        launch(cross_entropy_grad_rows<T, kLanes>, grid, rows, classes_of<T>(x, w, ignore_index),
               dx.data_ptr<T>(), own_g.data<Computed<T>>(), own_g.stride(0), x.data_ptr<T>(),
               target.data_ptr<int64_t>());
      });
}

}  // namespace ambit::cuda
