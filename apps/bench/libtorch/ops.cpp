// Single ops: forward only, or with backward.
#include <cmath>
#include <map>

#include "works.h"

namespace bench::libtorch {
namespace {

using torch::Tensor;
using Tensors = std::vector<Tensor>;
using Parameters = std::vector<int64_t>;
using Function = Tensor (*)(const Tensors&, const Parameters&);

class Forward : public Work {
 public:
  Forward(Function function, const Specification& s)
      : function_(function), parameters_(s.parameters) {
    for (const Operand& operand : s.operands) {
      tensors_.push_back(borrow(operand).clone());
      tensors_.back().requires_grad_(operand.requires_grad);
    }
  }
  void run() override {
    out_.reset();
    out_ = function_(tensors_, parameters_);
  }
  double result() override { return out_.detach().sum().item<double>(); }

 protected:
  Function function_;
  Parameters parameters_;
  Tensors tensors_;
  Tensor out_;
};

class ForwardBackward final : public Forward {
 public:
  using Forward::Forward;

  void run() override {
    for (Tensor& x : tensors_) {
      if (x.requires_grad()) x.mutable_grad().reset();
    }
    function_(tensors_, parameters_).backward(tensors_.back());
  }
  double result() override {
    double sum = 0;
    for (const Tensor& x : tensors_) {
      if (x.requires_grad()) sum = x.grad().sum().item<double>();
    }
    return sum;
  }
};

/// Random numbers differ between libraries, so results are not compared.
class Drawing final : public Forward {
 public:
  using Forward::Forward;
  double result() override { return NAN; }
};

struct Op {
  Function function;
  bool backward = false, draws = false;
};

Tensor add(const Tensors& x, const Parameters&) { return x[0] + x[1]; }
Tensor sum(const Tensors& x, const Parameters& p) { return x[0].sum(p[0]); }
Tensor softmax(const Tensors& x, const Parameters& p) { return x[0].softmax(p[0]); }
Tensor matmul(const Tensors& x, const Parameters&) { return x[0].matmul(x[1]); }
Tensor conv2d(const Tensors& x, const Parameters& p) {
  return torch::conv2d(x[0], x[1], x[2], /*stride=*/1, /*padding=*/p[0]);
}
Tensor max_pool2d(const Tensors& x, const Parameters&) { return torch::max_pool2d(x[0], 2); }
Tensor batch_norm(const Tensors& x, const Parameters&) {
  return torch::batch_norm(x[0], x[1], x[2], {}, {}, /*training=*/true, 0.1, 1e-5, false);
}
Tensor cross_entropy(const Tensors& x, const Parameters&) {
  return torch::cross_entropy_loss(x[0], x[1]);
}

Tensor attention(const Tensors& x,
                 const Parameters&) {  // composed of ops, because this libtorch has no attention
  const double scale = 1 / std::sqrt(static_cast<double>(x[0].size(-1)));
  return (x[0] * scale).matmul(x[1].transpose(-2, -1)).softmax(-1).matmul(x[2]);
}
Tensor layer_norm(const Tensors& x, const Parameters&) {
  return torch::layer_norm(x[0], {x[0].size(-1)}, x[1], x[2]);
}
Tensor group_norm(const Tensors& x, const Parameters& p) {
  return torch::group_norm(x[0], p[0], x[1], x[2]);
}
Tensor conv1d(const Tensors& x, const Parameters& p) {
  return torch::conv1d(x[0], x[1], x[2], /*stride=*/1, /*padding=*/p[0]);
}
Tensor conv3d(const Tensors& x, const Parameters& p) {
  return torch::conv3d(x[0], x[1], x[2], /*stride=*/1, /*padding=*/p[0]);
}
Tensor conv_transpose2d(const Tensors& x, const Parameters& p) {
  return torch::conv_transpose2d(x[0], x[1], x[2], /*stride=*/p[0], /*padding=*/1);
}

Tensor sort(const Tensors& x, const Parameters& p) { return std::get<0>(x[0].sort(p[0])); }
Tensor topk(const Tensors& x, const Parameters& p) { return std::get<0>(x[0].topk(p[0], p[1])); }
Tensor cumprod(const Tensors& x, const Parameters& p) { return x[0].cumprod(p[0]); }
Tensor index_put_accumulate(const Tensors& x, const Parameters&) {
  Tensor input = x[0];
  return input.index_put_({x[1]}, x[2], /*accumulate=*/true);
}
Tensor einsum(const Tensors& x, const Parameters& p) {
  return torch::einsum(kEinsums[static_cast<size_t>(p[0])], x);
}
Tensor multinomial(const Tensors& x, const Parameters& p) {
  return x[0].multinomial(p[0], p[1] != 0);
}

const std::map<std::string, Op> kOps = {
    {"add", {add}},
    {"add_recorded", {add}},
    {"add_broadcast", {add}},
    {"sum", {sum}},
    {"softmax", {softmax}},
    {"matmul", {matmul}},
    {"conv2d", {conv2d}},
    {"conv2d_grad", {conv2d, true}},
    {"max_pool2d", {max_pool2d}},
    {"max_pool2d_grad", {max_pool2d, true}},
    {"batch_norm", {batch_norm}},
    {"batch_norm_grad", {batch_norm, true}},
    {"cross_entropy", {cross_entropy}},
    {"cross_entropy_grad", {cross_entropy, true}},
    {"attention", {attention}},
    {"attention_grad", {attention, true}},
    {"layer_norm", {layer_norm}},
    {"layer_norm_grad", {layer_norm, true}},
    {"group_norm", {group_norm}},
    {"group_norm_grad", {group_norm, true}},
    {"conv1d", {conv1d}},
    {"conv1d_grad", {conv1d, true}},
    {"conv3d", {conv3d}},
    {"conv3d_grad", {conv3d, true}},
    {"conv_transpose2d", {conv_transpose2d}},
    {"conv_transpose2d_grad", {conv_transpose2d, true}},
    {"sort", {sort}},
    {"topk", {topk}},
    {"cumprod", {cumprod}},
    {"index_put_accumulate", {index_put_accumulate}},
    {"einsum", {einsum}},
    {"multinomial", {multinomial, false, true}},
};

}  // namespace

std::unique_ptr<Work> make_op(const Specification& s) {
  const auto found = kOps.find(s.what);
  if (found == kOps.end()) return nullptr;
  set_blas_threads(s.threads);  // for convolutions, which do not call BLAS
  const Op& op = found->second;
  if (op.draws) return std::make_unique<Drawing>(op.function, s);
  if (op.backward) return std::make_unique<ForwardBackward>(op.function, s);
  return std::make_unique<Forward>(op.function, s);
}

}  // namespace bench::libtorch
