// Every public function with large bfloat16 operands: none converts a whole operand to float32,
// except those listed with the reason. parts_test.cpp measures the memory that kernels allocate.
#include <ambit/ambit.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "agreement_calls.h"
#include "agreement_operands.h"
#include "tests/bfloat16_products.h"
#include "tests/threads.h"

using namespace ambit;
using namespace agreement;

namespace {

using Functions = std::set<std::string>;

/// Return the number of elements of the largest copy between a reduced floating-point type and
/// float32 or float64.
int64_t largest_conversion(const profiler::Profile& profile) {
  int64_t largest = 0;
  for (const profiler::FunctionEvent& e : profile.events()) {
    const auto has = [&](const char* dtype) { return e.dtypes.find(dtype) != std::string::npos; };
    if (e.name != "copy" || !has("bfloat16") || !(has("float32") || has("float64"))) continue;
    largest = std::max(largest, e.bytes / (has("float64") ? 10 : 6));
  }
  return largest;
}

Functions names(const char* text) {
  std::istringstream words(text);
  return {std::istream_iterator<std::string>(words), {}};
}

/// Functions whose calls have operands of other sizes, too, or much larger results.
const char* const kNotOfTheseSizes =
    "addmv addmv_ addr addr_ cdist cov diag_embed diagflat einsum ger hsplit kron "
    "linalg_householder_product linalg_ldl_solve linalg_lstsq lstm lstm_cell "
    "multi_head_attention_forward multilabel_margin_loss mv orgqr ormqr outer pdist "
    "repeat_interleave split_with_sizes sum_to_size symeig unflatten unsafe_split_with_sizes";

/// Functions that convert a large operand to wider floats, with the reasons.
const char* const kKnown =
    // The operand is one unit, which ops do not split (core/dispatch/split_rules.cpp): one line.
    "_unique argmax argmin histogram layer_norm median nanmedian put_ quantile "
    // The unit is one matrix.
    "cholesky_solve linalg_lu_solve linalg_matrix_norm linalg_matrix_rank linalg_solve "
    "linalg_solve_ex linalg_solve_triangular linalg_svd linalg_svdvals lu_solve svd "
    "triangular_solve "
    // The function reads the bits of float64, or has a correction other than 0 and 1.
    "hash_tensor std var "
    // The unit is one image of one channel, or one head.
    "_upsample_nearest_exact2d _upsample_nearest_exact3d instance_norm interpolate "
    "scaled_dot_product_attention upsample_bicubic2d upsample_bilinear2d "
    "upsample_nearest2d upsample_nearest3d "
    "upsample_trilinear3d "
    // These functions are composed of ops each of which would round, so all of them compute in
    // float32 (detail/by_float32.h), and the graph saves float32, too.
    "binary_cross_entropy binary_cross_entropy_with_logits corrcoef cosine_embedding_loss "
    "cosine_similarity cross_entropy dist grid_sample grid_sampler grid_sampler_2d "
    "grid_sampler_3d hinge_embedding_loss histc huber_loss kl_div l1_loss linalg_vecdot "
    "linear_int8 local_response_norm lp_pool1d lp_pool2d lp_pool3d margin_ranking_loss mse_loss "
    "multi_margin_loss multilabel_soft_margin_loss "
    "normalize pairwise_distance poisson_nll_loss quantize_rows renorm renorm_ segment_reduce "
    "smooth_l1_loss soft_margin_loss tanhshrink triplet_margin_loss "
    "triplet_margin_with_distance_loss "
    // The result, or its computation on the host, is float64.
    "bincount float_power float_power_ frexp igamma igamma_ igammac igammac_ "
    // These functions refuse reduced floating-point types; their rows convert the operands.
    "complex conj conj_physical conj_physical_ imag polar resolve_conj resolve_neg "
    "view_as_complex view_as_real "
    "fft_fft fft_fft2 fft_fftn fft_hfft fft_hfft2 fft_hfftn fft_ifft fft_ifft2 fft_ifftn "
    "fft_ihfft fft_ihfft2 fft_ihfftn fft_irfft fft_irfft2 fft_irfftn fft_rfft fft_rfft2 "
    "fft_rfftn istft stft "
    // These functions return float32 for operands of a reduced floating-point type.
    "ldexp ldexp_";

/// Functions whose gradients convert a large operand, with the reasons.
const char* const kKnownGradients =
    // As above.
    "_upsample_nearest_exact2d _upsample_nearest_exact3d binary_cross_entropy "
    "binary_cross_entropy_with_logits cholesky_solve cosine_embedding_loss cosine_similarity "
    "cross_entropy dist float_power float_power_ grid_sample grid_sampler grid_sampler_2d "
    "grid_sampler_3d hinge_embedding_loss huber_loss instance_norm interpolate kl_div l1_loss "
    "layer_norm ldexp ldexp_ linalg_lu_solve linalg_solve linalg_solve_ex "
    "linalg_solve_triangular linalg_vecdot local_response_norm lp_pool1d lp_pool2d lp_pool3d "
    "lu_solve margin_ranking_loss "
    "mse_loss multi_margin_loss multilabel_soft_margin_loss normalize pairwise_distance "
    "poisson_nll_loss quantile renorm renorm_ scaled_dot_product_attention segment_reduce "
    "smooth_l1_loss soft_margin_loss tanhshrink triangular_solve triplet_margin_loss "
    "triplet_margin_with_distance_loss upsample_bicubic2d upsample_bilinear2d "
    "upsample_nearest2d upsample_nearest3d upsample_trilinear3d "
    "complex conj conj_physical conj_physical_ imag polar resolve_conj resolve_neg "
    "view_as_complex view_as_real "
    "fft_fft fft_fft2 fft_fftn fft_hfft fft_hfft2 fft_hfftn fft_ifft fft_ifft2 fft_ifftn "
    "fft_ihfft fft_ihfft2 fft_ihfftn fft_irfft fft_irfft2 fft_irfftn fft_rfft fft_rfft2 "
    "fft_rfftn istft stft "
    // The gradient is added at indices of one line, or of so many rows that a few columns are
    // large.
    "as_strided as_strided_ as_strided_scatter combinations embedding fill_diagonal_ "
    "fractional_max_pool2d_with_indices fractional_max_pool3d_with_indices index masked_select "
    "take "
    // The gradient is a formula of several ops.
    "cumprod cumprod_ index_reduce_ linalg_vector_norm norm prod scatter_reduce sinc "
    "sinc_ special_erfcx special_i1 special_i1e special_log_ndtr std std_mean var var_mean";

/// Convolutions of one image and one filter. An image is not split. If the CPU does not multiply
/// bfloat16 they convert it to float32; otherwise only the gradients do, because oneDNN computes
/// wrong gradients for an odd number of filters.
const char* const kConvolutions =
    "conv_tbc convolution_map cudnn_convolution_add_relu cudnn_convolution_relu";

Functions expected(const char* known) {
  Functions functions = names(known);
  const bool converts = !cpu_multiplies_bfloat16() || known == kKnownGradients;
  if (converts) functions.merge(names(kConvolutions));
  return functions;
}

std::string str(const Functions& functions) {
  std::string text;
  for (const std::string& f : functions) text += f + " ";
  return text;
}

/// Return the functions for which work(call, operands, profile), which partly runs within a
/// profile, copies more elements at once than a part has.
Functions those_that_convert(
    const std::function<void(const Call&, Operands&, std::optional<profiler::Profile>&)>& work) {
  const Threads one(1);
  constexpr int64_t kMost = int64_t{1} << 19;  // elements of a part, on one thread of the CPU
  const auto same = [](const Tensor& t) { return t; };
  const InputLayout layout{"large", {768, 704}, same, same};
  static_assert(768 * 704 > kMost);
  const Operands operands = draw(layout, kCPU, kBFloat16, kBFloat16);
  const Functions apart = names(kNotOfTheseSizes);
  Functions found;
  for (const Call& call : CallTable<Call>::all()) {
    if (apart.contains(call.function)) continue;
    INFO(std::string(call.function));
    Operands o = operands;
    std::optional<profiler::Profile> profile;
    work(call, o, profile);
    if (!profile) continue;
    profile->stop();
    if (largest_conversion(*profile) > kMost) found.insert(call.function);
  }
  return found;
}

}  // namespace

