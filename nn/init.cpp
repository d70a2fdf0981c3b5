// Initialisation, with PyTorch's formulas.
#include <ambit/autograd.h>
#include <ambit/error.h>
#include <ambit/nn/init.h>
#include <ambit/ops/creation.h>

#include <fmt/format.h>

#include <cmath>

namespace ambit::nn::init {
namespace {

struct Fans {
  double in, out;
};

Fans fans(const char* op, const Tensor& t) {
  if (t.dim() < 2) {
    throw ShapeError(
        fmt::format("{}: expected a tensor of at least 2 dims, got shape {}", op, str(t.sizes())));
  }
  double field = 1;  // elements of one kernel of a convolution
  for (int64_t d = 2; d < t.dim(); ++d) field *= static_cast<double>(t.size(d));
  return {static_cast<double>(t.size(1)) * field, static_cast<double>(t.size(0)) * field};
}

double kaiming_std(const char* op, const Tensor& t, double a, FanMode mode,
                   Nonlinearity nonlinearity) {
  const Fans f = fans(op, t);
  return calculate_gain(nonlinearity, a) / std::sqrt(mode == FanMode::fan_in ? f.in : f.out);
}

double xavier_std(const char* op, const Tensor& t, double gain) {
  const Fans f = fans(op, t);
  return gain * std::sqrt(2 / (f.in + f.out));
}

// Without elements there is no fan, and the width of the distribution is infinite.
Tensor fill_uniform(const Tensor& t, double std) {
  if (t.numel() == 0) return t;
  const double bound = std::sqrt(3.0) * std;  // of a uniform distribution with that std
  return init::uniform_(t, -bound, bound);
}

Tensor fill_normal(const Tensor& t, double std) {
  return t.numel() == 0 ? t : init::normal_(t, 0, std);
}

}  // namespace

Tensor uniform_(const Tensor& tensor, double low, double high) {
  const NoGradGuard no_grad;
  return tensor.uniform_(low, high);
}
Tensor normal_(const Tensor& tensor, double mean, double std) {
  const NoGradGuard no_grad;
  return tensor.normal_(mean, std);
}
Tensor constant_(const Tensor& tensor, const Scalar& value) {
  const NoGradGuard no_grad;
  return tensor.fill_(value);
}
Tensor zeros_(const Tensor& tensor) { return constant_(tensor, 0); }
Tensor ones_(const Tensor& tensor) { return constant_(tensor, 1); }

double calculate_gain(Nonlinearity nonlinearity, double param) {
  switch (nonlinearity) {
    case Nonlinearity::tanh:
      return 5.0 / 3;
    case Nonlinearity::relu:
      return std::sqrt(2.0);
    case Nonlinearity::leaky_relu:
      return std::sqrt(2 / (1 + param * param));
    case Nonlinearity::linear:
    case Nonlinearity::conv2d:
    case Nonlinearity::sigmoid:
      break;
  }
  return 1;
}

std::tuple<int64_t, int64_t> calculate_fan_in_and_fan_out(const Tensor& tensor) {
  const Fans f = fans("calculate_fan_in_and_fan_out", tensor);
  return {static_cast<int64_t>(f.in), static_cast<int64_t>(f.out)};
}

Tensor kaiming_uniform_(const Tensor& tensor, double a, FanMode mode, Nonlinearity nonlinearity) {
  return fill_uniform(tensor, kaiming_std("kaiming_uniform_", tensor, a, mode, nonlinearity));
}
Tensor kaiming_normal_(const Tensor& tensor, double a, FanMode mode, Nonlinearity nonlinearity) {
  return fill_normal(tensor, kaiming_std("kaiming_normal_", tensor, a, mode, nonlinearity));
}
Tensor xavier_uniform_(const Tensor& tensor, double gain) {
  return fill_uniform(tensor, xavier_std("xavier_uniform_", tensor, gain));
}
Tensor xavier_normal_(const Tensor& tensor, double gain) {
  return fill_normal(tensor, xavier_std("xavier_normal_", tensor, gain));
}

}  // namespace ambit::nn::init
