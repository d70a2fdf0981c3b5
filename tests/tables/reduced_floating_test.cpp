// Every public function that computes, with float16 and bfloat16 operands: its results and their
// first and second gradients, compared with those of float64 for the same numbers. The tolerance is
// derived from the change of float64's results when operands have an error of one rounding
// (tests/rounding.h).
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

/// In linear algebra and Fourier transforms each element depends on all, and the error is relative
/// to the largest.
const Functions kLinearAlgebra{"cholesky",
                               "cholesky_inverse",
                               "cholesky_solve",
                               "det",
                               "fft_fft",
                               "fft_fft2",
                               "fft_fftn",
                               "fft_hfft",
                               "fft_hfft2",
                               "fft_hfftn",
                               "fft_ifft",
                               "fft_ifft2",
                               "fft_ifftn",
                               "fft_ihfft",
                               "fft_ihfft2",
                               "fft_ihfftn",
                               "fft_irfft",
                               "fft_irfft2",
                               "fft_irfftn",
                               "fft_rfft",
                               "fft_rfft2",
                               "fft_rfftn",
                               "geqrf",
                               "inverse",
                               "linalg_cholesky",
                               "linalg_cholesky_ex",
                               "linalg_cond",
                               "linalg_det",
                               "linalg_eig",
                               "linalg_eigh",
                               "linalg_eigvals",
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
  /// The compared values: the results of a call, or their gradients.
  std::function<Results(const Call&, const Operands&)> compute;
  double roundings;                    // number of roundings of each function
  std::map<std::string, double> more;  // roundings of the functions that round more often
  Of of;                               // the element that a bound is relative to
  double linear_algebra;               // roundings of linear algebra, relative to the largest
  Functions apart;                     // not compared
  std::map<std::string, Functions> apart_in = {};  // layouts of these names
  /// Functions whose values are compared by differences only; empty: none.
  std::function<Results(const Call&, const Operands&)> terms = {};
  std::set<std::string> layouts = {};  // empty: all
};

/// Compare calls with float16 and bfloat16 operands with those of float64, on every device and in
/// every layout. Return the functions that return floats of another dtype.
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

/// Return the sum of a result, with a different weight for each element; all weights are exact in
/// float16 and bfloat16.
Tensor weighted_sum(const Tensor& y) {
  const Tensor weights = arange(y.numel(), kFloat64).remainder(16) / 32 + 0.5;
  return (y * weights.reshape(y.sizes()).to(y.device(), y.dtype())).sum();
}

/// Return the gradients of each result with respect to a, b and unit, or, with order 2, the
/// gradients of each of these; undefined: none. Empty if there is no gradient.
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

/// In attention the gradients with respect to queries and keys are sums over keys of terms that add
/// up to 0 if all keys are equal, or nearly equal after a projection, and each term is rounded. If
/// one key is zero the sum of the other terms remains, which is as large as one of them.
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

/// Functions that resize refuse operands that require grad; the others do not accept float64.
const Functions kWithoutGradient{"resize_", "resize_as_", "linear_int8", "quantize_rows"};

}  // namespace

TEST_CASE("functions of float16 and bfloat16 round once, except those listed with a reason") {
  const Functions others = check_all_calls(
      {.compute = [](const Call& call, const Operands& o) { return call.run(o); },
       .roundings = 1,
       .more =
           {// Functions that round an intermediate result: a product, a factor, a sum, a row of
            // pixels, weights of attention.
            {"addcdiv", 2},
            {"addcmul", 2},
            {"logit", 3},
            {"lstm_cell", 2},
            {"multi_head_attention_forward", 3},
            {"special_log_ndtr", 2},
            {"_upsample_bicubic2d_aa", 2},
            // A difference of operands, which may be smaller than they are.
            {"lerp", 8},
            {"lerp_", 8},
            // For bfloat16 on the CPU, the product is rounded, and gelu makes the result far
            // smaller.
            {"linear_map", 24},
            {"_addmm_activation", 24},
            // x - tanh(x) is computed in float32, where the difference cancels: only x^2 / 3 of x
            // remains.
            {"tanhshrink", 128}},
       .of = Of::each,
       // Two factors, a product or a solution with them, and the result are rounded.
       .linear_algebra = 4,
       // These do not accept float64; steps to the next number depend on the dtype.
       .apart = {"linear_int8", "quantize_rows", "nextafter", "nextafter_"}});
  std::string names;
  for (const std::string& f : others) names += f + " ";
  // The dtype is requested, or, for rows with other operands, promoted.
  CHECK(names == "angle bincount div exp float_power float_power_ gradient polygamma to ");
}

// The formulas of gradients have several ops, each of which rounds.
TEST_CASE("gradients of float16 and bfloat16 are as accurate as their operands") {
  check_all_calls(
      {.compute = [](const Call& call, const Operands& o) { return gradients(call, o, 1); },
       .roundings = 4,
       .more =
           {// Computed from rounded results, as in PyTorch: 1 - y^2 where y is nearly 1.
            {"lstm", 8},
            {"rnn_tanh_cell", 32},
            {"softmin", 6},
            // A rounding determines on which side of a kink a sum is.
            {"cudnn_convolution_add_relu", 6},
            // These functions are chains of products and solutions.
            {"linalg_pinv", 8},
            // As above: of the gradient's terms, 1 and 1 / cosh(x)^2, only x^2 remains.
            {"tanhshrink", 512}},
       .of = Of::largest,
       .linear_algebra = 4,
       .apart = kWithoutGradient,
       .terms = [](const Call& call, const Operands& o) { return terms_of_attention(call, o); }});
}

TEST_CASE("second gradients of float16 and bfloat16 are as accurate as their operands") {
  check_all_calls(
      {.compute = [](const Call& call, const Operands& o) { return gradients(call, o, 2); },
       .roundings = 8,
       .more =
           {// Computed from rounded results, as above, and from rounded gradients.
            {"rnn_tanh_cell", 32},
            {"multi_head_attention_forward", 16},
            {"linear_map", 24},
            {"linalg_pinv", 16},
            // The gradient y / x, whose own gradients cancel, because 1 / x is as large.
            {"copysign", 32},
            {"copysign_", 32}},
       .of = Of::largest,
       .linear_algebra = 8,
       .apart =
           [] {
             Functions apart = kWithoutGradient;
             // Vectors of values that are equal, or are equal after rounding, have no
             // gradient.
             apart.insert(
                 {"linalg_svd", "svd", "linalg_svdvals", "linalg_matrix_norm", "linalg_eigvalsh"});
             // For a tiny number x / |x|^2 exceeds float16.
             apart.insert({"norm", "linalg_norm", "linalg_vector_norm"});
             return apart;
           }(),
       // The second gradient of a nearly linear function is a small difference.
       .terms = [](const Call& call, const Operands& o) { return gradients(call, o, 1); },
       // Other layouts only have other strides of operands, which the ops above have tested.
       .layouts = {"contiguous", "broadcast", "0-dim"}});
}
