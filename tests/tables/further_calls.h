// Calls that the agreement table leaves to other tests: functions that draw, create or only
// describe tensors, or process images.
#pragma once

#include "agreement_calls.h"

namespace agreement {

#define IMAGE o.a.unsqueeze(0).unsqueeze(0)
#define FILTER MADE(IMAGE.narrow(2, 0, 2).narrow(3, 0, 2).contiguous())

inline std::vector<Call> further_calls() {
  static const ConvParams conv{};
  static const PoolParams pool{.kernel = {2, 2}};
  return {
      RESULT(empty, empty(3)),
      RESULT(empty_strided, empty_strided({2}, {1})),
      RESULT(zeros, zeros(3)),
      RESULT(ones, ones(3)),
      RESULT(full, full({3}, 2)),
      RESULT(empty_like, empty_like(o.a)),
      RESULT(arange, arange(3)),
      RESULT(linspace, linspace(0, 1, 3)),
      RESULT(eye, eye(3)),
      RESULT(tensor, tensor({1, 2})),
      RESULT(scalar_tensor, scalar_tensor(1)),
      RESULT(from_blob, from_blob(o.a.data_ptr(), {1})),
      RESULT(rand, rand(3)),
      RESULT(randn, randn(3)),
      RESULT(randint, randint(5, 3)),
      RESULT(randperm, randperm(3)),
      RESULT(rand_like, rand_like(o.a)),
      RESULT(randn_like, randn_like(o.a)),
      RESULT(randint_like, randint_like(o.a, 5)),
      RESULT(bernoulli, bernoulli(o.unit)),
      IN_PLACE(uniform_, o.a),
      IN_PLACE(normal_, o.a),
      IN_PLACE(random_, o.a),
      IN_PLACE(bernoulli_, o.a),
      IN_PLACE(exponential_, o.a),
      IN_PLACE(geometric_, o.a, 0.5),
      IN_PLACE(cauchy_, o.a),
      IN_PLACE(log_normal_, o.a),
      RESULT(normal, normal(o.a, o.unit)),
      RESULT(poisson, poisson(o.unit)),
      RESULT(binomial, binomial(MADE(o.m.to(o.unit.dtype())), o.unit)),
      RESULT(dropout, dropout(o.a, 0.5, true)),
      RESULT(native_dropout, std::get<0>(native_dropout(o.a, 0.5, true))),
      RESULT(dropout2d, nn::functional::dropout2d(IMAGE)),
      RESULT(dropout3d, nn::functional::dropout3d(IMAGE.unsqueeze(0))),
      RESULT(alpha_dropout, alpha_dropout(o.a, 0.5, true)),
      RESULT(feature_dropout, feature_dropout(o.a, 0.5, true)),
      RESULT(feature_dropout_, feature_dropout_(MADE(o.a.clone()), 0.5, true)),
      RESULT(feature_alpha_dropout, feature_alpha_dropout(o.a, 0.5, true)),
      RESULT(gumbel_softmax, nn::functional::gumbel_softmax(o.a)),
      RESULT(dropout_, dropout_(MADE(o.a.clone()), 0.5, true)),
      Call{"result_type",
           [](const Operands& o) {
             static_cast<void>(result_type(o.a, o.n));
             return std::vector<Tensor>();
           }},
      Call{"can_cast",
           [](const Operands&) {
             static_cast<void>(can_cast(kInt64, kFloat32));
             return std::vector<Tensor>();
           }},
      RESULT(conv1d,
             conv1d(o.a.unsqueeze(0), MADE(o.unit.narrow(1, 0, 2).contiguous()).unsqueeze(0))),
      RESULT(conv2d, conv2d(IMAGE, FILTER)),
      RESULT(conv3d, conv3d(IMAGE.unsqueeze(0), FILTER.unsqueeze(0))),
      RESULT(convolution, convolution(IMAGE, FILTER, {}, 1, 0, 1, false, 0, 1)),
      RESULT(conv_transpose1d, conv_transpose1d(o.a.unsqueeze(0), o.unit.unsqueeze(2))),
      RESULT(conv_transpose2d, conv_transpose2d(IMAGE, FILTER)),
      RESULT(conv_transpose3d, conv_transpose3d(IMAGE.unsqueeze(0), FILTER.unsqueeze(0))),
      RESULT(convolution_input_grad, convolution_input_grad(IMAGE, FILTER, {1, 1, 8, 6}, conv)),
      RESULT(convolution_weight_grad, convolution_weight_grad(IMAGE, IMAGE, {1, 1, 1, 1}, conv)),
      RESULT(max_pool2d, max_pool2d(IMAGE, pool)),
      RESULT(max_pool2d_with_indices, std::get<0>(max_pool2d_with_indices(IMAGE, pool))),
      RESULT(avg_pool2d, avg_pool2d(IMAGE, pool)),
      RESULT(adaptive_avg_pool2d, adaptive_avg_pool2d(IMAGE, {3, 2})),
      RESULT(batch_norm, batch_norm(o.a, {}, {}, MADE(zeros({5}, o.a.options())),
                                    MADE(ones({5}, o.a.options())), BatchNormParams{})),
      RESULT(subtract, subtract(o.a, o.b)),
      RESULT(clip, clip(o.a, 0, 1)),
      RESULT(arctan2, arctan2(o.a, o.b)),
#define ALIAS(alias, function) RESULT(alias, alias(o.a)),
      AMBIT_UNARY_ALIASES(ALIAS)
#undef ALIAS
#define ALIAS(alias, function) RESULT(alias, alias(o.a, o.b)),
          AMBIT_BINARY_ALIASES(ALIAS)
#undef ALIAS
  };
}

#undef IMAGE
#undef FILTER

}  // namespace agreement
