// libtorch under ambit's names, as far as the zoo's networks use them: they are compiled a second
// time with this header instead of ambit's. Functions that libtorch lacks are composed.
#pragma once

#include <torch/torch.h>

#include <stdexcept>
#include <tuple>

#define AMBIT_MODULE(Name) TORCH_MODULE(Name)

namespace ambit {

using namespace torch;

struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};
enum class UnaryOp { gelu };

namespace nn {

using namespace torch::nn;

struct LinearImpl : torch::nn::LinearImpl {
  using torch::nn::LinearImpl::LinearImpl;
  Tensor forward_map(const Tensor& x, UnaryOp /*gelu*/) { return torch::gelu(forward(x)); }
};
TORCH_MODULE(Linear);

namespace functional {

inline Tensor scaled_dot_product_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                           const Tensor& mask, double dropout_p, bool is_causal) {
  return std::get<0>(torch::_scaled_dot_product_attention(
      q, k, v, mask.defined() ? c10::optional<Tensor>(mask) : c10::nullopt, dropout_p,
      /*need_attn_weights=*/false, is_causal));
}

}  // namespace functional
}  // namespace nn
}  // namespace ambit
