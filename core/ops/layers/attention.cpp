// Attention. Usually it runs as one kernel, which needs no tensor of all weights. With dropout it
// is composed of ops, for a part of the queries at a time, or for all queries at once if the mask
// requires grad or if a gradient is differentiated.
#include <ambit/backend/kernels.h>
#include <ambit/backend/philox.h>
#include <ambit/detail/autocast.h>
#include <ambit/detail/record.h>
#include <ambit/error.h>
#include <ambit/ops/attention.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/matmul.h>
#include <ambit/ops/random.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "attention_weights.h"
#include "core/ops/operands/allocate.h"
#include "core/ops/operands/broadcast.h"
#include "core/ops/operands/expect.h"
#include "core/ops/operands/operand_grad.h"
#include "core/ops/operands/statistics.h"
#include "head_dims.h"

namespace ambit {
namespace {

constexpr const char* kName = "scaled_dot_product_attention";
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Allocate an output [B,H,N,D] with the memory order of `like` [B,H,N,...]: heads are often split
// from [B,N,H * D] or [N,B,H * D], and the output can then be merged back without a copy.
Tensor allocate_heads(const Tensor& like, int64_t depth) {
  const Dims sizes{like.size(0), like.size(1), like.size(2), depth};
  std::array<size_t, 3> outermost_first{0, 1, 2};
  std::sort(outermost_first.begin(), outermost_first.end(), [&](size_t a, size_t b) {
    const int64_t step_a = like.strides()[a], step_b = like.strides()[b];
    return step_a != step_b ? step_a > step_b : a < b;
  });
  Dims strides(sizes.size(), 1);
  int64_t step = depth;
  for (size_t i = outermost_first.size(); i-- > 0;) {
    const size_t d = outermost_first[i];
    strides[d] = step;
    step *= sizes[d];
  }
  const Tensor t = allocate(kName, sizes, like.dtype(), like.device());
  t.impl()->set(t.impl()->storage, sizes, strides, 0, like.dtype());
  return t;
}

/// A range of queries, heads and batches: [first, first + count) in dims B, H and L.
struct Part {
  struct Range {
    int64_t first, count;
  };
  Range batch, heads, queries;

  /// Return the part of k, v or a tensor shaped like them.
  Tensor of_keys(const Tensor& t) const {
    return narrow(narrow(t, 0, batch.first, batch.count), 1, heads.first, heads.count);
  }
  /// Return the part of q or of a tensor [B,H,L,S]; undefined for an undefined one.
  Tensor of_queries(const Tensor& t) const {
    return t.defined() ? narrow(of_keys(t), 2, queries.first, queries.count) : t;
  }
};

/// Dropout of weights, drawn for a part at a time, so that no tensor of all weights is needed, and
/// drawn again in backward.
class Dropping {
 public:
  explicit Dropping(double p) : p_(p) {}
  explicit operator bool() const { return p_ > 0; }

