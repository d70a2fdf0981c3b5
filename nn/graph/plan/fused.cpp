#include "fused.h"

#include <ambit/error.h>
#include <ambit/ops/conv.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/matmul.h>

namespace ambit::graph {
namespace {

UnaryOp activation(const Call& c, size_t i) {
  const std::string_view text = c.text(i);
  return text == "relu" ? UnaryOp::relu : text == "gelu" ? UnaryOp::gelu : UnaryOp::gelu_tanh;
}

// Return the factor by which a batch norm multiplies each channel. The arguments from `first` on
// are its weight, variance and eps.
Tensor scale(const Call& c, size_t first) {
  const Tensor inverse = rsqrt(c.tensor(first + 1) + c.scalar(first + 2));
  return c.has(first) ? inverse * c.tensor(first) : inverse;
}

}  // namespace

constinit const Function kConvolutionMap{
    "plan.convolution_map", "input weight bias stride padding dilation groups activation",
    one([](Call& c) {
      return convolution_map(c.tensor(0), c.tensor(1), c.optional_tensor(2),
                             {.stride = c.integers(3),
                              .padding = c.integers(4),
                              .dilation = c.integers(5),
                              .groups = c.integer(6)},
                             activation(c, 7));
    })};

constinit const Function kLinearMap{
    "plan.linear_map", "input weight bias activation", one([](Call& c) {
      return linear_map(c.tensor(0), c.tensor(1), c.optional_tensor(2), activation(c, 3));
    })};

constinit const Function kFoldedWeight{"plan.folded_weight", "weight bn_weight bn_var eps",
                                       one([](Call& c) {
                                         const Tensor& weight = c.tensor(0);
                                         Dims column(weight.sizes().size(), 1);
                                         column[0] = -1;
                                         return weight * scale(c, 1).view(column);
                                       })};

constinit const Function kFoldedBias{
    "plan.folded_bias", "bias bn_weight bn_var eps bn_mean bn_bias", one([](Call& c) {
      const Tensor shift = c.has(0) ? c.tensor(0) - c.tensor(4) : -c.tensor(4);
      const Tensor out = shift * scale(c, 1);
      return c.has(5) ? out + c.tensor(5) : out;
    })};

}  // namespace ambit::graph
