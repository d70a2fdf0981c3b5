// Initialisation with PyTorch's formulas.
#include <ambit/autograd.h>
#include <ambit/error.h>
#include <ambit/nn/init.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/index.h>
#include <ambit/ops/matmul.h>
#include <ambit/ops/random.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/shape.h>

#include <fmt/format.h>

#include <algorithm>
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
  double field = 1;  // elements of one convolution kernel
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

// Empty tensors are skipped: their fan is 0, and the distribution's width would be infinite.
Tensor fill_uniform(const Tensor& t, double std) {
  if (t.numel() == 0) return t;
  const double bound =
      std::sqrt(3.0) * std;  // a uniform distribution up to this bound has that std
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

namespace {

void check_matrix(const char* op, const Tensor& t) {
  if (t.dim() != 2) {
    throw ShapeError(fmt::format("{}: expected a matrix, got shape {}", op, str(t.sizes())));
  }
}

void check_floating(const char* op, const Tensor& t) {
  if (!t.is_floating_point()) {
    throw DTypeError(
        fmt::format("{}: expected a floating-point dtype, got {}", op, ambit::name(t.dtype())));
  }
}

// Orthonormalise the columns of a [m, n], m >= n, in place by Gram-Schmidt, run twice because once
// is not accurate enough, in panels of 64 columns so that most of the work is matrix products. This
// is the QR decomposition whose R has a positive diagonal.
void make_orthonormal(const Tensor& a) {
  constexpr int64_t kPanel = 64;
  const int64_t n = a.size(1);
  const auto remove = [](const Tensor& from, const Tensor& columns) {
    for (int pass = 0; pass < 2; ++pass) from.sub_(columns.matmul(columns.t().matmul(from)));
  };
  for (int64_t j = 0; j < n; j += kPanel) {
    const Tensor panel = a.narrow(1, j, std::min(kPanel, n - j));
    if (j > 0) remove(panel, a.narrow(1, 0, j));
    for (int64_t i = 0; i < panel.size(1); ++i) {
      const Tensor column = panel.select(1, i);
      if (i > 0) remove(column, panel.narrow(1, 0, i));
      column.div_(column.norm());
    }
  }
}

}  // namespace

Tensor eye_(const Tensor& matrix) {
  const NoGradGuard no_grad;
  check_matrix("eye_", matrix);
  return matrix.copy_(eye(matrix.size(0), matrix.size(1), matrix.options()));
}

Tensor dirac_(const Tensor& tensor, int64_t groups) {
  const NoGradGuard no_grad;
  if (tensor.dim() < 3 || tensor.dim() > 5) {
    throw ShapeError(
        fmt::format("dirac_: expected a tensor of 3 to 5 dims, got shape {}", str(tensor.sizes())));
  }
  if (groups < 1 || tensor.size(0) % groups != 0) {
    throw ShapeError(fmt::format("dirac_: expected groups that divide the {} outputs, got {}",
                                 tensor.size(0), groups));
  }
  tensor.zero_();
  if (tensor.numel() == 0) return tensor;
  Tensor middle = tensor;
  for (int64_t d = 2; d < tensor.dim(); ++d) middle = middle.select(2, tensor.size(d) / 2);
  const int64_t outputs = tensor.size(0) / groups;
  for (int64_t g = 0; g < groups; ++g) {
    const Tensor group = middle.narrow(0, g * outputs, outputs);
    group.copy_(eye(outputs, tensor.size(1), tensor.options()));
  }
  return tensor;
}

Tensor orthogonal_(const Tensor& tensor, double gain) {
  const NoGradGuard no_grad;
  fans("orthogonal_", tensor);
  check_floating("orthogonal_", tensor);
  if (tensor.numel() == 0) return tensor;
  const int64_t rows = tensor.size(0), columns = tensor.numel() / rows;
  Tensor a = randn({rows, columns}, tensor.options()).to(kFloat64);
  a = rows < columns ? a.t().contiguous() : a;
  make_orthonormal(a);
  a = rows < columns ? a.t() : a;
  return tensor.copy_((a * gain).reshape(tensor.sizes()));
}

Tensor sparse_(const Tensor& tensor, double sparsity, double std) {
  const NoGradGuard no_grad;
  check_matrix("sparse_", tensor);
  check_floating("sparse_", tensor);
  if (!(sparsity >= 0 && sparsity <= 1)) {
    throw Error(fmt::format("sparse_: expected a sparsity in [0, 1], got {}", sparsity));
  }
  const int64_t rows = tensor.size(0);
  const auto zeros = static_cast<int64_t>(std::ceil(sparsity * static_cast<double>(rows)));
  tensor.normal_(0, std);
  for (int64_t c = 0; c < tensor.size(1); ++c) {
    const Tensor places = randperm(rows, TensorOptions(kInt64).device(tensor.device()));
    tensor.index_put_({places.narrow(0, 0, zeros), c}, 0);
  }
  return tensor;
}

}  // namespace ambit::nn::init
