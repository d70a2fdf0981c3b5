// Connectionist temporal classification. The labels of a sequence with blanks between them and at
// both ends are L = 2 S + 1 states; at each time step a path stays, advances by one state, or by
// two to skip a blank between different labels. The composite processes each time step for all
// sequences at once. Source: Graves et al. 2006, sections 4 and 4.1; the gradient is its equation
// 16.
#include <ambit/autograd.h>
#include <ambit/backend/kernels.h>
#include <ambit/detail/autocast.h>
#include <ambit/detail/record.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/index.h>
#include <ambit/ops/loss.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/ops/composite.h"
#include "core/ops/operands/allocate.h"
#include "core/ops/operands/expect.h"
#include "core/ops/operands/operand_grad.h"
#include "core/ops/operands/unrecorded.h"

namespace ambit {
namespace {

constexpr const char* kOp = "ctc_loss";
constexpr double kNever = -std::numeric_limits<double>::infinity();  // the logarithm of 0

// Time-independent data of N sequences.
struct States {
  Tensor lengths, target_lengths;  // int64 [N]
  Tensor labels;                   // int64 [N,L], blank after a sequence's last state
  Tensor skips;  // [N,L]: 0 where a path may skip to this state from two before, else kNever
  Tensor ends;   // [N,L]: 0 at the two states in which a path may end, else kNever
  Tensor past;   // bool [T,N,1]: time steps after a sequence's end
};

Tensor on_device(const std::vector<int64_t>& numbers, IntArrayRef sizes, Device device) {
  return tensor(numbers, TensorOptions(kInt64).device(kCPU)).reshape(sizes).to(device);
}

// Return int64 [N,S]: row n's labels, then padding. Targets in one list are concatenated.
Tensor labels_of(const Tensor& targets, IntArrayRef lengths) {
  const auto n = static_cast<int64_t>(lengths.size());
  const int64_t longest = n > 0 ? *std::max_element(lengths.begin(), lengths.end()) : 0;
  if (targets.dim() == 2) return targets.narrow(1, 0, longest).to(kInt64).contiguous();
  if (targets.numel() == 0) return zeros({n, longest}, targets.options().dtype(kInt64));
  std::vector<int64_t> places;
  int64_t begin = 0;
  for (const int64_t length : lengths) {
    for (int64_t j = 0; j < longest; ++j) places.push_back(j < length ? begin + j : 0);
    begin += length;
  }
  return index_select(targets.to(kInt64), 0, on_device(places, {n * longest}, targets.device()))
      .view({n, longest});
}

States make_states(const Tensor& x, const Tensor& target, const Tensor& lengths,
                   const Tensor& target_lengths, int64_t blank) {
  States s{lengths, target_lengths, {}, {}, {}, {}};
  const int64_t n = x.size(1), times = x.size(0), longest = target.size(1);
  const TensorOptions numbers = lengths.options();
  const Tensor lasts = target_lengths.view({n, 1});
  const Tensor labels = where(arange(longest, numbers).view({1, longest}) < lasts, target, blank);
  const Tensor blanks = full({n, longest + 1}, blank, numbers);
  s.labels = cat({stack({blanks.narrow(1, 0, longest), labels}, 2).view({n, 2 * longest}),
                  blanks.narrow(1, 0, 1)},
                 1);
  const auto allowed = [&](const Tensor& where_true) {
    return zeros(where_true.sizes(), x.options()).masked_fill(logical_not(where_true), kNever);
  };
  const int64_t states = 2 * longest + 1;
  s.skips = full({n, states}, kNever, x.options());
  if (longest > 0) {
    s.skips.narrow(1, 2, states - 2)
        .copy_(allowed(s.labels.narrow(1, 2, states - 2) != s.labels.narrow(1, 0, states - 2)));
  }
  const Tensor state = arange(states, numbers).view({1, states}), last = lasts * 2;
  s.ends = allowed(logical_or(state == last, state == last - 1));
  s.past = arange(times, numbers).view({times, 1, 1}) >= lengths.view({1, n, 1});
  return s;
}

// Return the log-probability of each state's label: x [T,N,C] -> [T,N,L].
Tensor of_states(const Tensor& x, const States& s) {
  return gather(x, 2, s.labels.unsqueeze(0).expand({x.size(0), x.size(1), s.labels.size(1)}));
}

// Compute one time step of all sequences from the states in `from` [N, L+2]. Its slices at offsets
// 0, 1, 2 (backward) or 2, 1, 0 (forward) are for staying, advancing and skipping.
Tensor step(const Tensor& from, bool forward, const Tensor& skips) {
  const int64_t states = skips.size(1);
  const auto shifted = [&](int64_t by) { return from.narrow(1, forward ? 2 - by : by, states); };
  return logaddexp(logaddexp(shifted(0), shifted(1)), shifted(2) + skips);
}

// alpha[t, n, l]: the log-probability of all path prefixes up to time t, included, that end in
// state l. [T, N, L+2], with two impossible states in front.
Tensor beginnings(const Tensor& each, const States& s) {
  const int64_t times = each.size(0), n = each.size(1), states = each.size(2);
  Tensor alpha = full({times, n, states + 2}, kNever, each.options());
  if (times == 0) return alpha;
  // A path may start as if it came from a blank before the first state.
  Tensor before = full({n, states + 2}, kNever, each.options());
  before.narrow(1, 2, 1).fill_(0);
  const auto write = [&](int64_t t, const Tensor& reached) {
    alpha.select(0, t).narrow(1, 2, states).copy_(reached + each.select(0, t));
  };
  // State 1 is a possible start too, state 2 is not: there is no label before it to skip from.
  write(0, logaddexp(before.narrow(1, 2, states), before.narrow(1, 1, states)));
  for (int64_t t = 1; t < times; ++t) write(t, step(alpha.select(0, t - 1), true, s.skips));
  return alpha;
}

// beta[t, n, l]: the log-probability of all path suffixes from time t on that start in state l. [T,
// N, L+2], with two impossible states at the end.
Tensor endings(const Tensor& each, const States& s) {
  const int64_t times = each.size(0), n = each.size(1), states = each.size(2);
  Tensor beta = full({times, n, states + 2}, kNever, each.options());
  Tensor skips =
      full({n, states}, kNever, each.options());  // skips by the state in which they start
  if (states > 2) skips.narrow(1, 0, states - 2).copy_(s.skips.narrow(1, 2, states - 2));
  for (int64_t t = times - 1; t >= 0; --t) {
    Tensor reached = s.ends;
    if (t + 1 < times) {
      const Tensor after = step(beta.select(0, t + 1), false, skips);
      reached = where(s.past.select(0, t + 1), s.ends, after);
    }
    beta.select(0, t).narrow(1, 0, states).copy_(reached + each.select(0, t));
  }
  return beta;
}

// Return the losses [N] from alpha [N,T,L].
Tensor losses(const Tensor& alpha, const States& s) {
  const int64_t n = alpha.size(0), times = alpha.size(1), states = alpha.size(2);
  // Without time steps there is one path, which has no labels.
  const Tensor without = where(s.target_lengths == 0, zeros({n}, alpha.options()), -kNever);
  if (times == 0) return without;
  const Tensor at = clamp(s.lengths - 1, 0).view({n, 1, 1}).expand({n, 1, states});
  return where(s.lengths == 0, without, -logsumexp(gather(alpha, 1, at).squeeze(1) + s.ends, {1}));
}

void check_lengths(const char* what, IntArrayRef lengths, int64_t n, int64_t most) {
  if (static_cast<int64_t>(lengths.size()) != n) {
    throw ShapeError(
        fmt::format("ctc_loss: expected {} of {} sequences, got {}", what, n, lengths.size()));
  }
  for (const int64_t length : lengths) {
    if (length < 0 || length > most) {
      throw ShapeError(fmt::format("ctc_loss: expected {} in [0, {}], got {}", what, most, length));
    }
  }
}

void check(const Tensor& x, const Tensor& targets, IntArrayRef input_lengths,
           IntArrayRef target_lengths, int64_t blank) {
  if (x.dim() != 2 && x.dim() != 3) {
    throw_dim(kOp, "log_probs", "[T, N, C] or [T, C]", x.sizes());
  }
  if (targets.dtype() != kInt64 && targets.dtype() != kInt32 && targets.dtype() != kUInt8) {
    throw DTypeError(fmt::format("ctc_loss: expected targets of int64, int32 or uint8, got {}",
                                 name(targets.dtype())));
  }
  const int64_t n = x.dim() == 3 ? x.size(1) : 1, classes = x.size(-1);
  if (blank < 0 || blank >= classes) {
    throw Error(fmt::format("ctc_loss: expected a blank in [0, {}), got {}", classes, blank));
  }
  const int64_t most = std::numeric_limits<int64_t>::max();
  check_lengths("input_lengths", input_lengths, n, x.size(0));
  if (targets.dim() == 2 && x.dim() == 3) {
    if (targets.size(0) != n) {
      throw ShapeError(fmt::format("ctc_loss: expected targets of {} sequences, got shape {}", n,
                                   str(targets.sizes())));
    }
    return check_lengths("target_lengths", target_lengths, n, targets.size(1));
  }
  if (targets.dim() != 1) throw_dim(kOp, "targets", "[N, S] or [sum of lengths]", targets.sizes());
  check_lengths("target_lengths", target_lengths, n, most);
  int64_t sum = 0;
  for (const int64_t length : target_lengths) {
    if (__builtin_add_overflow(sum, length, &sum)) sum = most;
  }
  if (sum != targets.size(0)) {
    throw ShapeError(
        fmt::format("ctc_loss: expected as many targets as target_lengths say, {}, got {}", sum,
                    targets.size(0)));
  }
}

// Return the losses [N] of x [T,N,C], recorded. The gradient is PyTorch's formula: its term e^x is
// not part of the loss's own gradient, but is cancelled by a preceding log_softmax, since the sum
// over classes is then 0.
Tensor each_loss(const Tensor& x, const Tensor& targets, IntArrayRef input_lengths,
                 IntArrayRef target_lengths, int64_t blank, bool zero_infinity) {
  const int64_t times = x.size(0), n = x.size(1);
  if (n == 0) return zeros({0}, x.options());
  // Never a reduced floating-point type: a loss is the difference of large numbers.
  const DType wide = x.dtype() == kFloat64 ? kFloat64 : kFloat32;
  Tensor loss = allocate(kOp, {n}, wide, x.device());
  Tensor out, alpha, target, lengths, target_sizes;
  {
    const NoGradGuard no_grad;
    const auto counted = [&](IntArrayRef each) {
      return on_device({each.begin(), each.end()}, {n}, x.device());
    };
    target = labels_of(targets, target_lengths);
    lengths = counted(input_lengths);
    target_sizes = counted(target_lengths);
    alpha = allocate(kOp, {n, times, 2 * target.size(1) + 1}, wide, x.device());
    kernels::ctc_loss(loss, alpha, dense(x), target, lengths, target_sizes, blank);
    out = (zero_infinity ? loss.masked_fill(isinf(loss), 0) : loss.clone()).to(x.dtype());
  }
  if (!needs_gradient(x)) return out;
  auto gradient = [=, x = saved(x), target = saved(target)](const Tensor& g) {
    const Tensor input = x();
    Tensor dx = allocate(kOp, input.sizes(), input.dtype(), input.device());
    {
      const NoGradGuard no_formula;
      const double lost = zero_infinity ? 0 : std::numeric_limits<double>::quiet_NaN();
      kernels::ctc_loss_grad(dx, g.masked_fill(isinf(loss), lost), dense(input), target(), lengths,
                             target_sizes, loss, alpha, blank);
    }
    const auto refuse = [](const Tensor&) -> Tensor {
      throw NotImplementedError(
          "ctc_loss: expected one backward, got a second; the second gradient is not implemented");
    };
    return record("ctc_loss_backward", std::move(dx), wrt(g, refuse), wrt(input, refuse));
  };
  return record(kOp, std::move(out), wrt(x, std::move(gradient)));
}

Dims read_lengths(const char* what, const Tensor& lengths) {
  expect_defined(kOp, what, lengths);
  if (lengths.is_floating_point() || lengths.dtype() == kBool) {
    throw DTypeError(
        fmt::format("ctc_loss: expected {} of integers, got {}", what, name(lengths.dtype())));
  }
  if (lengths.dim() > 1) throw_dim(kOp, what, "[N] or []", lengths.sizes());
  const Tensor host = lengths.to(kCPU).to(kInt64).contiguous();
  return Dims(IntArrayRef(host.data_ptr<int64_t>(), static_cast<size_t>(host.numel())));
}

}  // namespace

Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, IntArrayRef input_lengths,
                IntArrayRef target_lengths, int64_t blank, Reduction reduction,
                bool zero_infinity) {
  AMBIT_AUTOCAST(ctc_loss, log_probs, targets, input_lengths, target_lengths, blank, reduction,
                 zero_infinity)
  check_devices(kOp, {{"log_probs", log_probs}, {"targets", targets}});
  expect_floating(kOp, log_probs);
  expect_defined(kOp, "targets", targets);
  check(log_probs, targets, input_lengths, target_lengths, blank);
  const bool single = log_probs.dim() == 2;
  const Tensor x = single ? log_probs.unsqueeze(1) : log_probs;
  const Tensor y = single ? targets.unsqueeze(0) : targets;
  const Tensor each = each_loss(x, y, input_lengths, target_lengths, blank, zero_infinity);
  switch (reduction) {
    case Reduction::none:
      return single ? each.squeeze(0) : each;
    case Reduction::sum:
      return sum(each);
    case Reduction::mean:
      break;
  }
  std::vector<int64_t> lengths(target_lengths.begin(), target_lengths.end());
  for (int64_t& length : lengths) length = std::max<int64_t>(length, 1);
  const auto n = static_cast<int64_t>(lengths.size());
  return mean(each / on_device(lengths, {n}, each.device()).to(each.dtype()));
}

Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                const Tensor& target_lengths, int64_t blank, Reduction reduction,
                bool zero_infinity) {
  DeviceArg args[] = {{"log_probs", log_probs},
                      {"targets", targets},
                      {"input_lengths", input_lengths},
                      {"target_lengths", target_lengths}};
  args[2].may_be_on_cpu = args[3].may_be_on_cpu = true;
  check_devices(kOp, args, DeviceRule::in_place);
  return ctc_loss(log_probs, targets, read_lengths("input_lengths", input_lengths),
                  read_lengths("target_lengths", target_lengths), blank, reduction, zero_infinity);
}

