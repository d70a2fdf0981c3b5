// nn::utils: gradient clipping and parameter vectors.
#include <ambit/autograd.h>
#include <ambit/backend/op.h>
#include <ambit/error.h>
#include <ambit/nn/utils/clip_grad.h>
#include <ambit/nn/utils/convert_parameters.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <vector>

#include "gradients.h"

namespace ambit::nn {

std::vector<Tensor> gradients(TensorList parameters) {
  std::vector<Tensor> grads;
  for (const Tensor& p : parameters) {
    if (p.grad().defined()) grads.push_back(p.grad().detach());
  }
  return grads;
}

Tensor norm_of(const std::vector<Tensor>& grads, double p) {
  const Device device = grads[0].device();
  if (p == 0) {
    return full({}, static_cast<double>(grads.size()), TensorOptions(kFloat64).device(device));
  }
  const bool is_largest = p == std::numeric_limits<double>::infinity();
  DType dtype = grads[0].dtype();
  for (const Tensor& g : grads) dtype = promote_types(dtype, g.dtype());
  std::vector<Tensor> norms;
  for (const Tensor& g : grads) {
    if (is_largest && g.numel() == 0) continue;
    norms.push_back((is_largest ? g.abs().max() : g.norm(p)).to(device, dtype));
  }
  if (norms.empty()) return zeros({}, grads[0].options());
  if (norms.size() == 1) return norms[0];
  const Tensor all = stack(norms);
  return is_largest ? all.max() : all.norm(p);
}

void clip_to(double max_norm, const Tensor& norm, const std::vector<Tensor>& grads) {
  const Tensor factor = (max_norm / (norm + 1e-6)).clamp_max(1);
  for (const Tensor& g : grads) g.mul_(factor.to(g.device()));
}

namespace utils {

double clip_grad_norm_(TensorList parameters, double max_norm, double norm_type,
                       bool error_if_nonfinite) {
  const NoGradGuard no_grad;
  const std::vector<Tensor> grads = gradients(parameters);
  if (grads.empty()) return 0;
  const Tensor norm = norm_of(grads, norm_type);
  if (error_if_nonfinite && !std::isfinite(norm.item<double>())) {
    throw Error(
        fmt::format("clip_grad_norm_: expected a finite norm of order {}, got {}; without "
                    "error_if_nonfinite the gradients are scaled by it anyway",
                    norm_type, norm.item<double>()));
  }
  clip_to(max_norm, norm, grads);
  return norm.item<double>();
}

void clip_grad_value_(TensorList parameters, double clip_value) {
  const NoGradGuard no_grad;
  for (const Tensor& g : gradients(parameters)) g.clamp_(-clip_value, clip_value);
}

Tensor parameters_to_vector(TensorList parameters) {
  std::vector<Tensor> flat;
  for (const Tensor& p : parameters) flat.push_back(p.reshape({-1}));
  return cat(flat);
}

void vector_to_parameters(const Tensor& vector, TensorList parameters) {
  int64_t n = 0;
  for (const Tensor& p : parameters) {
    check_devices("vector_to_parameters", {{"vector", vector}, {"parameter", p}},
                  DeviceRule::in_place);
    if (p.dtype() != vector.dtype()) {
      throw DTypeError(fmt::format("vector_to_parameters: expected a vector of dtype {}, got {}",
                                   ambit::name(p.dtype()), ambit::name(vector.dtype())));
    }
    n += p.numel();
  }
  if (vector.dim() != 1 || vector.numel() != n) {
    throw ShapeError(fmt::format("vector_to_parameters: expected a vector [{}], got {}", n,
                                 str(vector.sizes())));
  }
  const Tensor data = vector.detach();
  int64_t from = 0;
  for (const Tensor& p : parameters) {
    p.set_data(data.narrow(0, from, p.numel()).view(p.sizes()));
    from += p.numel();
  }
}

}  // namespace utils
}  // namespace ambit::nn
