// Connectionist temporal classification: x [T,N,C], target [N,S], alpha [N,T,L], L = 2 S + 1
// states. A block processes a sequence, its threads the states of a time step. In the gradient the
// first state of each label adds the contributions of all states with this label, so that sums have
// a fixed order. For reduced floating-point x, losses, alpha and sums are float32. Source: Graves
// et al. 2006, sections 4 and 4.1; the gradient is its equation 16.
#include <limits>

#include "backends/cuda/kernels.h"
#include "backends/cuda/loops/element16.cuh"
#include "backends/cuda/runtime/launch.h"
#include "backends/cuda/runtime/workspace.h"
#include "upcast_operand.h"

namespace ambit::cuda {
namespace {

template <class T>
__device__ T never() {
  return -std::numeric_limits<T>::infinity();
}

/// Return log(e^a + e^b + e^c).
template <class T>
__device__ T log_add(T a, T b, T c) {
  const T top = fmax(a, fmax(b, c));
  if (top == never<T>()) return a + b + c;  // NaN if any is NaN
  return top + std::log(std::exp(a - top) + std::exp(b - top) + std::exp(c - top));
}

/// The sequences of a call; a block processes the n-th.
template <class T>
struct Sequences {
  int64_t T_all, N, C, S, blank;
  const T* x;
  const int64_t *target, *lengths, *target_lengths;
  FaultSink faults;