TEST_CASE("no function except those listed with a reason converts a large operand to float32") {
  const Functions found = those_that_convert([](const Call& call, Operands& o, auto& profile) {
    profile.emplace();
    call.run(o);
  });
  CHECK(str(found) == str(expected(kKnown)));
}

TEST_CASE("no gradient except those listed with a reason converts a large operand to float32") {
  const Functions found = those_that_convert([](const Call& call, Operands& o, auto& profile) {
    std::vector<Tensor> leaves, results;
    for (Tensor* t : {&o.a, &o.b, &o.unit}) leaves.push_back(*t = t->detach().requires_grad_());
    try {
      results = call.run(o);
    } catch (const Error&) {  // the function refuses tensors that require grad
      return;
    }
    profile.emplace();
    for (const Tensor& y : results) {
      if (!y.requires_grad()) continue;
      try {
        autograd::grad({y}, leaves, {ones_like(y)}, true, false, /*allow_unused=*/true);
      } catch (const Error&) {  // it has no gradient
      }
    }
  });
  CHECK(str(found) == str(expected(kKnownGradients)));
}

TEST_CASE("norms and logsumexp of large bfloat16 tensors equal those of float32, rounded") {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  manual_seed(1);
  for (const DType dtype : dtypes::kReducedFloating) {
    const Tensor x = randn({300, 70, 90}).to(dtype), wide = x.to(kFloat32);
    for (const Tensor& t : {x, x.permute({2, 0, 1})}) {
      for (const Dims& dims : {Dims{}, Dims{0}, Dims{1, 2}, Dims{0, 2}, Dims{2}}) {
        const Tensor f = t.to(kFloat32);
        for (const double p : {0., 0.5, 1., 2., 3., -1., kInfinity, -kInfinity}) {
          INFO(name(dtype), " p ", p, " over ", str(dims));
          // Sums in another order round differently in float32: the result may be a neighbour.
          const Tensor want = norm(f, p, dims, true), got = norm(t, p, dims, true);
          REQUIRE(got.dtype() == dtype);
          CHECK(got.to(kFloat32).allclose(want.to(dtype).to(kFloat32), finfo(dtype).eps, 0));
        }
        const Tensor want = logsumexp(f, dims, false), got = logsumexp(t, dims, false);
        CHECK(got.to(kFloat32).allclose(want.to(dtype).to(kFloat32), finfo(dtype).eps, 0));
      }
    }
    const Tensor none = full({600, 1000}, -kInfinity, dtype), all = full({1, 1}, kInfinity, dtype);
    CHECK(logsumexp(none, {0, 1}).item<double>() == -kInfinity);
    CHECK(logsumexp(cat({none, all.expand({1, 1000})}), {0, 1}).item<double>() == kInfinity);
  }
}
