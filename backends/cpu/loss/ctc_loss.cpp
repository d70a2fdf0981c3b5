// Connectionist temporal classification: x [T,N,C], target [N,S], alpha [N,T,L], L = 2 S + 1
// states. Threads share the sequences; each time step processes a vector of states at once. Source:
// Graves et al. 2006, sections 4 and 4.1; the gradient is its equation 16.
#include "backends/cpu/runtime/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/loss/ctc_loss.cpp"
#include <ambit/error.h>
#include <fmt/format.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "backends/cpu/kernels.h"
#include "backends/cpu/norm/softmax_line-inl.h"
#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/runtime/scratch.h"
#include "ctc_call.h"

HWY_BEFORE_NAMESPACE();
namespace ambit::cpu::HWY_NAMESPACE {
namespace {

template <class T>
inline constexpr T kNever = -std::numeric_limits<T>::infinity();

/// One sequence: its states, and lines of states with one vector of padding on both sides.
template <class T>
class Sequence {
 public:
  explicit Sequence(const CtcCall& c)
      : C(c.x.size(2)),
        step_(c.x.size(1) * C),
        call_(c),
        room_(2 * c.target.size(1) + 1 + 2 * kPad),
        scratch_(static_cast<size_t>(kLines * room_) * sizeof(T)),
        labels_(static_cast<size_t>(2 * c.target.size(1) + 1), c.blank) {}

  void take(int64_t n) {
    times = call_.lengths.data_ptr<int64_t>()[n];
    const int64_t S = call_.target.size(1);
    states = 2 * call_.target_lengths.data_ptr<int64_t>()[n] + 1;
    const int64_t* target = call_.target.data_ptr<int64_t>() + n * S;
    for (int64_t l = 1; l < states; l += 2) labels_[static_cast<size_t>(l)] = target[l / 2];
    x_ = call_.x.data_ptr<T>() + n * C;
    for (int64_t i = 0; i < kLines; ++i) std::fill_n(line(i) - kPad, room_, kNever<T>);
    for (int64_t l = 3; l < states; l += 2) {
      if (label(l) != label(l - 2)) skips_to()[l] = skips_from()[l - 2] = 0;
    }
  }
  int64_t label(int64_t l) const { return labels_[static_cast<size_t>(l)]; }
  const T* row(int64_t t) const { return x_ + t * step_; }
  /// 0 if a path may enter a state from two states before (skips_to), or leave it to two states
  /// after (skips_from); else kNever.
  T* skips_to() const { return line(0); }
  T* skips_from() const { return line(1); }
  /// Return the log-probabilities of the states' labels at a time.
  const T* labels_at(int64_t t) const {
    const T* x = row(t);
    T* to = line(2);
    for (int64_t l = 0; l < states; ++l) to[l] = x[label(l)];
    return to;
  }
  /// Return one of two lines that are used alternately over time.
  T* line_of(int64_t t) const { return line(3 + t % 2); }
  T* spare() const { return line(5); }

  /// to[l] = log(e^from[l] + e^from[l + by] + e^(from[l + 2 by] + skips[l])) + each[l]
  void advance(T* to, const T* from, int64_t by, const T* skips, const T* each) const {
    const hn::ScalableTag<T> d;
    const auto none = constant(d, kNever<T>);
    for (int64_t l = 0; l < states; l += lanes()) {
      const auto a = hn::LoadU(d, from + l), b = hn::LoadU(d, from + l + by);
      const auto c = hn::Add(hn::LoadU(d, from + l + 2 * by), hn::LoadU(d, skips + l));
      const auto top = hn::Max(a, hn::Max(b, c));
      const auto shift = hn::IfThenZeroElse(hn::Eq(top, none), top);
      auto sum = exp_nonpositive(d, hn::Sub(a, shift));
      sum = hn::Add(sum, exp_nonpositive(d, hn::Sub(b, shift)));
      sum = hn::Add(sum, exp_nonpositive(d, hn::Sub(c, shift)));
      const auto y = hn::Add(hn::Add(Log()(d, sum), shift), hn::LoadU(d, each + l));
      store(y, d, to + l, states - l);
    }
  }
  /// to[l] = e^(a[l] + b[l] - (each[l] - loss)), 0 where each[l] is kNever.
  void shares(T* to, const T* a, const T* b, const T* each, T loss) const {
    const hn::ScalableTag<T> d;
    for (int64_t l = 0; l < states; l += lanes()) {
      const auto own = hn::LoadU(d, each + l);
      const auto paths = hn::Add(load(d, a + l, states - l), hn::LoadU(d, b + l));
      const auto share = Exp()(d, hn::Sub(paths, hn::Sub(own, constant(d, loss))));
      hn::StoreU(hn::IfThenZeroElse(hn::Eq(own, constant(d, kNever<T>)), share), d, to + l);
    }
  }
  int64_t C, times = 0, states = 0;

 private:
  static constexpr int64_t kPad = static_cast<int64_t>(hn::MaxLanes(hn::ScalableTag<T>())) + 2;
  static constexpr int64_t kLines = 6;
  static int64_t lanes() { return static_cast<int64_t>(hn::Lanes(hn::ScalableTag<T>())); }
  T* line(int64_t i) const { return scratch_.data<T>() + i * room_ + kPad; }

