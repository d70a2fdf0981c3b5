// Bad calls of reductions, products, layers and losses.
#include "bad_calls.h"

#include <cmath>

using namespace ambit;
using namespace bad_input;

namespace {

std::vector<BadCall> reduce_calls() {
  return {
      VALUE(sum, none()),
      INDEX(sum, m23(), {2}),
      SHAPE(sum, m23(), {0, 0}),
      DTYPE(mean, i23()),
      INDEX(mean, m23(), {-3}),
      INDEX(prod, m23(), 2),
      VALUE(prod, none()),
      DTYPE(var, i23()),
      INDEX(var, m23(), IntArrayRef{5}),
      // In a function call the unqualified name would also be found in the namespace.
      bad<DTypeError>("std", "std(i23())", [] { ambit::std(i23()); }),
      bad<IndexError>("std", "std(m23(), {5})", [] { ambit::std(m23(), IntArrayRef{5}); }),
      SHAPE(max, ones({0})),
      INDEX(max, m23(), 2),
      SHAPE(max, ones({2, 0}), 1),
      DEVICE(max, m23(), there()),
      SHAPE(max, m23(), m45()),
      SHAPE(min, ones({0})),
      INDEX(min, m23(), -3),
      DEVICE(min, m23(), there()),
      SHAPE(argmax, ones({0})),
      INDEX(argmax, m23(), 2),
      SHAPE(argmin, ones({0})),
      INDEX(argmin, m23(), 2),
      INDEX(any, m23(), 2),
      VALUE(any, none()),
      INDEX(all, m23(), 2),
      VALUE(all, none()),
      DTYPE(norm, i23()),
      INDEX(norm, m23(), 2, {4}),
      INDEX(logsumexp, m23(), {2}),
      VALUE(logsumexp, none(), {0}),
      INDEX(cumsum, m23(), 2),
      VALUE(cumsum, none(), 0),
  };
}

std::vector<BadCall> matmul_calls() {
  return {
      SHAPE(matmul, m23(), m23()),
      SHAPE(matmul, ones({}), m23()),
      DTYPE(matmul, m23(), i23()),
      DTYPE(matmul, b23(), b23().t()),
      DEVICE(matmul, m23(), there().t()),
      SHAPE(matmul, ones({2, 2, 3}), ones({3, 3, 2})),
      SHAPE(mm, m23(), ones({3})),
      SHAPE(mm, m23(), m23()),
      DEVICE(mm, m23(), there()),
      SHAPE(bmm, m23(), m23()),
      SHAPE(bmm, ones({2, 2, 3}), ones({3, 3, 2})),
      DEVICE(bmm, ones({1, 2, 3}), there()),
      SHAPE(mv, m23(), ones({2})),
      SHAPE(mv, m23(), m23()),
      DEVICE(mv, there(), ones({3})),
      SHAPE(dot, ones({2}), ones({3})),
      SHAPE(dot, m23(), m23()),
      DTYPE(dot, ones({2}), ones({2}, kFloat64)),
      DEVICE(dot, ones({3}), there()[0]),
      SHAPE(addmm, ones({3}), m23(), m23()),
      SHAPE(addmm, ones({4}), m23(), m23().t()),
      DTYPE(addmm, i23(), m23(), m23().t()),
      DEVICE(addmm, there(), m23(), m23().t()),
      SHAPE(linear, m23(), ones({4, 2})),
      SHAPE(linear, m23(), ones({4, 3}), ones({3})),
      SHAPE(linear, ones({}), ones({4, 3})),
      DTYPE(linear, m23(), ones({4, 3}, kFloat64)),
      DEVICE(linear, m23(), there()),
      VALUE(linear, m23(), none()),
  };
}

std::vector<BadCall> nn_calls() {
  return {
      SHAPE(conv2d, ones({6, 6}), filter()),
      SHAPE(conv2d, ones({1, 3, 6, 6}), filter()),
      SHAPE(conv2d, ones({1, 2, 2, 2}), filter()),
      SHAPE(conv2d, image(), filter(), ones({3})),
      SHAPE(conv2d, image(), ones({4, 2, 3})),
      DTYPE(conv2d, image().to(kInt64), filter()),
      DTYPE(conv2d, image(), filter().to(kFloat64)),
      DEVICE(conv2d, image(), filter().to("reference")),
      DEVICE(conv2d, image(), filter(), ones({4}, "reference")),
      SHAPE(conv2d, image(), filter(), none(), {.stride = {0, 1}}),
      SHAPE(conv2d, image(), filter(), none(), {.padding = {-1, 0}}),
      SHAPE(conv2d, image(), filter(), none(), {.dilation = {0, 1}}),
      SHAPE(conv2d, image(), filter(), none(), {.groups = 3}),
      SHAPE(conv2d, image(), filter(), none(), {.groups = 0}),
      SHAPE(convolution_input_grad, ones({1, 4, 9, 9}), filter(), {1, 2, 6, 6}, ConvParams{}),
      DEVICE(convolution_input_grad, ones({1, 4, 4, 4}), filter().to("reference"), {1, 2, 6, 6},
             ConvParams{}),
      SHAPE(convolution_weight_grad, ones({1, 4, 9, 9}), image(), {4, 2, 3, 3}, ConvParams{}),
      DEVICE(convolution_weight_grad, ones({1, 4, 4, 4}), image().to("reference"), {4, 2, 3, 3},
             ConvParams{}),
      SHAPE(max_pool2d, m23(), PoolParams{}),
      DTYPE(max_pool2d, image().to(kBool), PoolParams{}),
      SHAPE(max_pool2d, image(), PoolParams{.kernel = {7, 7}}),
      SHAPE(max_pool2d, image(), PoolParams{.kernel = {2, 2}, .padding = {2, 2}}),
      SHAPE(max_pool2d, image(), PoolParams{.kernel = {0, 2}}),
      SHAPE(max_pool2d_with_indices, image(), PoolParams{.stride = {0, 1}}),
      SHAPE(avg_pool2d, m23(), PoolParams{}),
      DTYPE(avg_pool2d, image().to(kInt32), PoolParams{}),
      SHAPE(avg_pool2d, image(), PoolParams{.kernel = {7, 7}}),
      SHAPE(adaptive_avg_pool2d, m23(), {1, 1}),
      SHAPE(adaptive_avg_pool2d, image(), {0, -2}),
      DTYPE(adaptive_avg_pool2d, image().to(kInt64), {1, 1}),
      INDEX(softmax, m23(), 2),
      DTYPE(softmax, i23(), 0),
      INDEX(log_softmax, m23(), -3),
      DTYPE(log_softmax, i23(), 0),
      SHAPE(batch_norm, ones({3}), none(), none(), none(), none(), BatchNormParams{}),
      SHAPE(batch_norm, image(), ones({3}), none(), none(), none(), BatchNormParams{}),
      DTYPE(batch_norm, i23(), none(), none(), none(), none(), BatchNormParams{}),
      DEVICE(batch_norm, image(), ones({2}, "reference"), none(), none(), none(),
             BatchNormParams{}),
      VALUE(batch_norm, image(), none(), none(), none(), none(),
            BatchNormParams{.training = false}),
      INDEX(nll_loss, m23(), list(3)),
      INDEX(nll_loss, m23(), list(-1)),
      DTYPE(nll_loss, m23(), ones({2})),
      SHAPE(nll_loss, m23(), ones({3}, kInt64)),
      SHAPE(nll_loss, m23(), list(0), ones({2})),
      DTYPE(nll_loss, i23(), list(0)),
      DEVICE(nll_loss, there(), list(0)),
      DEVICE(nll_loss, m23(), list(0), ones({3}, "reference")),
      INDEX(cross_entropy, m23(), list(3)),
      SHAPE(cross_entropy, m23(), ones({3}, kInt64)),
      SHAPE(cross_entropy, m23(), m45()),
      DTYPE(cross_entropy, i23(), list(0)),
      DEVICE(cross_entropy, there(), list(0)),
      DEVICE(cross_entropy, m23(), there()),
      VALUE(cross_entropy, m23(), list(0), none(), Reduction::mean, -100, 1.5),
      SHAPE(mse_loss, m23(), m45()),
      DTYPE(mse_loss, i23(), i23()),
      DEVICE(mse_loss, m23(), there()),
  };
}

const CallTable<BadCall> kReduce(reduce_calls);
const CallTable<BadCall> kMatmul(matmul_calls);
const CallTable<BadCall> kNn(nn_calls);

}  // namespace