void composite::ctc_loss(Tensor& y, Tensor& alpha, const Tensor& x, const Tensor& target,
                         const Tensor& lengths, const Tensor& target_lengths, int64_t blank) {
  const States s = make_states(x, target, lengths, target_lengths, blank);
  const int64_t states = alpha.size(2);
  const Tensor reached = beginnings(of_states(x, s), s).narrow(2, 2, states);
  const Tensor beyond =
      arange(states, lengths.options()) > (target_lengths * 2).view({-1, 1});  // [N,L]
  alpha.copy_(reached.masked_fill(logical_or(s.past, beyond), kNever).transpose(0, 1));
  y.copy_(losses(alpha, s));
}

void composite::ctc_loss_grad(Tensor& dx, const Tensor& g, const Tensor& x, const Tensor& target,
                              const Tensor& lengths, const Tensor& target_lengths, const Tensor& y,
                              const Tensor& alpha, int64_t blank) {
  const States s = make_states(x, target, lengths, target_lengths, blank);
  const Tensor each = of_states(x, s), beta = endings(each, s);
  const Tensor known = y.masked_fill(isinf(y), 0);
  // alpha and beta both include the state's own probability, which must count once. Do not subtract
  // it where it is 0: -inf - -inf is NaN.
  const Tensor paths = alpha.transpose(0, 1) + beta.narrow(2, 0, each.size(2));
  const Tensor share = exp(paths + known.unsqueeze(1) - each).masked_fill(each == kNever, 0);
  const Tensor by_class = zeros(x.sizes(), x.options())
                              .scatter_add_(2, s.labels.unsqueeze(0).expand(share.sizes()), share);
  dx.copy_(((exp(x) - by_class) * g.view({1, x.size(1), 1})).masked_fill(s.past, 0));
}

}  // namespace ambit
