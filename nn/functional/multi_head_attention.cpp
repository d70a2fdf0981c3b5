// Multi-head attention, composed of ops.
#include <ambit/nn/functional/attention.h>
#include <ambit/nn/transformer.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/matmul.h>
#include <ambit/ops/norm.h>
#include <ambit/ops/random.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/shape.h>

#include <cmath>
#include <limits>

#include "nn/functional/check.h"
#include "nn/quantized_linear.h"

namespace ambit::nn::functional {
namespace {

using Settings = MultiheadAttentionForwardFuncOptions;

constexpr const char* kName = "multi_head_attention";

void check_sizes(const char* what, const Tensor& t, IntArrayRef sizes, const char* text) {
  if (t.defined() && t.sizes() == sizes) return;
  throw ShapeError(fmt::format("{}: expected {} of shape {} = {}, got {}", kName, what, text,
                               str(sizes), t.defined() ? str(t.sizes()) : "an undefined one"));
}

void check_if_given(const char* what, const Tensor& t, IntArrayRef sizes, const char* text) {
  if (t.defined()) check_sizes(what, t, sizes, text);
}

void check_inputs(const Tensor& query, const Tensor& key, const Tensor& value, const Settings& o) {
  for (const Tensor* t : {&query, &key, &value}) check_floating(kName, *t);
  check_same_device(kName, {{"query", query},
                            {"key", key},
                            {"value", value},
                            {"key_padding_mask", o.key_padding_mask()},
                            {"attn_mask", o.attn_mask()},
                            {"in_proj_weight", o.in_proj_weight()},
                            {"in_proj_bias", o.in_proj_bias()},
                            {"q_proj_weight", o.q_proj_weight()},
                            {"k_proj_weight", o.k_proj_weight()},
                            {"v_proj_weight", o.v_proj_weight()},
                            {"bias_k", o.bias_k()},
                            {"bias_v", o.bias_v()},
                            {"static_k", o.static_k()},
                            {"static_v", o.static_v()},
                            {"out_proj_weight", o.out_proj_weight()},
                            {"out_proj_bias", o.out_proj_bias()}});
  const int64_t e = o.embed_dim_to_check();
  if (o.num_heads() < 1 || e < 1 || e % o.num_heads() != 0) {
    throw Error(fmt::format("{}: expected num_heads that divide embed_dim, got {} and {}", kName,
                            o.num_heads(), e));
  }
  if (query.dim() != 3 || key.dim() != 3 || value.dim() != 3 || query.size(2) != e ||
      key.size(0) != value.size(0) || key.size(1) != query.size(1) ||
      value.size(1) != query.size(1)) {
    throw ShapeError(fmt::format(
        "{}: expected query [L,N,{}], key [S,N,...] and value [S,N,...], got {}, {} and {}", kName,
        e, str(query.sizes()), str(key.sizes()), str(value.sizes())));
  }
}

void check_weights(const Tensor& key, const Tensor& value, const Settings& o) {
  const int64_t e = o.embed_dim_to_check();
  if (o.use_separate_proj_weight()) {
    check_sizes("q_proj_weight", o.q_proj_weight(), {e, e}, "[E, E]");
    check_sizes("k_proj_weight", o.k_proj_weight(), {e, key.size(2)}, "[E, features of key]");
    check_sizes("v_proj_weight", o.v_proj_weight(), {e, value.size(2)}, "[E, features of value]");
  } else {
    check_sizes("in_proj_weight", o.in_proj_weight(), {3 * e, e}, "[3 E, E]");
    if (key.size(2) != e || value.size(2) != e) {
      throw ShapeError(fmt::format("{}: expected key and value of {} features, got {} and {}",
                                   kName, e, key.size(2), value.size(2)));
    }
  }
  check_if_given("in_proj_bias", o.in_proj_bias(), {3 * e}, "[3 E]");
  check_sizes("out_proj_weight", o.out_proj_weight(), {e, e}, "[E, E]");
  check_if_given("out_proj_bias", o.out_proj_bias(), {e}, "[E]");
  check_if_given("bias_k", o.bias_k(), {1, 1, e}, "[1, 1, E]");
  check_if_given("bias_v", o.bias_v(), {1, 1, e}, "[1, 1, E]");
  const bool biased = o.bias_k().defined();
  if (biased != o.bias_v().defined() ||
      (biased && (o.static_k().defined() || o.static_v().defined()))) {
    throw Error(fmt::format(
        "{}: expected bias_k and bias_v, or neither, and no static_k or static_v with them, got "
        "another choice",
        kName));
  }
}

// Convert a mask to an additive one: -inf where a bool mask is true.
Tensor added(const char* what, const Tensor& mask, const Tensor& like) {
  if (mask.is_floating_point()) return mask.to(like.dtype());
  if (mask.dtype() != kBool && mask.dtype() != kUInt8) {
    throw DTypeError(fmt::format("{}: expected {} of bool or floating point, got {}", kName, what,
                                 name(mask.dtype())));
  }
  return zeros(mask.sizes(), like.options())
      .masked_fill(mask != 0, -std::numeric_limits<double>::infinity());
}

// Return the mask extended by `extra` keys that every query attends to.
Tensor seen(const Tensor& mask, int64_t extra) {
  if (extra == 0) return mask;
  Dims sizes(mask.sizes());
  sizes[sizes.size() - 1] = extra;
  return cat({mask, zeros(sizes, mask.options())}, -1);
}

// Combine both masks into an additive one that broadcasts to [N, heads, L, S + extra]; undefined if
// there are none.
Tensor merged_mask(const Settings& o, const Tensor& q, int64_t given, int64_t extra) {
  const int64_t n = q.size(0), heads = q.size(1), l = q.size(2);
  Tensor out;
  if (o.attn_mask().defined()) {
    const bool each = o.attn_mask().dim() == 3;
    check_sizes("attn_mask", o.attn_mask(),
                each ? IntArrayRef{n * heads, l, given} : IntArrayRef{l, given},
                each ? "[N num_heads, L, S]" : "[L, S]");
    out = seen(added("attn_mask", o.attn_mask(), q), extra);
    if (each) out = out.view({n, heads, l, given + extra});
  }
  if (o.key_padding_mask().defined()) {
    check_sizes("key_padding_mask", o.key_padding_mask(), {n, given}, "[N, S]");
    const Tensor padding = seen(added("key_padding_mask", o.key_padding_mask(), q), extra)
                               .view({n, 1, 1, given + extra});
    out = out.defined() ? out + padding : padding;
  }
  return out;
}

}  // namespace

std::tuple<Tensor, Tensor> multi_head_attention_forward(const Tensor& query, const Tensor& key,
                                                        const Tensor& value, const Settings& o) {
  check_inputs(query, key, value, o);
  check_weights(key, value, o);
  const int64_t l = query.size(0), n = query.size(1), e = query.size(2), heads = o.num_heads();
  const int64_t head = e / heads;
  // [T,N,E] -> [N,heads,T,head]
  const auto by_head = [&](const Tensor& x) {
    return x.reshape({x.size(0), n, heads, head}).permute({1, 2, 0, 3});
  };
  const auto projected = [&](const Tensor& x, int64_t part, const Tensor& own,
                             const Tensor& own_scale, const Tensor& more) {
    const auto part_of = [&](const Tensor& t) {
      return t.defined() ? t.narrow(0, part * e, e) : Tensor();
    };
    const bool apart = o.use_separate_proj_weight();
    const Tensor y =
        product(x, apart ? own : part_of(o.in_proj_weight()),
                apart ? own_scale : part_of(o.in_proj_weight_scale()), part_of(o.in_proj_bias()));
    return by_head(more.defined() ? cat({y, more.expand({1, n, e})}, 0) : y);
  };
  const auto fixed = [&](const char* what, const Tensor& given) {
    if (given.dim() != 3 || given.size(0) != n * heads || given.size(2) != head) {
      throw ShapeError(fmt::format("{}: expected {} of shape [{}, S, {}], got {}", kName, what,
                                   n * heads, head, str(given.sizes())));
    }
    return given.reshape({n, heads, given.size(1), head});
  };
  const Tensor q = projected(query, 0, o.q_proj_weight(), o.q_proj_weight_scale(), {});
  Tensor k = o.static_k().defined()
                 ? fixed("static_k", o.static_k())
                 : projected(key, 1, o.k_proj_weight(), o.k_proj_weight_scale(), o.bias_k());
  Tensor v = o.static_v().defined()
                 ? fixed("static_v", o.static_v())
                 : projected(value, 2, o.v_proj_weight(), o.v_proj_weight_scale(), o.bias_v());
  int64_t extra = o.bias_k().defined() ? 1 : 0;
  if (o.add_zero_attn()) {
    const Tensor none = zeros({n, heads, 1, head}, k.options());
    k = cat({k, none}, 2);
    v = cat({v, none}, 2);
    ++extra;
  }
  if (k.size(2) != v.size(2)) {
    throw ShapeError(fmt::format("{}: expected as many keys as values, got {} and {}", kName,
                                 k.size(2), v.size(2)));
  }
  const Tensor mask = merged_mask(o, q, k.size(2) - extra, extra);
  const double p = o.training() ? o.dropout_p() : 0;
  Tensor attended, weights;
  if (o.need_weights()) {
    Tensor scores =
        matmul(q / std::sqrt(static_cast<double>(head)), k.transpose(-2, -1));  // [N,heads,L,S]
    if (mask.defined()) scores = scores + mask;
    weights = ambit::dropout(softmax(scores, -1), p, p > 0);
    attended = matmul(weights, v);
    if (o.average_attn_weights()) weights = weights.mean(1);
  } else {
    attended = functional::scaled_dot_product_attention(q, k, v, mask, p);
  }
  const Tensor joined = attended.permute({2, 0, 1, 3}).reshape({l, n, e});
  return {product(joined, o.out_proj_weight(), o.out_proj_weight_scale(), o.out_proj_bias()),
          weights};
}

}  // namespace ambit::nn::functional