  int64_t step_;
  const CtcCall& call_;
  int64_t room_;
  Scratch scratch_;
  std::vector<int64_t> labels_;
  const T* x_ = nullptr;
};

/// Compute alpha [T,L] of one sequence; return the loss.
template <class T>
T begin_paths(const Sequence<T>& s, T* alpha, int64_t T_all, int64_t L) {
  std::fill_n(alpha, T_all * L, kNever<T>);
  if (s.times == 0) return s.states == 1 ? T(0) : -kNever<T>;  // the empty path, or none
  const T* each = s.labels_at(0);
  for (int64_t l = 0; l < std::min<int64_t>(2, s.states); ++l) s.line_of(0)[l] = each[l];
  std::copy_n(s.line_of(0), s.states, alpha);
  for (int64_t t = 1; t < s.times; ++t) {
    s.advance(s.line_of(t), s.line_of(t - 1), -1, s.skips_to(), s.labels_at(t));
    std::copy_n(s.line_of(t), s.states, alpha + t * L);
  }
  const T* last = s.line_of(s.times - 1) + s.states;
  const T a = last[-1], b = s.states > 1 ? last[-2] : kNever<T>, top = std::max(a, b);
  if (top == kNever<T>) return -kNever<T>;
  return -(top + std::log(std::exp(a - top) + std::exp(b - top)));
}

/// Compute dx of one sequence, whose rows are `step` apart.
template <class T>
void differentiate(const Sequence<T>& s, const T* alpha, T loss, T factor, T* dx, int64_t T_all,
                   int64_t step, int64_t L) {
  const bool possible = !std::isinf(loss);
  for (int64_t t = s.times; t < T_all; ++t) std::fill_n(dx + t * step, s.C, T(0));
  for (int64_t t = s.times - 1; t >= 0; --t) {
    T *to = dx + t * step, *beta = s.line_of(t);
    const T* each = s.labels_at(t);
    vector_unary<T, Exp>(s.C, to, s.row(t));
    if (possible) {
      if (t == s.times - 1) {
        for (int64_t l = std::max<int64_t>(0, s.states - 2); l < s.states; ++l) beta[l] = each[l];
      } else {
        s.advance(beta, s.line_of(t + 1), 1, s.skips_from(), each);
      }
      s.shares(s.spare(), alpha + t * L, beta, each, loss);
      for (int64_t l = 0; l < s.states; ++l) to[s.label(l)] -= s.spare()[l];
    }
#pragma omp simd
    for (int64_t c = 0; c < s.C; ++c) to[c] *= factor;
  }
}

void forward(Tensor& y, Tensor& alpha, const CtcCall& c) {
  const int64_t times = alpha.size(1), L = alpha.size(2);
  visit<dtypes::kFloating>(y.dtype(), [&]<class T>() {
    parallel_for(y.size(0), grain_for(times * L * 16), [&](int64_t begin, int64_t end) {
      Sequence<T> s(c);
      for (int64_t n = begin; n < end; ++n) {
        s.take(n);
        y.data_ptr<T>()[n] = begin_paths(s, alpha.data_ptr<T>() + n * times * L, times, L);
      }
    });
  });
}

void backward(Tensor& dx, const Tensor& g, const Tensor& y, const Tensor& alpha, const CtcCall& c) {
  const int64_t N = dx.size(1), C = dx.size(2), times = alpha.size(1), L = alpha.size(2);
  visit<dtypes::kFloating>(dx.dtype(), [&]<class T>() {
    parallel_for(N, grain_for(times * (L * 16 + C * 4)), [&](int64_t begin, int64_t end) {
      Sequence<T> s(c);
      for (int64_t n = begin; n < end; ++n) {
        s.take(n);
        differentiate(s, alpha.data_ptr<T>() + n * times * L, y.data_ptr<T>()[n],
                      g.data_ptr<T>()[n * g.strides()[0]], dx.data_ptr<T>() + n * C, times, N * C,
                      L);
      }
    });
  });
}

}  // namespace
}  // namespace ambit::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ambit::cpu {
namespace {

/// Check the labels before anything is written.
void check_labels(const char* op, const CtcCall& c) {
  const int64_t C = c.x.size(2), S = c.target.size(1);
  for (int64_t n = 0; n < c.target.size(0); ++n) {
    for (int64_t l = 0; l < c.target_lengths.data_ptr<int64_t>()[n]; ++l) {
      const int64_t label = c.target.data_ptr<int64_t>()[n * S + l];
      if (label >= 0 && label < C) continue;
      throw IndexError(fmt::format("{}: expected a target in [0, {}), got {}", op, C, label));
    }
  }
}

}  // namespace

HWY_EXPORT(forward);
HWY_EXPORT(backward);

void ctc_loss(Tensor& y, Tensor& alpha, const Tensor& x, const Tensor& target,
              const Tensor& lengths, const Tensor& target_lengths, int64_t blank) {
  const CtcCall c{x, target, lengths, target_lengths, blank};
  check_labels("ctc_loss", c);
  HWY_DYNAMIC_DISPATCH(forward)(y, alpha, c);
}

void ctc_loss_grad(Tensor& dx, const Tensor& g, const Tensor& x, const Tensor& target,
                   const Tensor& lengths, const Tensor& target_lengths, const Tensor& y,
                   const Tensor& alpha, int64_t blank) {
  const CtcCall c{x, target, lengths, target_lengths, blank};
  check_labels("ctc_loss_grad", c);
  HWY_DYNAMIC_DISPATCH(backward)(dx, g, y, alpha, c);
}

}  // namespace ambit::cpu
#endif
