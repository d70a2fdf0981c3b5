// Operators: attention and its parts. Q, K, V: [B,H,S,D], or [B,S,H D] with the numbers of
// heads as attributes.
#include <ambit/error.h>
#include <ambit/nn/functional/aten.h>
#include <ambit/ops/arrange.h>
#include <ambit/ops/attention.h>
#include <ambit/ops/conv.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/index.h>
#include <ambit/ops/matmul.h>
#include <ambit/ops/norm.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/shape.h>

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "operators.h"

namespace ambit::graph::onnx {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Tensor by_heads(const Tensor& x, std::optional<int64_t> heads) {
  if (x.dim() == 4) return x;
  if (x.dim() != 3 || !heads || *heads < 1) {
    throw Error("expected [B,H,S,D], or [B,S,H D] and a number of heads");
  }
  return x.reshape({x.size(0), x.size(1), *heads, x.size(2) / *heads}).transpose(1, 2);
}

Tensor joined(const Tensor& past, const Tensor& x) {
  return past.defined() ? cat({past, x}, 2) : x;
}

// Return the numbers to add to the products: the mask, or 0 without a mask, where a query attends
// to a key, and -inf elsewhere.
Tensor bias_of(const Call& c, const Tensor& q, const Tensor& k) {
  const Tensor &mask = c.optional_tensor(3), &past = c.optional_tensor(4),
               &valid = c.optional_tensor(6);
  const int64_t queries = q.size(2), keys = k.size(2), left = c.integer(14), right = c.integer(15);
  const TensorOptions integers = TensorOptions(kInt64).device(q.device());
  const Tensor i = arange(queries, integers).unsqueeze(1), j = arange(keys, integers);
  // The position of the first query among the keys.
  Tensor position = i + (past.defined() ? past.size(2) : 0);
  if (!past.defined() && valid.defined()) {
    position = i + (valid.to(kInt64).reshape({-1, 1, 1, 1}) - queries);
  }
  Tensor allowed = ones({queries, keys}, integers.dtype(kBool));
  if (c.flag(7)) allowed = logical_and(allowed, j.le(position));
  if (left >= 0) allowed = logical_and(allowed, (position - j).le(left));
  if (right >= 0) allowed = logical_and(allowed, (j - position).le(right));
  if (valid.defined()) {
    allowed = logical_and(allowed, j.lt(valid.to(kInt64).reshape({-1, 1, 1, 1})));
  }
  Tensor added = zeros({}, q.options());
  if (mask.defined()) {
    const int64_t missing = keys - mask.size(-1);
    const bool is_flags = mask.dtype() == kBool;
    const Tensor whole =
        missing > 0 ? constant_pad_nd(mask, {0, missing}, is_flags ? Scalar(false) : -kInfinity)
                    : mask;
    if (is_flags) {
      allowed = logical_and(allowed, whole);
    } else {
      added = whole.to(q.dtype());
    }
  }
  return where(allowed, added, full({}, -kInfinity, q.options()));
}

void attend(Call& c) {
  const std::optional<int64_t> q_heads = c.optional_integer(8), kv_heads = c.optional_integer(9);
  const Tensor q = by_heads(c.tensor(0), q_heads);
  const Tensor present_k = joined(c.optional_tensor(4), by_heads(c.tensor(1), kv_heads));
  const Tensor present_v = joined(c.optional_tensor(5), by_heads(c.tensor(2), kv_heads));
  Tensor k = present_k, v = present_v;
  if (k.size(1) != q.size(1)) {
    if (k.size(1) < 1 || q.size(1) % k.size(1) != 0) {
      throw ShapeError(
          fmt::format("expected a multiple of {} heads of Q, got {}", k.size(1), q.size(1)));
    }
    const int64_t group = q.size(1) / k.size(1);
    k = repeat_interleave(k, group, 1);
    v = repeat_interleave(v, group, 1);
  }
  const double scale = c.has(10) ? c.real(10) : 1 / std::sqrt(static_cast<double>(q.size(3)));
  const double part = std::sqrt(scale), cap = c.real(12);
  const Tensor bias = bias_of(c, q, k);
  Tensor product = matmul(q * part, (k * part).transpose(2, 3));
  Tensor shown = product;
  if (cap > 0) product = tanh(product / cap) * cap;
  const int64_t mode = c.integer(13);
  if (mode == 1) shown = product;
  const Tensor biased = product + bias;
  if (mode == 2) shown = biased;
  // A query that attends to no key gives zeros.
  const Tensor is_empty = amax(bias, {-1}, true).eq(-kInfinity);
  const Tensor safe = masked_fill(biased, is_empty, 0);
  const Tensor weights = masked_fill(softmax(safe, -1, c.dtype(11)).to(q.dtype()), is_empty, 0);
  if (mode == 3) shown = weights;
  Tensor y = matmul(weights, v);
  if (c.tensor(0).dim() == 3) y = y.transpose(1, 2).flatten(2);
  c.give(y);
  c.give(present_k);
  c.give(present_v);
  c.give(shown);
}

Tensor rotated(const Call& c) {
  const Tensor& x = c.tensor(0);
  const bool is_flat = x.dim() == 3;
  const int64_t heads = c.integer(5);
  const Tensor a = is_flat ? by_heads(x, heads) : x;  // [B,H,S,D]
  const int64_t part = c.integer(6) == 0 ? a.size(3) : c.integer(6), half = part / 2;
  const auto cache = [&](size_t i) {
    Tensor t = c.tensor(i);
    if (c.has(3)) {
      const Tensor& ids = c.tensor(3);
      t = index_select(t, 0, ids.to(kInt64).reshape({-1})).reshape({ids.size(0), ids.size(1), -1});
    }
    if (t.size(-1) != half) {
      throw ShapeError(
          fmt::format("expected {} numbers of each position, got {}", half, t.size(-1)));
    }
    return t.unsqueeze(1);  // [B,1,S,half]
  };
  const Tensor cosine = cache(1), sine = cache(2);
  const Tensor turned = a.narrow(3, 0, part);
  const bool is_interleaved = c.flag(4);
  const Tensor x1 = is_interleaved ? turned.slice(3, 0, part, 2) : turned.narrow(3, 0, half);
  const Tensor x2 = is_interleaved ? turned.slice(3, 1, part, 2) : turned.narrow(3, half, half);
  const Tensor real = cosine * x1 - sine * x2, imaginary = sine * x1 + cosine * x2;
  Tensor y = is_interleaved ? stack({real, imaginary}, -1).flatten(3) : cat({real, imaginary}, 3);
  if (part < a.size(3)) y = cat({y, a.narrow(3, part, a.size(3) - part)}, 3);
  return is_flat ? y.transpose(1, 2).flatten(2) : y;
}

// Linear attention: each step changes a state [B,H,D_k,D_v].
void attend_linearly(Call& c) {
  const int64_t kv_heads = c.integer(7), q_heads = c.integer(8);
  const std::string_view rule = c.text(10);
  const bool decays = rule.starts_with("gated"), corrects = rule.ends_with("delta");
  const DType dtype = c.tensor(0).dtype();
  const auto wide = [](const Tensor& t) { return t.to(kFloat32); };
  const Tensor q = wide(by_heads(c.tensor(0), q_heads)), k = wide(by_heads(c.tensor(1), kv_heads));
  const Tensor v = wide(by_heads(c.tensor(2), kv_heads));
  const double scale = c.real(9) != 0 ? c.real(9) : 1 / std::sqrt(static_cast<double>(q.size(3)));
  Tensor state = c.has(3) ? wide(c.tensor(3))
                          : zeros({q.size(0), kv_heads, k.size(3), v.size(3)}, v.options());
  Tensor decay, beta;
  if (decays) decay = exp(wide(by_heads(c.tensor(4), kv_heads)));
  if (corrects) beta = wide(by_heads(c.tensor(5), c.tensor(5).size(2)));
  std::vector<Tensor> outputs;
  for (int64_t t = 0; t < q.size(2); ++t) {
    const Tensor key = k.select(2, t).unsqueeze(3);  // [B,H,D_k,1]
    Tensor value = v.select(2, t).unsqueeze(2);      // [B,H,1,D_v]
    if (decays) state = state * decay.select(2, t).unsqueeze(3);
    if (corrects) value = (value - (state * key).sum({2}, true)) * beta.select(2, t).unsqueeze(3);
    state = state + key * value;
    const Tensor read =
        q_heads == kv_heads ? state : repeat_interleave(state, q_heads / kv_heads, 1);
    outputs.push_back((q.select(2, t).unsqueeze(3) * read).sum({2}) * scale);
  }
  c.give(stack(outputs, 1).flatten(2).to(dtype));
  c.give(state.to(c.has(3) ? c.tensor(3).dtype() : dtype));
}

// A causal convolution of each channel; the last k - 1 earlier inputs are the padding before the
// first input.
void convolve_causally(Call& c) {
  const Tensor &x = c.tensor(0), &weight = c.tensor(1);
  const int64_t k = weight.size(2);
  const Tensor before = c.has(3) ? c.tensor(3) : zeros({x.size(0), x.size(1), k - 1}, x.options());
  const Tensor all = cat({before, x}, 2);
  const Tensor y = conv1d(all, weight, c.optional_tensor(2), {.groups = x.size(1)});
  c.give(c.text(4) == "none" ? y : nn::functional::silu(y));
  c.give(all.narrow(2, all.size(2) - (k - 1), k - 1));
}

constexpr Operator kRows[] = {
    // clang-format off
    {{"Attention", "Q K V attn_mask=None past_key=None past_value=None nonpad_kv_seqlen=None "
      "is_causal=0 q_num_heads=None kv_num_heads=None scale=None softmax_precision=None "
      "softcap=0.0 qk_matmul_output_mode=0 left_window_size=-1 right_window_size=-1",
      many(attend)}, 7},
    {{"RotaryEmbedding", "X cos_cache sin_cache position_ids=None interleaved=0 num_heads=0 "
      "rotary_embedding_dim=0", one([](Call& c) { return rotated(c); })}, 4},
    {{"LinearAttention", "query key value past_state=None decay=None beta=None chunk_size=64 "
      "kv_num_heads q_num_heads scale=0.0 update_rule=gated_delta", many(attend_linearly)}, 6},
    {{"CausalConvWithState", "input weight bias=None past_state=None activation=none",
      many(convolve_causally)}, 4},
    // clang-format on
};

}  // namespace

constinit const std::span<const Operator> kAttentionOperators = kRows;

}  // namespace ambit::graph::onnx
