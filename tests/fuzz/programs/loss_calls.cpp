// Losses and distances.
#include <ambit/ambit.h>
#include <fmt/format.h>

#include "calls.h"

namespace fuzz {

using namespace ambit;
namespace F = nn::functional;

namespace {

using Fill = Generator::Fill;
constexpr const char* kReductions[] = {"none", "mean", "sum"};

struct Pair {
  const char* python;  // an expression of $0, $1, and {}, the reduction
  Tensor (*run)(const Tensor& x, const Tensor& y, Reduction r);
  Fill x = Fill::few, y = Fill::few;
};
#define AMBIT_ROW(python, expression, ...)                                                 \
  {                                                                                        \
    python, [](const Tensor& x, const Tensor& y, [[maybe_unused]] Reduction r) -> Tensor { \
      return expression;                                                                   \
    } __VA_OPT__(, ) __VA_ARGS__                                                           \
  }
const std::vector<Pair> kPairs{
    AMBIT_ROW("F.mse_loss($0, $1, reduction='{}')", mse_loss(x, y, r)),
    AMBIT_ROW("F.l1_loss($0, $1, reduction='{}')", F::l1_loss(x, y, r)),
    AMBIT_ROW("F.smooth_l1_loss($0, $1, reduction='{}', beta=0.75)",
              F::smooth_l1_loss(x, y, r, 0.75)),
    AMBIT_ROW("F.huber_loss($0, $1, reduction='{}', delta=1.5)", F::huber_loss(x, y, r, 1.5)),
    AMBIT_ROW("F.binary_cross_entropy($0, $1, reduction='{}')",
              F::binary_cross_entropy(x, y, {}, r), Fill::unit, Fill::unit),
    AMBIT_ROW("F.binary_cross_entropy_with_logits($0, $1, reduction='{}')",
              F::binary_cross_entropy_with_logits(x, y, {}, r), Fill::few, Fill::unit),
    AMBIT_ROW("F.kl_div($0, $1, reduction='{}')", F::kl_div(x, y, r), Fill::few, Fill::unit),
    AMBIT_ROW("F.kl_div($0, $1, reduction='{}', log_target=True)", F::kl_div(x, y, r, true)),
    AMBIT_ROW("F.soft_margin_loss($0, torch.sign($1.detach() + 0.125), reduction='{}')",
              F::soft_margin_loss(x, sign(y.detach() + 0.125), r)),
    AMBIT_ROW("F.hinge_embedding_loss($0, torch.sign($1 + 0.125), 1.5, reduction='{}')",
              F::hinge_embedding_loss(x, sign(y + 0.125), 1.5, r)),
    AMBIT_ROW("F.margin_ranking_loss($0, $1, torch.ones_like($0).detach(), 0.5, reduction='{}')",
              F::margin_ranking_loss(x, y, ones_like(x).detach(), 0.5, r)),
    AMBIT_ROW("F.poisson_nll_loss($0, $1, reduction='{}')",
              F::poisson_nll_loss(x, y, true, false, 1e-8, r), Fill::few, Fill::positive),
    AMBIT_ROW("F.poisson_nll_loss($0, $1, False, True, eps=0.125, reduction='{}')",
              F::poisson_nll_loss(x, y, false, true, 0.125, r), Fill::positive, Fill::positive),
};
#undef AMBIT_ROW

// In the second gradient of binary_cross_entropy PyTorch adds 1e-12 to x - x^2, which is 1/20 or
// more here: its error is 2e-11 times the derivative of the gradient, which is below 20.
double bound(const Generator& g) { return g.dtype_of_call() == kFloat64 ? 4e-10 / 0x1p-52 : 256; }

void pair(Generator& g) {
  Random& r = g.random();
  const Pair& row = r.choose(kPairs);
  const Sizes shape = g.small_sizes(0, 3);
  const int64_t how = r.between(0, 2);
  const int x = g.operand(shape, row.x), y = g.operand(shape, row.y);
  g.call(
      fmt::format(fmt::runtime(row.python), kReductions[how]), {x, y},
      [how, run = row.run](const Tensors& t) {
        return run(t[0], t[1], static_cast<Reduction>(how));
      },
      bound(g));
}

void weighted_pair(Generator& g) {
  Random& r = g.random();
  const Sizes shape = g.small_sizes(1, 3);
  const int64_t how = r.between(0, 2);
  const bool logits = r.one_in(2);
  const int x = g.operand(shape, logits ? Fill::few : Fill::unit), y = g.operand(shape, Fill::unit),
            w = r.one_in(2) ? g.constant(g.broadcastable(shape), Fill::positive) : -1,
            p = logits && r.one_in(2) ? g.constant({shape.back()}, Fill::positive) : -1;
  g.call(
      fmt::format("F.binary_cross_entropy{}($0, $1, $2, reduction='{}'{})",
                  logits ? "_with_logits" : "", kReductions[how], logits ? ", pos_weight=$3" : ""),
      {x, y, w, p},
      [=](const Tensors& t) {
        const auto reduction = static_cast<Reduction>(how);
        return logits ? F::binary_cross_entropy_with_logits(t[0], t[1], t[2], reduction, t[3])
                      : F::binary_cross_entropy(t[0], t[1], t[2], reduction);
      },
      bound(g));
}

void classes(Generator& g) {
  Random& r = g.random();
  g.keep_sizes();
  const int64_t C = r.between(1, 5), N = r.between(1, 4), how = r.between(0, 2);
  Sizes tail = r.one_in(3) ? draw(g, static_cast<size_t>(r.between(1, 2)), 1, 3) : Sizes();
  const bool single = tail.empty() && r.one_in(5);
  Sizes in = single ? Sizes{C} : Sizes{N, C}, out = single ? Sizes{} : Sizes{N};
  in.insert(in.end(), tail.begin(), tail.end());
  out.insert(out.end(), tail.begin(), tail.end());
  const int w = r.one_in(2) ? g.constant({C}, Fill::positive) : -1;
  const int64_t ignore = r.one_in(2) ? r.between(0, C - 1) : -100;
  const auto reduction = static_cast<Reduction>(how);
  const int x = g.operand(in);
  switch (r.between(0, 4)) {
    case 0: {
      const int y = g.integers(out, 0, C - 1);
      g.call(fmt::format("F.nll_loss($0, $1, $2, ignore_index={}, reduction='{}')", ignore,
                         kReductions[how]),
             {x, y, w},
             [=](const Tensors& t) { return nll_loss(t[0], t[1], t[2], reduction, ignore); });
      break;
    }
    case 1: {  // probabilities of classes
      const int y = g.operand(in, Fill::unit);
      g.call(
          fmt::format("F.cross_entropy($0, $1, $2, reduction='{}', label_smoothing=0.25)",
                      kReductions[how]),
          {x, y, w},
          [=](const Tensors& t) { return cross_entropy(t[0], t[1], t[2], reduction, -100, 0.25); },
          256);
      break;
    }
    case 2: {
      const int64_t p = r.between(1, 2);
      const int y = g.integers(single ? Sizes{} : Sizes{N}, 0, C - 1);
      const int z = tail.empty() ? x : g.operand({N, C});
      g.call(fmt::format("F.multi_margin_loss($0, $1, {}, 0.5, in_rows($2), reduction='{}')", p,
                         kReductions[how]),
             {z, y, w}, [=](const Tensors& t) {
               return F::multi_margin_loss(t[0], t[1], p, 0.5, t[2], reduction);
             });
      break;
    }
    case 3: {
      const int z = tail.empty() ? x : g.operand({N, C});
      const Sizes shape = single ? Sizes{C} : Sizes{N, C};
      if (r.one_in(2)) {
        g.call(fmt::format("F.multilabel_margin_loss($0, $1, reduction='{}')", kReductions[how]),
               {z, g.integers(shape, -1, C - 1)},
               [=](const Tensors& t) { return F::multilabel_margin_loss(t[0], t[1], reduction); });
      } else {
        g.call(
            fmt::format("F.multilabel_soft_margin_loss($0, $1, $2, reduction='{}')",
                        kReductions[how]),
            {z, g.operand(shape, Fill::unit), w},
            [=](const Tensors& t) {
              return F::multilabel_soft_margin_loss(t[0], t[1], t[2], reduction);
            },
            256);
      }
      break;
    }
    default: {
      const double smoothing = r.one_in(2) ? 0 : 0.25;
      const int y = g.integers(out, 0, C - 1);
      g.call(
          fmt::format(
              "F.cross_entropy($0, $1, $2, ignore_index={}, reduction='{}', label_smoothing={})",
              ignore, kReductions[how], smoothing),
          {x, y, w},
          [=](const Tensors& t) {
            return cross_entropy(t[0], t[1], t[2], reduction, ignore, smoothing);
          },
          256);
    }
  }
}

void connectionist(Generator& g) {
  Random& r = g.random();
  const int64_t T = r.between(1, 6), N = r.between(1, 3), C = r.between(2, 4), S = r.between(1, 3),
                blank = r.between(0, C - 1), how = r.between(0, 2);
  const Sizes in = draw(g, static_cast<size_t>(N), 1, T),
              out = draw(g, static_cast<size_t>(N), 0, S);
  const bool zero = r.one_in(2), joined = r.one_in(2);
  int64_t labels = 0;
  for (const int64_t n : out) labels += n;
  // Any class except the blank.
  const int x = g.operand({T, N, C}),
            y = g.integers(joined ? Sizes{labels} : Sizes{N, S}, 1, C - 1);
  g.call(
      fmt::format("F.ctc_loss(F.log_softmax($0, -1), ($1 + {}) % {}, {}, {}, {}, '{}', {})", blank,
                  C, list_text(in), list_text(out), blank, kReductions[how], bool_text(zero)),
      {x, y},
      [=](const Tensors& t) {
        return ctc_loss(log_softmax(t[0], -1), (t[1] + blank) % C, in, out, blank,
                        static_cast<Reduction>(how), zero);
      },
      512);
}

void distance(Generator& g) {
  Random& r = g.random();
  const int64_t how = r.between(0, 2);
  const auto reduction = static_cast<Reduction>(how);
  const double p = static_cast<double>(r.between(1, 3));
  const Sizes shape{r.between(1, 3), r.between(1, 4)};
  // No vector is 0, because the cosine has a pole there.
  const int a = g.operand(shape, Fill::positive), b = g.operand(shape, Fill::positive),
            c = g.operand(shape);
  switch (r.between(0, 5)) {
    case 0:
      g.call(
          fmt::format("F.pairwise_distance($0, $1, {}, 0.125, {})", p, bool_text(how == 0)), {a, b},
          [=](const Tensors& t) { return F::pairwise_distance(t[0], t[1], p, 0.125, how == 0); },
          512);
      break;
    case 1: {
      const int64_t d = g.dim_of(2);
      g.call(
          fmt::format("F.cosine_similarity($0, $1, {}, 0.125)", d), {a, b},
          [=](const Tensors& t) { return F::cosine_similarity(t[0], t[1], d, 0.125); }, 512);
      break;
    }
    case 2:
      g.call(
          fmt::format("F.triplet_margin_loss($0, $1, $2, 0.5, {}, 0.125, {}, reduction='{}')", p,
                      bool_text(p == 1), kReductions[how]),
          {a, b, c},
          [=](const Tensors& t) {
            return F::triplet_margin_loss(t[0], t[1], t[2], 0.5, p, 0.125, p == 1, reduction);
          },
          512);
      break;
    case 3: {
      const int y = g.integers({shape[0]}, 0, 1);
      g.call(
          fmt::format("F.cosine_embedding_loss($0, $1, $2 * 2 - 1, 0.25, reduction='{}')",
                      kReductions[how]),
          {a, b, y},
          [=](const Tensors& t) {
            return F::cosine_embedding_loss(t[0], t[1], t[2] * 2 - 1, 0.25, reduction);
          },
          512);
      break;
    }
    case 4:
      g.call(
          fmt::format("torch.pdist($0.contiguous(), {})", p), {a},
          [=](const Tensors& t) { return pdist(t[0].contiguous(), p); }, 1024);
      break;
    default: {
      const int y = g.operand({r.between(1, 3), shape[1]});
      g.call(
          fmt::format("torch.cdist($0, $1, {})", p), {a, y},
          [=](const Tensors& t) { return cdist(t[0], t[1], p); }, 1024);
    }
  }
}

}  // namespace

const std::vector<Call> kLossCalls{pair,    pair,          weighted_pair, classes,
                                   classes, connectionist, distance};

}  // namespace fuzz
