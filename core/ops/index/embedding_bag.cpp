// Bags of rows: one kernel for each direction. The double backward of sums consists of sums.
#include <ambit/backend/kernels.h>
#include <ambit/detail/embedding_bag.h>
#include <ambit/detail/record.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/index.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/shape.h>
#include <ambit/ops/sort.h>

#include <fmt/format.h>

#include <limits>

#include "core/ops/composite.h"
#include "core/ops/operands/allocate.h"
#include "core/ops/operands/host_values.h"
#include "core/ops/operands/operand_grad.h"
#include "core/ops/operands/unrecorded.h"

namespace ambit {
namespace {

using Mode = EmbeddingBagParams::Mode;
constexpr const char* kOp = "embedding_bag";

/// The rows of each bag. No gradients.
struct Bags {
  Tensor index, offsets;  // [n], [B+1]
  EmbeddingBagParams p;

  int64_t count() const { return offsets.numel() - 1; }
  /// Return the bag of each row, [n]; B if a row is in no bag.
  Tensor ids() const {
    const NoGradGuard no_grad;
    const Tensor at = arange(index.numel(), index.options());
    Tensor id = searchsorted(offsets, at, false, true) - 1;
    id = masked_fill(id, logical_or(id < 0, index == p.padding), count());
    return clamp(id, 0, count());
  }
};

/// Bags whose tensors a formula saves, because they may be the caller's.
struct SavedBags {
  explicit SavedBags(const Bags& bags)
      : index(saved(bags.index)), offsets(saved(bags.offsets)), p(bags.p) {}
  Bags operator()() const { return {index(), offsets(), p}; }