  /// Call f(part, index) for parts of whole rows that fit in caches.
  template <class F>
  static void for_parts(const Tensor& q, const Tensor& k, const F& f) {
    constexpr int64_t kWeights = int64_t{1} << 18;
    const int64_t B = q.size(0), H = q.size(1), L = q.size(2), S = k.size(2);
    const auto some = [](int64_t all, int64_t weights_of_one) {
      return std::clamp<int64_t>(kWeights / weights_of_one, 1, all);
    };
    const int64_t queries = some(L, S), heads = some(H, L * S), batch = some(B, H * L * S);
    size_t index = 0;
    for (int64_t b = 0; b < B; b += batch) {
      for (int64_t h = 0; h < H; h += heads) {
        for (int64_t i = 0; i < L; i += queries) {
          f(Part{{b, std::min(batch, B - b)},
                 {h, std::min(heads, H - h)},
                 {i, std::min(queries, L - i)}},
            index++);
        }
      }
    }
  }
  /// Claim the random numbers of the next part.
  void claim(const Part& part, const Tensor& q, const Tensor& k) {
    const Generator& generator = default_generator(q.device());
    const int64_t weights = part.batch.count * part.heads.count * part.queries.count * k.size(2);
    if (offsets_.empty()) seed_ = generator.seed();
    offsets_.push_back(generator.advance(philox::blocks(static_cast<uint64_t>(weights))));
  }
  /// Return the factor of the weights that are kept.
  double scale() const { return p_ < 1 ? 1 / (1 - p_) : 1; }
  Tensor kept(const Part& part, size_t index, const Tensor& q, const Tensor& k) const {
    Tensor t = allocate(kName, {part.batch.count, part.heads.count, part.queries.count, k.size(2)},
                        q.dtype(), q.device());
    kernels::random(t, {.kind = RandomParams::Kind::bernoulli,
                        .low = 1 - p_,
                        .seed = seed_,
                        .offset = offsets_[index]});
    return t;
  }
  Tensor all_kept(const Tensor& q, const Tensor& k) const {
    const Tensor all = empty({q.size(0), q.size(1), q.size(2), k.size(2)}, q.options());
    for_parts(q, k, [&](const Part& part, size_t index) {
      part.of_queries(all).copy_(kept(part, index, q, k));
    });
    return all;
  }

 private:
  double p_;
  uint64_t seed_ = 0;
  std::vector<uint64_t> offsets_;
};

// q [B,H,L,E], k [B,H,S,E], v [B,H,S,F] -> y [B,H,L,F]; the mask has no gradient. With dropout, lse
// is undefined.
class AttentionNode final : public Node {
 public:
  AttentionNode(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask,
                const Tensor& y, const Tensor& lse, const AttentionParams& p, Dropping dropping)
      : Node(kName, 1),
        edges_{gradient_edge(q), gradient_edge(k), gradient_edge(v)},
        saved_{Saved::in_node(q),    Saved::in_node(k), Saved::in_node(v),
               Saved::in_node(mask), saved_output(y),   saved(lse)},
        p_(p),
        dropping_(std::move(dropping)) {}

  void apply(std::span<const Tensor> out, std::span<Tensor> in,
             std::span<const uint8_t> wanted) override {
    if (!out[0].defined()) return;
    AttentionGrads g = GradMode::is_enabled() ? differentiable(out[0])
                       : dropping_            ? run_parts(out[0])
                                              : run(out[0]);
    if (wanted[0]) in[0] = std::move(g.q);
    if (wanted[1]) in[1] = std::move(g.k);
    if (wanted[2]) in[2] = std::move(g.v);
  }
  bool release() override {
    saved_ = {};
    return true;
  }
  std::span<Edge> edges() override { return edges_; }

 private:
  AttentionGrads differentiable(const Tensor& dy) const {
    const Tensor q = saved_[0](), k = saved_[1](), v = saved_[2](), mask = saved_[3]();
    const Tensor w = attention_weights(q, k, mask, p_);
    const Tensor kept = dropping_ ? dropping_.all_kept(q, k) : Tensor();
    const double scale = dropping_.scale();
    return attention_grads(dy * scale, q, k, v, w, kept, matmul(kept.defined() ? w * kept : w, v),
                           p_);
  }
  AttentionGrads run(const Tensor& dy) const {
    const Tensor q = saved_[0](), k = saved_[1](), v = saved_[2](), mask = saved_[3]();
    AttentionGrads g{allocate_heads(q, q.size(3)), allocate_heads(k, k.size(3)),
                     allocate_heads(v, v.size(3))};
    kernels::attention_grad(g.q, g.k, g.v, dy, q, k, v, mask, saved_[4](), saved_[5](), p_);
    return g;
  }
  AttentionGrads run_parts(const Tensor& dy) const {
    const Tensor q = saved_[0](), k = saved_[1](), v = saved_[2](), mask = saved_[3]();
    const Tensor y = saved_[4]();
    const DType wide = statistics_dtype(q.dtype());  // dtype of sums over parts
    const double scale = dropping_.scale();
    const Tensor dq = allocate_heads(q, q.size(3));
    Tensor dk = zeros(k.sizes(), k.options().dtype(wide));
    Tensor dv = zeros(v.sizes(), v.options().dtype(wide));
    Dropping::for_parts(q, k, [&](const Part& part, size_t index) {
      const Tensor own = part.of_queries(q), keys = part.of_keys(k);
      const Tensor w = attention_weights(own, keys, part.of_queries(mask), p_, part.queries.first);
      const AttentionGrads g =
          attention_grads(part.of_queries(dy) * scale, own, keys, part.of_keys(v), w,
                          dropping_.kept(part, index, q, k), part.of_queries(y) * (1 / scale), p_);
      part.of_queries(dq).copy_(g.q);
      part.of_keys(dk).add_(g.k);
      part.of_keys(dv).add_(g.v);
    });
    return {dq, dk.to(k.dtype()), dv.to(v.dtype())};
  }

