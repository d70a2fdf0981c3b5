// Every public function that computes, with operands of 16 bits: its results, their gradients and
// the gradients of these, against those that float64 gives of the same numbers. What may differ
// follows from how much float64's differ where operands are off by one rounding (tests/rounding.h).
#include <ambit/ambit.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "agreement_calls.h"
#include "agreement_operands.h"
#include "tests/devices.h"
#include "tests/rounding.h"

using namespace ambit;
using namespace agreement;
using rounding::Of;

namespace {

using Results = std::vector<Tensor>;
using Functions = std::set<std::string>;

/// Of linear algebra each element is made of all, and its methods are exact to the largest.
const Functions kLinearAlgebra{"cholesky",
                               "cholesky_inverse",
                               "cholesky_solve",
                               "det",
                               "geqrf",
                               "inverse",
                               "linalg_cholesky",
                               "linalg_cholesky_ex",
                               "linalg_cond",
                               "linalg_det",
                               "linalg_eigh",
                               "linalg_eigvalsh",
                               "linalg_householder_product",
                               "linalg_inv",
                               "linalg_inv_ex",
                               "linalg_lstsq",
                               "linalg_lu",
                               "linalg_lu_factor",
                               "linalg_lu_solve",
                               "linalg_matrix_exp",
                               "linalg_matrix_norm",
                               "linalg_matrix_power",
                               "linalg_pinv",
                               "linalg_qr",
                               "linalg_slogdet",
                               "linalg_solve",
                               "linalg_solve_ex",
                               "linalg_solve_triangular",
                               "linalg_svd",
                               "linalg_svdvals",
                               "linalg_tensorinv",
                               "linalg_tensorsolve",
                               "logdet",
                               "lu_solve",
                               "lu_unpack",
                               "matrix_exp",
                               "orgqr",
                               "ormqr",
                               "pinverse",
                               "qr",
                               "slogdet",
                               "svd",
                               "symeig",
                               "triangular_solve"};

struct Claim {
  /// What is compared: the results of a call, or what is made of them.
  std::function<Results(const Call&, const Operands&)> compute;
  double roundings;                    // that a function may make
  std::map<std::string, double> more;  // those that make more
  Of of;                               // whose bound an element has
  double linear_algebra;               // the roundings of kLinearAlgebra, of the largest
  Functions apart;                     // not compared
  std::map<std::string, Functions> apart_in = {};  // layouts of these names
  /// Those whose differences the results are; none: they are none.
  std::function<Results(const Call&, const Operands&)> terms = {};
  std::set<std::string> layouts = {};  // none: all
};

/// Compare what calls of 16 bits give with what those of float64 do, on every device and in every
/// layout. Return the functions that give floats of another dtype.
Functions check_all_calls(const Claim& claim) {
  Functions of_other_dtypes;
  for (const InputLayout& layout : layouts()) {
    if (!claim.layouts.empty() && !claim.layouts.contains(layout.name)) continue;
    const auto apart = claim.apart_in.find(layout.name);
    for (const DType dtype : dtypes::kReducedFloating) {
      std::vector<Operands> ways;
      for (int way = 0; way <= rounding::kWays; ++way) {
        ways.push_back(
            draw(layout, kCPU, [&](const Tensor& t) { return rounding::off(t, dtype, way); }));
      }
      for (const Call& call : CallTable<Call>::all()) {
        const std::string function = call.function;
        if ((ways[0].is_empty && !call.takes_empty) || (ways[0].is_scalar && !call.takes_scalar) ||
            claim.apart.contains(function) ||
            (apart != claim.apart_in.end() && apart->second.contains(function))) {
          continue;
        }
        INFO(function, " of ", std::string(name(dtype)), ", ", std::string(layout.name));
        const rounding::Exact want = rounding::exact([&](int way) {
          of_made = [&](const Tensor& t) {
            if (t.dtype() != kFloat64) return t;
            const Tensor moved = rounding::off(t.detach(), dtype, way);
            return t.requires_grad() ? moved + (t - t.detach()) : moved;
          };
          return claim.compute(call, ways[static_cast<size_t>(way)]);
        });
        of_made = nullptr;
        double terms = 0;
        if (claim.terms) {
          for (const Tensor& t : claim.terms(call, ways[0])) {
            if (t.defined() && t.numel() > 0) {
              terms = std::max(terms, rounding::largest_of(t.detach()).max().item<double>());
            }
          }
        }
        const bool mixed = kLinearAlgebra.contains(function);
        const auto more = claim.more.find(function);
        const double roundings = more != claim.more.end() ? more->second
                                 : mixed                  ? claim.linear_algebra
                                                          : claim.roundings;
        const Of of = mixed ? Of::largest : claim.of;
        for_each_device([&](Device device) {
          const Results got = claim.compute(call, draw(layout, device, dtype, dtype));
          REQUIRE(got.size() == want.values.size());
          for (size_t i = 0; i < got.size(); ++i) {
            INFO("result ", i);
            REQUIRE(got[i].defined() == want.values[i].defined());
            if (!got[i].defined()) continue;
            if (got[i].is_floating_point() && got[i].dtype() != dtype) {
              of_other_dtypes.insert(function);
            }
            rounding::check(got[i], want.values[i], want.changes[i], dtype, roundings, of, terms);
          }
        });
      }
    }
  }
  return of_other_dtypes;
}

/// The sum of a result, each element with a weight of its own, none of which 16 bits round.
Tensor weighted_sum(const Tensor& y) {
  const Tensor weights = arange(y.numel(), kFloat64).remainder(16) / 32 + 0.5;
  return (y * weights.reshape(y.sizes()).to(y.device(), y.dtype())).sum();
}

/// The gradients of each result by a, b and unit, or, with order 2, the gradients of each of these;
/// undefined: none. None at all where there is no formula.
Results gradients(const Call& call, const Operands& operands, int order) {
  Operands o = operands;
  Results leaves;
  for (Tensor* t : {&o.a, &o.b, &o.unit}) leaves.push_back(*t = t->detach().requires_grad_());
  try {
    Results results = call.run(o);
    for (int i = 1; i <= order; ++i) {
      Results all;
      for (const Tensor& y : results) {
        if (!y.defined() || !y.requires_grad()) continue;
        const Results some = autograd::grad({weighted_sum(y)}, leaves, {}, /*retain_graph=*/true,
                                            /*create_graph=*/i < order, /*allow_unused=*/true);
        all.insert(all.end(), some.begin(), some.end());
      }
      results = std::move(all);
    }
    return results;
  } catch (const NotImplementedError&) {
    return {};
  }
}

/// Of attention the gradients by queries and keys are sums over keys of terms that add up to
/// nothing where all keys are one, or are nearly so after a projection, and each of which is
/// rounded. Where one key is nothing the sum of the others' terms is left, which is as large as one
/// of them.
Results terms_of_attention(const Call& call, const Operands& operands) {
  const std::string function = call.function;
  const bool is_plain = function == "scaled_dot_product_attention";
  if (operands.is_empty || !(is_plain || function == "multi_head_attention_forward")) return {};
  Operands o = operands;
  if (is_plain && !equal(o.unit, o.unit.narrow(0, 0, 1).expand_as(o.unit))) return {};
  o.unit = o.unit.clone();
  o.unit.select(0, 0).zero_();
  return gradients(call, o, 1);
}

/// Those that resize refuse operands that want a gradient; these take no float64.
const Functions kWithoutGradient{"resize_", "resize_as_", "linear_int8", "quantize_rows"};

}  // namespace