  Saved index, offsets;
  EmbeddingBagParams p;
};

// Return the number of rows in each bag, [B+1,1]; 1 for an empty one.
Tensor counts(const Bags& bags, const Tensor& ids, const TensorOptions& options) {
  return clamp(
      zeros({bags.count() + 1, 1}, options).index_add_(0, ids, ones({ids.numel(), 1}, options)), 1);
}

// Map g from bags to rows: each row gets its bag's row, 0 if it is in no bag.
Tensor of_rows(const Tensor& g, const Tensor& ids) {
  return index_select(cat({g, zeros({1, g.size(1)}, g.options())}, 0), 0, ids);
}

// Return the factors' gradient [n] from y's.
Tensor factors_grad(const Tensor& g, const Tensor& w, const Bags& bags) {
  const Tensor ids = bags.ids();
  Tensor each = sum(of_rows(g, ids) * index_select(w, 0, bags.index), {1});
  if (bags.p.mode != Mode::mean) return each;
  return each / index_select(counts(bags, ids, w.options()), 0, ids).squeeze(1);
}

// Return v's values at the maximum elements: [B,D].
Tensor at_best(const Tensor& v, const Bags& bags, const Tensor& best) {
  if (bags.index.numel() == 0) return zeros(best.sizes(), v.options());
  const Tensor rows =
      index_select(bags.index, 0, clamp(best, 0).reshape({best.numel()})).view(best.sizes());
  return masked_fill(gather(v, 0, rows), best < 0, 0);
}

Tensor forward(const Tensor& w, const Bags& bags, const Tensor& factors, const Tensor& frequencies);

Tensor weight_grad(const Tensor& g, const Dims& sizes, const Bags& bags, const Tensor& best,
                   const Tensor& factors) {
  Tensor dw = allocate(kOp, sizes, g.dtype(), g.device());
  kernels::embedding_bag_grad(dw, dense(g), best, bags.index, bags.offsets, dense(factors), bags.p);
  if (!needs_gradient(g, factors)) return dw;
  auto of_g = [bags = SavedBags(bags), best = saved(best),
               factors = saved(factors)](const Tensor& gg) {
    const Tensor chosen = best();
    return chosen.defined() ? at_best(gg, bags(), chosen) : forward(gg, bags(), factors(), {});
  };
  auto of_factors = [bags = SavedBags(bags), g = saved(g)](const Tensor& gg) {
    return factors_grad(g(), gg, bags());
  };
  return record("embedding_bag_backward", std::move(dw), wrt(g, std::move(of_g)),
                wrt(factors, std::move(of_factors)));
}

Tensor forward(const Tensor& w, const Bags& bags, const Tensor& factors,
               const Tensor& frequencies) {
  const bool largest = bags.p.mode == Mode::max;
  const Dims sizes{bags.count(), w.size(1)};
  Tensor y = allocate(kOp, sizes, w.dtype(), w.device());
  Tensor best = largest ? allocate(kOp, sizes, kInt64, w.device()) : Tensor();
  kernels::embedding_bag(y, best, dense(w), bags.index, bags.offsets, dense(factors), bags.p);
  if (!needs_gradient(w, factors)) return y;
  auto of_weight = [bags = SavedBags(bags), sizes = Dims(w.sizes()), best = saved(best),
                    factors = saved(factors), frequencies = saved(frequencies)](const Tensor& g) {
    Tensor factor = factors();
    if (const Tensor times = frequencies(); times.defined()) {
      factor = factor.defined() ? factor / times : reciprocal(times);
    }
    return weight_grad(g, sizes, bags(), best(), factor);
  };
  auto of_factors = [bags = SavedBags(bags), w = saved(w)](const Tensor& g) {
    return factors_grad(g, w(), bags());
  };
  return record(kOp, std::move(y), wrt(w, std::move(of_weight)),
                wrt(factors, std::move(of_factors)));
}

}  // namespace

void check_bag_offsets(const Tensor& offsets, int64_t n) {
  const Tensor there = host_values(offsets);
  if (!there.defined() || there.numel() == 0) return;
  const Tensor values = dense(there);
  const int64_t* at = values.data_ptr<int64_t>();
  if (at[0] != 0) {
    throw Error(fmt::format("{}: expected the first offset to be 0, got {}", kOp, at[0]));
  }
  for (int64_t i = 0; i < values.numel(); ++i) {
    if (at[i] > n || at[i] < at[i > 0 ? i - 1 : 0]) {
      throw Error(
          fmt::format("{}: expected non-decreasing offsets of at most {}, got {}", kOp, n, at[i]));
    }
  }
}

Tensor embedding_bags(const Tensor& weight, const Tensor& index, const Tensor& offsets,
                      const Tensor& factors, const Tensor& frequencies,
                      const EmbeddingBagParams& p) {
  check_devices(kOp, {{"weight", weight},
                      {"input", index},
                      {"offsets", offsets},
                      {"per_sample_weights", factors}});
  return forward(weight, {dense(index), dense(offsets), p}, factors, frequencies);
}

void composite::embedding_bag(Tensor& y, Tensor& best, const Tensor& w, const Tensor& index,
                              const Tensor& offsets, const Tensor& factors,
                              const EmbeddingBagParams& p) {
  const Bags bags{index, offsets, p};
  const Tensor ids = bags.ids();
  Tensor rows = index_select(w, 0, index);
  const Dims all{bags.count() + 1, w.size(1)};
  if (p.mode != Mode::max) {
    if (factors.defined()) rows = rows * unsqueeze(factors, 1);
    Tensor sums = zeros(all, w.options()).index_add_(0, ids, rows);
    if (p.mode == Mode::mean) sums = sums / counts(bags, ids, w.options());
    y.copy_(sums.narrow(0, 0, bags.count()));
    return;
  }
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const int64_t n = index.numel();
  const Tensor at = arange(n, index.options()).unsqueeze(1);
  const Tensor begins =
      scatter_reduce(full({all[0]}, n, index.options()), 0, ids, at.squeeze(1), "amin");
  // Comparisons with NaN are false: a NaN in the first row of a bag remains the maximum, NaN in
  // other rows never becomes the maximum.
  const Tensor is_first = begins.index_select(0, ids).unsqueeze(1) == at;
  const Tensor nan = isnan(rows);
  const Tensor level =
      masked_fill(masked_fill(rows, nan, -kInfinity), logical_and(nan, is_first), kInfinity);
  const Tensor places = ids.unsqueeze(1).expand(rows.sizes());
  const Tensor top = scatter_reduce(zeros(all, w.options()), 0, places, level, "amax", false);
  const Tensor is_top = level == gather(top, 0, places);
  const Tensor first =
      scatter_reduce(full(all, n, index.options()), 0, places, where(is_top, at, n), "amin")
          .narrow(0, 0, bags.count());
  best.copy_(masked_fill(first, first == n, -1));
  y.copy_(gather(cat({rows, zeros({1, w.size(1)}, w.options())}, 0), 0, first));
}

void composite::embedding_bag_grad(Tensor& dw, const Tensor& dy, const Tensor& best,
                                   const Tensor& index, const Tensor& offsets,
                                   const Tensor& factors, const EmbeddingBagParams& p) {
  const Bags bags{index, offsets, p};
  dw.fill_(0);
  if (p.mode == Mode::max) {
    if (index.numel() == 0) return;
    const Tensor rows =
        index_select(index, 0, clamp(best, 0).reshape({best.numel()})).view(best.sizes());
    dw.scatter_add_(0, rows, masked_fill(dy, best < 0, 0));
    return;
  }
  const Tensor ids = bags.ids();
  Tensor each = of_rows(dy, ids);
  if (p.mode == Mode::mean) each = each / index_select(counts(bags, ids, dy.options()), 0, ids);
  if (factors.defined()) each = each * unsqueeze(factors, 1);
  dw.index_add_(0, index, each);
}

}  // namespace ambit