  std::array<Edge, 3> edges_;
  std::array<Saved, 6> saved_;
  AttentionParams p_;
  Dropping dropping_;
};

// As above, in one kernel call; mask [B,H,L,S] or undefined. No dim is empty.
Tensor in_blocks(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask,
                 const AttentionParams& p, double dropout_p) {
  Tensor y = allocate_heads(q, v.size(3)), lse;
  Dropping dropping(dropout_p);
  if (dropping) {
    const NoGradGuard no_grad;
    Dropping::for_parts(q, k, [&](const Part& part, size_t index) {
      dropping.claim(part, q, k);
      const Tensor w = attention_weights(part.of_queries(q), part.of_keys(k), part.of_queries(mask),
                                         p, part.queries.first);
      part.of_queries(y).copy_(matmul(w * dropping.kept(part, index, q, k), part.of_keys(v)) *
                               dropping.scale());
    });
  } else {
    // Never a reduced floating-point type: differences of large scores would be lost.
    lse = allocate(kName, {2, q.size(0), q.size(1), q.size(2)}, statistics_dtype(q.dtype()),
                   q.device());
    kernels::attention(y, lse, q, k, v, mask, p);
  }
  if (needs_gradient(q, k, v)) {
    set_history(
        y, intrusive_ptr<Node>(new AttentionNode(q, k, v, mask, y, lse, p, std::move(dropping))));
  }
  return y;
}

void check(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask, double dropout_p,
           bool causal) {
  expect_defined(kName, "query", q);
  expect_defined(kName, "key", k);
  expect_defined(kName, "value", v);
  check_devices(kName, {{"query", q}, {"key", k}, {"value", v}, {"attn_mask", mask}});
  expect_floating(kName, q);
  expect_dtype(kName, "key", k, q.dtype());
  expect_dtype(kName, "value", v, q.dtype());
  if (mask.defined() && mask.dtype() != kBool) {
    expect_dtype(kName, "attn_mask of bool, or", mask, q.dtype());
  }
  if (q.dim() < 2 || k.dim() < 2 || v.dim() < 2 || q.size(-1) != k.size(-1) ||
      k.size(-2) != v.size(-2)) {
    throw ShapeError(fmt::format(
        "{}: expected query [..., L, E], key [..., S, E] and value [..., S, Ev], got {}, {} and {}",
        kName, str(q.sizes()), str(k.sizes()), str(v.sizes())));
  }
  if (!(dropout_p >= 0 && dropout_p <= 1)) {
    throw Error(fmt::format("{}: expected dropout_p in [0, 1], got {}", kName, dropout_p));
  }
  if (causal && mask.defined()) {
    throw Error(fmt::format("{}: expected is_causal or attn_mask, got both", kName));
  }
}

Dims leading(const Tensor& t) {
  return IntArrayRef(t.sizes().data(), static_cast<size_t>(t.dim() - 2));
}

Tensor attend(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& attn_mask,
              double dropout_p, bool is_causal, std::optional<double> scale);

// Process each index of the first leading dim separately and stack the results: for a mask
// broadcast along a middle dim, whose leading dims cannot be merged into two.
Tensor of_each(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask,
               const Dims& lead, const AttentionParams& p, double dropout_p) {
  std::vector<Tensor> all;
  for (int64_t i = 0; i < lead[0]; ++i) {
    const auto at = [&](const Tensor& t) {
      if (t.sizes().size() < lead.size() + 2) return t;
      return select(t, 0, t.size(0) == 1 ? 0 : i);
    };
    all.push_back(attend(at(q), at(k), at(v), at(mask), dropout_p, false, p.scale));
  }
  return stack(all, 0);
}

Tensor attend(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& attn_mask,
              double dropout_p, bool is_causal, std::optional<double> scale) {
  AMBIT_AUTOCAST_AS("attention", attend, query, key, value, attn_mask, dropout_p, is_causal, scale)
  check(query, key, value, attn_mask, dropout_p, is_causal);
  const int64_t L = query.size(-2), E = query.size(-1), S = key.size(-2), F = value.size(-1);
  const double root = std::sqrt(static_cast<double>(std::max<int64_t>(E, 1)));
  const AttentionParams p{.scale = scale.value_or(1 / root), .causal = is_causal};
  Dims lead = broadcast(kName, broadcast(kName, leading(query), leading(key)), leading(value));
  Tensor mask = attn_mask;
  if (mask.defined()) {
    while (mask.dim() < 2) mask = unsqueeze(mask, 0);
    lead = broadcast(kName, lead, leading(mask));
    Dims all = lead;
    all.push_back(L);
    all.push_back(S);
    check_broadcasts_to(kName, mask.sizes(), all);
    if (mask.dtype() == kBool) {
      mask = masked_fill(zeros(mask.sizes(), query.options()), logical_not(mask), -kInfinity);
    }
  }
  Dims sizes = lead;
  sizes.push_back(L);
  sizes.push_back(F);
  const bool empty = count(kName, sizes) == 0 || S == 0 || E == 0;
  const bool of_mask = mask.defined() && needs_gradient(mask);
  if (empty || of_mask) {
    const Tensor w = attention_weights(query, key, mask, p);
    return matmul(dropout(w, dropout_p, dropout_p > 0), value);
  }
  const HeadDims heads(lead, {query, key, value}, mask);
  if (!heads.fits_mask()) return of_each(query, key, value, mask, lead, p, dropout_p);
  const Tensor y = in_blocks(heads(query, L, E), heads(key, S, E), heads(value, S, F),
                             heads(mask, L, S), p, dropout_p);
  return y.sizes() == sizes ? y : reshape(y, sizes);
}

// Return t [..., H, S, E] with each head repeated for consecutive heads of a query.
Tensor for_heads(const Tensor& t, const char* argument, int64_t heads) {
  const int64_t own = t.size(-3);
  if (own == heads) return t;
  if (own == 0 || heads % own != 0) {
    throw ShapeError(fmt::format("{}: expected {} heads that divide the {} of query, got {}", kName,
                                 argument, heads, own));
  }
  Dims repeated(t.sizes()), merged(t.sizes());
  repeated.insert(static_cast<size_t>(t.dim()) - 2, heads / own);
  merged[static_cast<size_t>(t.dim()) - 3] = heads;
  return reshape(expand(unsqueeze(t, -3), repeated), merged);
}

}  // namespace

Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const std::optional<Tensor>& attn_mask, double dropout_p,
                                    bool is_causal, std::optional<double> scale, bool enable_gqa) {
  const Tensor mask = attn_mask.value_or(Tensor());
  if (!enable_gqa) return attend(query, key, value, mask, dropout_p, is_causal, scale);
  for (const Tensor* t : {&query, &key, &value}) {
    expect_defined(kName, "query, key and value", *t);
    if (t->dim() < 3)
      throw_dim(kName, "each operand with enable_gqa", "[..., H, L, E]", t->sizes());
  }
  const int64_t heads = query.size(-3);
  return attend(query, for_heads(key, "key", heads), for_heads(value, "value", heads), mask,
                dropout_p, is_causal, scale);
}

}  // namespace ambit
