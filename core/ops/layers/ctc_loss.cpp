// Connectionist temporal classification. The labels of a sequence with blanks between them and at
// both ends are L = 2 S + 1 states; a path through time stays, goes on by one state, or by two
// where that skips a blank between different labels. Each step of time is one step for all
// sequences. Source: Graves et al. 2006, sections 4 and 4.1; the gradient is its equation 16.
#include <ambit/autograd.h>
#include <ambit/backend/op.h>
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

#include "core/ops/operands/expect.h"
#include "core/ops/operands/operand_grad.h"

namespace ambit {
namespace {

constexpr const char* kOp = "ctc_loss";
constexpr double kNever = -std::numeric_limits<double>::infinity();  // the logarithm of 0

// What does not change with time, of N sequences.
struct States {
  Dims input_lengths, target_lengths;
  Tensor labels;  // int64 [N,L], blank behind a sequence's last state
  Tensor skips;   // [N,L]: 0 where a path may come from two states before, else kNever
  Tensor ends;    // [N,L]: 0 at the two states that a path may end in, else kNever
  Tensor past;    // bool [T,N,1]: the times behind a sequence's end
};

Tensor on_device(const std::vector<int64_t>& numbers, IntArrayRef sizes, Device device) {
  return tensor(numbers, TensorOptions(kInt64)).reshape(sizes).to(device);
}

// int64 [N,S]: row n's labels, then blanks. Targets of all sequences stand behind each other, row n
// from `row * n` on or, of lists behind each other, behind the lists before.
Tensor padded_labels(const Tensor& targets, const Dims& lengths, int64_t longest, int64_t blank) {
  const auto n = static_cast<int64_t>(lengths.size());
  const bool listed = targets.dim() == 1;
  std::vector<int64_t> places, known;
  int64_t begin = 0;
  for (int64_t i = 0; i < n; ++i) {
    const int64_t length = lengths[static_cast<size_t>(i)];
    if (!listed) begin = i * targets.size(1);
    for (int64_t j = 0; j < longest; ++j) {
      places.push_back(j < length ? begin + j : 0);
      known.push_back(j < length);
    }
    if (listed) begin += length;
  }
  const Device device = targets.device();
  const Tensor flat = targets.reshape({-1}).to(kInt64);
  if (longest == 0 || flat.numel() == 0) {
    return full({n, longest}, blank, TensorOptions(kInt64).device(device));
  }
  const Tensor found = index_select(flat, 0, on_device(places, {n * longest}, device));
  return where(on_device(known, {n, longest}, device) != 0, found.view({n, longest}), blank);
}

States make_states(const Tensor& x, const Tensor& targets, IntArrayRef input_lengths,
                   IntArrayRef target_lengths, int64_t blank) {
  States s{Dims(input_lengths), Dims(target_lengths), {}, {}, {}, {}};
  const int64_t n = x.size(1), times = x.size(0);
  const int64_t longest =
      n > 0 ? *std::max_element(target_lengths.begin(), target_lengths.end()) : 0;
  const TensorOptions numbers = TensorOptions(kInt64).device(x.device());
  const Tensor labels = padded_labels(targets, s.target_lengths, longest, blank);
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
  const std::vector<int64_t> ends(target_lengths.begin(), target_lengths.end()),
      times_of(input_lengths.begin(), input_lengths.end());
  const Tensor last = on_device(ends, {n, 1}, x.device()) * 2;
  const Tensor state = arange(states, numbers).view({1, states});
  s.ends = allowed(logical_or(state == last, state == last - 1));
  s.past = arange(times, numbers).view({times, 1, 1}) >= on_device(times_of, {1, n, 1}, x.device());
  return s;
}

// The log-probability of each state's label: x [T,N,C] -> [T,N,L].
Tensor of_states(const Tensor& x, const States& s) {
  return gather(x, 2, s.labels.unsqueeze(0).expand({x.size(0), x.size(1), s.labels.size(1)}));
}

// One step of all sequences, from states in `from` [N, L+2], of which `first`, 1 and 2 (or 1 and 0)
// on are those of staying, going on, and skipping.
Tensor step(const Tensor& from, bool forward, const Tensor& skips) {
  const int64_t states = skips.size(1);
  const auto shifted = [&](int64_t by) { return from.narrow(1, forward ? 2 - by : by, states); };
  return logaddexp(logaddexp(shifted(0), shifted(1)), shifted(2) + skips);
}

// alpha[t, n, l]: the logarithm of the probability of all beginnings of paths, up to and with time
// t, that are in state l then. [T, N, L+2], two impossible states in front.
Tensor beginnings(const Tensor& each, const States& s) {
  const int64_t times = each.size(0), n = each.size(1), states = each.size(2);
  Tensor alpha = full({times, n, states + 2}, kNever, each.options());
  if (times == 0) return alpha;
  // A path may begin as if it came from a blank before the first state.
  Tensor before = full({n, states + 2}, kNever, each.options());
  before.narrow(1, 2, 1).fill_(0);
  const auto write = [&](int64_t t, const Tensor& reached) {
    alpha.select(0, t).narrow(1, 2, states).copy_(reached + each.select(0, t));
  };
  // State 1 may begin, too, and state 2 not by a skip: no label is before it.
  write(0, logaddexp(before.narrow(1, 2, states), before.narrow(1, 1, states)));
  for (int64_t t = 1; t < times; ++t) write(t, step(alpha.select(0, t - 1), true, s.skips));
  return alpha;
}

// beta[t, n, l]: likewise of all ends from time t on, with it. [T, N, L+2], two states behind.
Tensor endings(const Tensor& each, const States& s) {
  const int64_t times = each.size(0), n = each.size(1), states = each.size(2);
  Tensor beta = full({times, n, states + 2}, kNever, each.options());
  Tensor skips = full({n, states}, kNever, each.options());  // by where they lead from
  if (states > 2) skips.narrow(1, 0, states - 2).copy_(s.skips.narrow(1, 2, states - 2));
  for (int64_t t = times - 1; t >= 0; --t) {
    const auto ends_now = [&](int64_t length) { return length == t + 1; };
    Tensor reached = t + 1 < times ? step(beta.select(0, t + 1), false, skips) : s.ends;
    if (t + 1 < times && std::any_of(s.input_lengths.begin(), s.input_lengths.end(), ends_now)) {
      reached = where(s.past.select(0, t + 1), s.ends, reached);
    }
    beta.select(0, t).narrow(1, 0, states).copy_(reached + each.select(0, t));
  }
  return beta;
}

// The losses [N], of beginnings alpha.
Tensor losses(const Tensor& alpha, const States& s) {
  const auto n = static_cast<int64_t>(s.input_lengths.size());
  const int64_t states = alpha.size(2) - 2;
  std::vector<int64_t> rows, empty_losses;
  bool any_empty = false;
  for (int64_t i = 0; i < n; ++i) {
    const int64_t length = s.input_lengths[static_cast<size_t>(i)];
    rows.push_back(std::max<int64_t>(length - 1, 0) * n + i);
    // Without time there is one path, that of no labels. 0: there is time.
    empty_losses.push_back(length > 0 ? 0 : s.target_lengths[static_cast<size_t>(i)] == 0 ? 1 : 2);
    any_empty |= length == 0;
  }
  if (n == 0) return zeros({0}, alpha.options());
  Tensor out;
  if (alpha.size(0) > 0) {
    const Tensor last = index_select(alpha.narrow(2, 2, states).reshape({-1, states}), 0,
                                     on_device(rows, {n}, alpha.device()));
    out = -logsumexp(last + s.ends, {1});
  } else {
    out = zeros({n}, alpha.options());
  }
  if (!any_empty) return out;
  const Tensor empty = on_device(empty_losses, {n}, alpha.device());
  return out.masked_fill(empty == 1, 0).masked_fill(empty == 2, -kNever);
}

// e^x less the probability of each class at each time, given that the path is one of the target's;
// PyTorch's formula: e^x, without which it is the gradient of the loss alone, is what log_softmax
// in front takes off again, whose sum over classes is then 0.
Tensor grad(const Tensor& g, const Tensor& x, const Tensor& alpha, const Tensor& loss,
            const States& s, bool zero_infinity) {
  const Tensor each = of_states(x, s), beta = endings(each, s);
  const int64_t states = each.size(2);
  const Tensor impossible = isinf(loss), known = loss.masked_fill(impossible, 0);
  // Both have the state's own probability, which counts once. Not where it is 0: -inf less -inf.
  const Tensor paths = alpha.narrow(2, 2, states) + beta.narrow(2, 0, states);
  const Tensor share = exp(paths + known.unsqueeze(1) - each).masked_fill(each == kNever, 0);
  const Tensor by_class = zeros(x.sizes(), x.options())
                              .scatter_add_(2, s.labels.unsqueeze(0).expand(share.sizes()), share);
  const double lost = zero_infinity ? 0 : std::numeric_limits<double>::quiet_NaN();
  const Tensor scale = g.masked_fill(impossible, lost).view({1, x.size(1), 1});
  return ((exp(x) - by_class) * scale).masked_fill(s.past, 0);
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
  if (targets.dtype() != kInt64 && targets.dtype() != kInt32) {
    throw DTypeError(
        fmt::format("ctc_loss: expected targets of int64 or int32, got {}", name(targets.dtype())));
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
  check_lengths("target_lengths", target_lengths, n, x.dim() == 3 ? most : targets.size(0));
  int64_t sum = 0;
  for (const int64_t length : target_lengths) {
    if (__builtin_add_overflow(sum, length, &sum)) sum = most;
  }
  if (x.dim() == 3 && sum != targets.size(0)) {
    throw ShapeError(
        fmt::format("ctc_loss: expected as many targets as target_lengths say, {}, got {}", sum,
                    targets.size(0)));
  }
}

// The losses [N] of x [T,N,C], recorded.
Tensor each_loss(const Tensor& x, const Tensor& targets, IntArrayRef input_lengths,
                 IntArrayRef target_lengths, int64_t blank, bool zero_infinity) {
  Tensor out, alpha, loss;
  States states;
  {
    const NoGradGuard no_grad;
    states = make_states(x, targets, input_lengths, target_lengths, blank);
    alpha = beginnings(of_states(x, states), states);
    loss = losses(alpha, states);
    out = zero_infinity ? loss.masked_fill(isinf(loss), 0) : loss.clone();
  }
  if (!needs_gradient(x)) return out;
  return record(kOp, std::move(out),
                wrt(x, [x = saved(x), alpha, loss, states, zero_infinity](const Tensor& g) {
                  const Tensor input = x();
                  Tensor dx;
                  {
                    const NoGradGuard no_grad;
                    dx = grad(g, input, alpha, loss, states, zero_infinity);
                  }
                  const auto refuse = [](const Tensor&) -> Tensor {
                    throw NotImplementedError(
                        "ctc_loss: expected one backward, got a second, whose formula is missing");
                  };
                  return record("ctc_loss_backward", std::move(dx), wrt(g, refuse),
                                wrt(input, refuse));
                }));
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
  check_devices(kOp, {{"log_probs", log_probs}, {"targets", targets}});
  expect_floating(kOp, log_probs);
  expect_defined(kOp, "targets", targets);
  check(log_probs, targets, input_lengths, target_lengths, blank);
  if (is_reduced(log_probs.dtype())) {
    return ctc_loss(log_probs.to(kFloat32), targets, input_lengths, target_lengths, blank,
                    reduction, zero_infinity)
        .to(log_probs.dtype());
  }
  const bool single = log_probs.dim() == 2;
  // Without a batch the target may be longer than what counts of it.
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

}  // namespace ambit