  __device__ int64_t L() const { return 2 * S + 1; }
  __device__ int64_t states(int64_t n) const { return 2 * target_lengths[n] + 1; }
  /// Return the label of state l; blank for an invalid label, which is reported.
  __device__ int64_t label(int64_t n, int64_t l) const {
    if (l % 2 == 0) return blank;
    const int64_t label = target[n * S + l / 2];
    if (label >= 0 && label < C) return label;
    faults.report(FaultKind::target, label, C);
    return blank;
  }
  __device__ const T* row(int64_t n, int64_t t) const { return x + (t * N + n) * C; }
  /// Return true if a path may enter state l from the state two before it.
  __device__ bool skips_to(int64_t n, int64_t l) const {
    return l >= 2 && l < states(n) && label(n, l) != label(n, l - 2);
  }
};

/// A thread processes the states first, first + step, ...
__device__ int64_t first_state() { return threadIdx.x; }
__device__ int64_t state_step() { return blockDim.x; }

template <class T>
__global__ void begin_paths(Sequences<T> s, Computed<T>* y, Computed<T>* alpha) {
  using V = Computed<T>;
  const int64_t L = s.L();
  for (int64_t n = blockIdx.x; n < s.N; n += gridDim.x) {
    V* const all = alpha + n * s.T_all * L;
    const int64_t states = s.states(n), times = s.lengths[n];
    for (int64_t t = 0; t < s.T_all; ++t) {
      const V* before = all + (t - 1) * L;
      const T* x = s.row(n, t);
      for (int64_t l = first_state(); l < L; l += state_step()) {
        V reached = never<V>();
        if (t < times && l < states) {
          if (t == 0) {
            reached = l < 2 ? V(0) : never<V>();
          } else {
            reached = log_add(before[l], l > 0 ? before[l - 1] : never<V>(),
                              s.skips_to(n, l) ? before[l - 2] : never<V>());
          }
          reached += upcast(x[s.label(n, l)]);
        }
        all[t * L + l] = reached;
      }
      __syncthreads();
    }
    if (threadIdx.x != 0) continue;
    if (times == 0) {
      y[n] = states == 1 ? V(0) : -never<V>();  // with no time steps, only the empty path
    } else {
      const V* last = all + (times - 1) * L + states - 1;
      y[n] = -log_add(last[0], states > 1 ? last[-1] : never<V>(), never<V>());
    }
  }
}

/// Scratch memory of the gradient, for each sequence.
template <class V>
struct Lines {
  V *beta, *share;  // [N,2,L], [N,L]
  int32_t* next;    // [N,L]: next state with the same label, L if none; n is stored as -1 - n
                    // except in a label's first state
};

template <class T>
__global__ void differentiate(Sequences<T> s, Lines<Computed<T>> lines, T* dx, const Computed<T>* g,
                              int64_t g_stride, const Computed<T>* y, const Computed<T>* alpha) {
  using V = Computed<T>;
  const int64_t L = s.L();
  for (int64_t n = blockIdx.x; n < s.N; n += gridDim.x) {
    const int64_t states = s.states(n), times = s.lengths[n];
    V *const beta = lines.beta + n * 2 * L, *const share = lines.share + n * L;
    int32_t* const next = lines.next + n * L;
    for (int64_t l = first_state(); l < states; l += state_step()) {
      const int64_t label = s.label(n, l);
      int64_t later = l + 1, earlier = l - 1;
      while (later < states && s.label(n, later) != label) ++later;
      while (earlier >= 0 && s.label(n, earlier) != label) --earlier;
      const auto link = static_cast<int32_t>(later < states ? later : L);
      next[l] = earlier < 0 ? link : -1 - link;
    }
    const V loss = y[n], factor = g[n * g_stride];
    const bool possible = loss != -never<V>();
    for (int64_t t = s.T_all - 1; t >= 0; --t) {
      V *const now = beta + t % 2 * L, *const after = beta + (t + 1) % 2 * L;
      T* const to = dx + (t * s.N + n) * s.C;
      const T* const x = s.row(n, t);
      for (int64_t c = first_state(); c < s.C; c += state_step()) {
        to[c] = downcast<T>(t < times ? factor * std::exp(upcast(x[c])) : V(0));
      }
      if (t >= times || !possible) continue;
      for (int64_t l = first_state(); l < states; l += state_step()) {
        const V each = upcast(x[s.label(n, l)]);
        V reached = l + 2 >= states ? V(0) : never<V>();
        if (t + 1 < times) {
          reached = log_add(after[l], l + 1 < states ? after[l + 1] : never<V>(),
                            s.skips_to(n, l + 2) ? after[l + 2] : never<V>());
        }
        now[l] = reached + each;
        // Both factors include the state's own probability; divide it out, unless it is 0.
        const V begun = alpha[(n * s.T_all + t) * L + l];
        share[l] = each == never<V>() ? V(0) : std::exp(begun + now[l] + (loss - each));
      }
      __syncthreads();
      for (int64_t l = first_state(); l < states; l += state_step()) {
        if (next[l] < 0) continue;
        V sum = share[l];
        for (int64_t at = next[l]; at < L; at = -1 - next[at]) sum += share[at];
        const int64_t c = s.label(n, l);
        to[c] = downcast<T>(factor * std::exp(upcast(x[c])) - factor * sum);
      }
      __syncthreads();
    }
  }
}

template <class T>
Sequences<T> sequences_of(const Tensor& x, const Tensor& target, const Tensor& lengths,
                          const Tensor& target_lengths, int64_t blank) {
  return {x.size(0),
          x.size(1),
          x.size(2),
          target.size(1),
          blank,
          x.data_ptr<T>(),
          target.data_ptr<int64_t>(),
          lengths.data_ptr<int64_t>(),
          target_lengths.data_ptr<int64_t>(),
          Call::stream().gpu.faults().sink(Call::op())};
}

}  // namespace

void ctc_loss(Tensor& y, Tensor& alpha, const Tensor& x, const Tensor& target,
              const Tensor& lengths, const Tensor& target_lengths, int64_t blank) {
  const int64_t N = y.numel();
  if (N == 0) return;
  UpcastOperand losses = UpcastOperand::for_output(y), paths = UpcastOperand::for_output(alpha);
  visit<dtypes::kAnyFloating>(x.dtype(), [&]<class T>() {
    launch(begin_paths<T>, grid_for(N * kThreads),
           sequences_of<T>(x, target, lengths, target_lengths, blank), losses.data<Computed<T>>(),
           paths.data<Computed<T>>());
  });
  losses.write_back();
  paths.write_back();
}

void ctc_loss_grad(Tensor& dx, const Tensor& g, const Tensor& x, const Tensor& target,
                   const Tensor& lengths, const Tensor& target_lengths, const Tensor& y,
                   const Tensor& alpha, int64_t blank) {
  if (dx.numel() == 0) return;
  const auto places = static_cast<size_t>(alpha.size(0) * alpha.size(2));  // N * L
  const UpcastOperand factors(g), losses(y), paths(alpha);
  visit<dtypes::kAnyFloating>(dx.dtype(), [&]<class T>() {
    using V = Computed<T>;
    const Workspace beta(2 * places * sizeof(V)), share(places * sizeof(V)),
        next(places * sizeof(int32_t));
    launch(differentiate<T>, grid_for(dx.size(1) * kThreads),
           sequences_of<T>(x, target, lengths, target_lengths, blank),
           Lines<V>{beta.as<V>(), share.as<V>(), next.as<int32_t>()}, dx.data_ptr<T>(),
           factors.data<V>(), factors.stride(0), losses.data<V>(), paths.data<V>());
  });
}

}  // namespace ambit::cuda