TEST_CASE("functions of 16 bits round once, but those that say why") {
  const Functions others = check_all_calls(
      {.compute = [](const Call& call, const Operands& o) { return call.run(o); },
       .roundings = 1,
       .more =
           {// What is rounded on the way: a product, a factor, a sum, a row of
            // pixels, weights of attention.
            {"addcdiv", 2},
            {"addcmul", 2},
            {"logit", 3},
            {"lstm_cell", 2},
            {"multi_head_attention_forward", 3},
            {"special_log_ndtr", 2},
            {"_upsample_bicubic2d_aa", 2},
            // A way from one to the other, of which less may be left.
            {"lerp", 8},
            {"lerp_", 8},
            // Of bfloat16 on the CPU the product, which gelu makes far smaller.
            {"linear_map", 24},
            {"_addmm_activation", 24},
            // x - tanh(x), which float32 rounds, too: x^2 / 3 of it is left.
            {"tanhshrink", 128}},
       .of = Of::each,
       // Two factors, a product or a solution with them, and the result are rounded.
       .linear_algebra = 4,
       // They take no float64; steps to the next number are those of the dtype.
       .apart = {"linear_int8", "quantize_rows", "nextafter", "nextafter_"}});
  std::string names;
  for (const std::string& f : others) names += f + " ";
  // Asked for, or, of rows with other operands, promoted.
  CHECK(names == "angle bincount div exp float_power float_power_ gradient ldexp polygamma to ");
}

// Their formulas are those of a few ops, each of which rounds.
TEST_CASE("gradients of 16 bits are as exact as their operands") {
  check_all_calls(
      {.compute = [](const Call& call, const Operands& o) { return gradients(call, o, 1); },
       .roundings = 4,
       .more =
           {// From results that are rounded, as PyTorch's: 1 - y^2 where y is nearly 1.
            {"lstm", 8},
            {"rnn_tanh_cell", 32},
            {"softmin", 6},
            // A rounding decides on which side of its kink a sum is.
            {"cudnn_convolution_add_relu", 6},
            // Chains of products and solutions.
            {"linalg_pinv", 8},
            // As above, of x^2.
            {"tanhshrink", 512}},
       .of = Of::largest,
       .linear_algebra = 4,
       .apart = kWithoutGradient,
       .terms = [](const Call& call, const Operands& o) { return terms_of_attention(call, o); }});
}

TEST_CASE("gradients of gradients of 16 bits are as exact as their operands") {
  check_all_calls(
      {.compute = [](const Call& call, const Operands& o) { return gradients(call, o, 2); },
       .roundings = 8,
       .more =
           {// Of results that are rounded, as above, and of gradients that are, too.
            {"rnn_tanh_cell", 32},
            {"multi_head_attention_forward", 16},
            {"linear_map", 24},
            {"linalg_pinv", 16},
            // y / x, whose own gradients cancel, being 1 / x as large as it.
            {"copysign", 32},
            {"copysign_", 32}},
       .of = Of::largest,
       .linear_algebra = 8,
       .apart =
           [] {
             Functions apart = kWithoutGradient;
             // Of values that are one, or that 16 bits round to one, vectors have no gradient.
             apart.insert(
                 {"linalg_svd", "svd", "linalg_svdvals", "linalg_matrix_norm", "linalg_eigvalsh"});
             // Of a tiny number x / |x|^2 is more than float16 has.
             apart.insert({"norm", "linalg_norm", "linalg_vector_norm"});
             return apart;
           }(),
       // What is left of them where a function is nearly straight.
       .terms = [](const Call& call, const Operands& o) { return gradients(call, o, 1); },
       // The others' strides are those of operands alone, which the ops above have had.
       .layouts = {"contiguous", "broadcast", "0-dim"}});
}
