// Connectionist temporal classification: x [T,N,C], target [N,S], alpha [N,T,2S+1], contiguous. The
// states of a sequence are its labels, with blanks between them and at both ends. At each time step
// a path stays, advances by one state, or by two, skipping a blank between different labels.
// Source: Graves et al. 2006, sections 4 and 4.1; the gradient is its equation 16.
#include <ambit/backend/reference.h>
#include <ambit/error.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "runs.h"

namespace ambit::reference {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

double log_add(double a, double b) {
  const double most = std::max(a, b);
  return most == kNever ? kNever : most + std::log(std::exp(a - most) + std::exp(b - most));
}

/// One sequence of the batch.
template <class T>
class Sequence {
 public:
  Sequence(const char* op, const Tensor& x, const Tensor& target, const Tensor& lengths,
           const Tensor& target_lengths, int64_t blank, int64_t n)
      : times(lengths.data_ptr<int64_t>()[n]),
        states(2 * target_lengths.data_ptr<int64_t>()[n] + 1),
        x_(x.data_ptr<T>() + n * x.size(2)),
        step_(x.size(1) * x.size(2)),
        labels_(target.data_ptr<int64_t>() + n * target.size(1)),
        blank_(blank) {
    for (int64_t l = 1; l < states; l += 2) {
      if (label(l) >= 0 && label(l) < x.size(2)) continue;
      throw IndexError(
          fmt::format("{}: expected a target in [0, {}), got {}", op, x.size(2), label(l)));
    }
  }
  int64_t label(int64_t state) const { return state % 2 == 1 ? labels_[state / 2] : blank_; }
  /// Return the log-probability of a state's label.
  double at(int64_t time, int64_t state) const {
    return static_cast<double>(x_[time * step_ + label(state)]);
  }
  /// Return true if a path may enter the state from the state two before it.
  bool skips_to(int64_t state) const {
    return state >= 2 && state < states && label(state) != label(state - 2);
  }
  bool may_end(int64_t state) const { return state >= states - 2; }

  int64_t times, states;

 private:
  const T* x_;
  int64_t step_;
  const int64_t* labels_;
  int64_t blank_;
};

/// Return beta [times, states]: the log-probability of all continuations of paths that are in a
/// state at a time.
template <class T>
std::vector<double> endings(const Sequence<T>& s) {
  std::vector<double> beta(static_cast<size_t>(s.times * s.states), kNever);
  const auto at = [&](int64_t t, int64_t l) -> double& {
    return beta[static_cast<size_t>(t * s.states + l)];
  };
  for (int64_t t = s.times - 1; t >= 0; --t) {
    for (int64_t l = 0; l < s.states; ++l) {
      double sum = kNever;
      if (t == s.times - 1) {
        sum = s.may_end(l) ? 0 : kNever;
      } else {
        sum = at(t + 1, l);
        if (l + 1 < s.states) sum = log_add(sum, at(t + 1, l + 1));
        if (s.skips_to(l + 2)) sum = log_add(sum, at(t + 1, l + 2));
      }
      at(t, l) = sum + s.at(t, l);
    }
  }
  return beta;
}

}  // namespace

void ctc_loss(Tensor& y, Tensor& alpha, const Tensor& x, const Tensor& target,
              const Tensor& lengths, const Tensor& target_lengths, int64_t blank) {
  count_run();
  const int64_t N = x.size(1), times = alpha.size(1), states = alpha.size(2);
  visit<dtypes::kFloating>(y.dtype(), [&]<class T>() {
    std::vector<Sequence<T>> sequences;
    for (int64_t n = 0; n < N; ++n) {
      sequences.emplace_back("ctc_loss", x, target, lengths, target_lengths, blank, n);
    }
    for (int64_t n = 0; n < N; ++n) {
      const Sequence<T>& s = sequences[static_cast<size_t>(n)];
      T* to = alpha.data_ptr<T>() + n * times * states;
      std::fill_n(to, times * states, static_cast<T>(kNever));
      std::vector<double> now(static_cast<size_t>(s.states), kNever), before = now;
      for (int64_t t = 0; t < s.times; ++t, before = now) {
        for (int64_t l = 0; l < s.states; ++l) {
          const auto i = static_cast<size_t>(l);
          double sum = t == 0 && l < 2 ? 0 : before[i];
          if (t > 0 && l > 0) sum = log_add(sum, before[i - 1]);
          if (t > 0 && s.skips_to(l)) sum = log_add(sum, before[i - 2]);
          now[i] = sum + s.at(t, l);
          to[t * states + l] = static_cast<T>(now[i]);
        }
      }
      double all = s.times == 0 && s.states == 1 ? 0 : kNever;  // no times: the empty path
      for (int64_t l = 0; l < s.states && s.times > 0; ++l) {
        if (s.may_end(l)) all = log_add(all, before[static_cast<size_t>(l)]);
      }
      y.data_ptr<T>()[n] = static_cast<T>(-all);
    }
  });
}

void ctc_loss_grad(Tensor& dx, const Tensor& g, const Tensor& x, const Tensor& target,
                   const Tensor& lengths, const Tensor& target_lengths, const Tensor& y,
                   const Tensor& alpha, int64_t blank) {
  count_run();
  const int64_t N = x.size(1), C = x.size(2), times = alpha.size(1), states = alpha.size(2);
  visit<dtypes::kFloating>(dx.dtype(), [&]<class T>() {
    std::vector<double> share(static_cast<size_t>(C));  // probability of the paths, by class
    for (int64_t n = 0; n < N; ++n) {
      const Sequence<T> s("ctc_loss_grad", x, target, lengths, target_lengths, blank, n);
      const std::vector<double> beta = endings(s);
      const auto loss = static_cast<double>(y.data_ptr<T>()[n]);
      const auto factor = static_cast<double>(g.data_ptr<T>()[n * g.strides()[0]]);
      for (int64_t t = 0; t < times; ++t) {
        T* to = dx.data_ptr<T>() + (t * N + n) * C;
        const T* px = x.data_ptr<T>() + (t * N + n) * C;
        std::fill_n(to, C, T(0));
        if (t >= s.times) continue;
        std::fill(share.begin(), share.end(), 0);
        for (int64_t l = 0; l < s.states && !std::isinf(loss); ++l) {
          // Both factors include the state's own probability; divide it out, unless it is 0.
          if (s.at(t, l) == kNever) continue;
          const auto begun = static_cast<double>(alpha.data_ptr<T>()[(n * times + t) * states + l]);
          share[static_cast<size_t>(s.label(l))] +=
              std::exp(begun + beta[static_cast<size_t>(t * s.states + l)] + loss - s.at(t, l));
        }
        for (int64_t c = 0; c < C; ++c) {
          to[c] = static_cast<T>(
              factor * (std::exp(static_cast<double>(px[c])) - share[static_cast<size_t>(c)]));
        }
      }
    }
  });
}

}  // namespace ambit::reference
