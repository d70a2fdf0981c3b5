#include <fmt/format.h>

#include "kernels.h"

namespace ambit::graph::capturing {

void Writer::give(const Tensor& y, std::string_view target, std::vector<Named> arguments) {
  r_.write(y, r_.call(target, std::move(arguments), y.dtype(), y.sizes()));
}

std::string Writer::call_unary(const std::string& x, UnaryOp op, DType d, IntArrayRef sizes) {
  std::vector<Named> arguments{{"self", Recorder::value(x)}};
  std::string target = fmt::format("{}.default", name(op));
  switch (op) {
    case UnaryOp::gelu_tanh:
      target = "gelu.default";
      arguments.push_back({"approximate", text("tanh")});
      break;
    case UnaryOp::logsigmoid:
      target = "log_sigmoid.default";
      break;
    case UnaryOp::i1:
    case UnaryOp::erfcx:
    case UnaryOp::i0e:
    case UnaryOp::i1e:
    case UnaryOp::ndtri:
      target = fmt::format("special_{}.default", name(op));
      break;
    default:
      break;
  }
  return r_.call(target, std::move(arguments), d, sizes);
}

void Writer::unary(const Tensor& y, const Tensor& x, UnaryOp op) {
  r_.write(y, call_unary(r_.read(x), op, y.dtype(), y.sizes()));
}

void Writer::binary(const Tensor& y, const Tensor& a, const Tensor& b, BinaryOp op) {
  const json x = r_.tensor(a), other = r_.tensor(b);
  const auto call = [&](const char* suffix) {
    give(y, fmt::format("{}.{}", name(op), suffix), {{"self", x}, {"other", other}});
  };
  switch (op) {
    case BinaryOp::add:
    case BinaryOp::sub:
    case BinaryOp::mul:
    case BinaryOp::div:
    case BinaryOp::remainder:
    case BinaryOp::fmod:
    case BinaryOp::bitwise_and:
    case BinaryOp::bitwise_or:
    case BinaryOp::bitwise_xor:
      return call("Tensor");
    case BinaryOp::floor_divide:
    case BinaryOp::maximum:
    case BinaryOp::minimum:
    case BinaryOp::atan2:
    case BinaryOp::fmax:
    case BinaryOp::fmin:
    case BinaryOp::hypot:
    case BinaryOp::logaddexp:
      return call("default");
    case BinaryOp::pow:
      return give(y, "pow.Tensor_Tensor", {{"self", x}, {"exponent", other}});
    case BinaryOp::trunc_divide:
      return give(y, "div.Tensor_mode",
                  {{"self", x}, {"other", other}, {"rounding_mode", text("trunc")}});
    case BinaryOp::logit_loss:
      return give(y, "binary_cross_entropy_with_logits.default",
                  {{"self", x},
                   {"target", other},
                   {"weight", none()},
                   {"pos_weight", none()},
                   {"reduction", integer(0)}});
    case BinaryOp::leaky_relu: {  // with one slope for each channel
      const json is_positive = Recorder::value(
          r_.call("gt.Scalar", {{"self", x}, {"other", real(0)}}, kBool, y.sizes()));
      const json scaled = Recorder::value(
          r_.call("mul.Tensor", {{"self", x}, {"other", other}}, y.dtype(), y.sizes()));
      return give(y, "where.self", {{"condition", is_positive}, {"self", x}, {"other", scaled}});
    }
    default:
      r_.refuse(fmt::format("functions that torch.export has, not {}", name(op)));
  }
}

void Writer::binary_scalar(const Tensor& y, const Tensor& x, const ScalarOperand& n, BinaryOp op) {
  const json self = r_.tensor(x), value = number(n.value, x.dtype());
  const auto filled = [&](const Scalar& s) {
    return Recorder::value(r_.call("full.default",
                                   {{"size", ints(x.sizes())},
                                    {"fill_value", number(s, x.dtype())},
                                    {"dtype", type(x.dtype())}},
                                   x.dtype(), x.sizes()));
  };
  if (!n.first) {
    switch (op) {
      case BinaryOp::add:
      case BinaryOp::sub:
      case BinaryOp::mul:
      case BinaryOp::div:
        return give(y, fmt::format("{}.Tensor", name(op)), {{"self", self}, {"other", value}});
      case BinaryOp::pow:
        return give(y, "pow.Tensor_Scalar", {{"self", self}, {"exponent", value}});
      case BinaryOp::elu:
      case BinaryOp::celu:
        return give(y, fmt::format("{}.default", name(op)), {{"self", self}, {"alpha", value}});
      case BinaryOp::leaky_relu:
        return give(y, "leaky_relu.default", {{"self", self}, {"negative_slope", value}});
      case BinaryOp::softplus:
        return give(y, "softplus.default", {{"self", self}, {"beta", value}});
      case BinaryOp::smooth_l1:
      case BinaryOp::huber:
        return give(y, op == BinaryOp::huber ? "huber_loss.default" : "smooth_l1_loss.default",
                    {{"self", self},
                     {"target", filled(Scalar(0))},
                     {"reduction", integer(0)},
                     {op == BinaryOp::huber ? "delta" : "beta", value}});
      default:
        break;
    }
  } else if (op == BinaryOp::sub) {
    return give(y, "rsub.Scalar", {{"self", self}, {"other", value}});
  } else if (op == BinaryOp::pow) {
    return give(y, "pow.Scalar", {{"self", value}, {"exponent", self}});
  }
  const json other = filled(n.value);
  const json &first = n.first ? other : self, &second = n.first ? self : other;
  switch (op) {
    case BinaryOp::add:
    case BinaryOp::mul:
    case BinaryOp::div:
    case BinaryOp::remainder:
    case BinaryOp::fmod:
      return give(y, fmt::format("{}.Tensor", name(op)), {{"self", first}, {"other", second}});
    case BinaryOp::floor_divide:
    case BinaryOp::maximum:
    case BinaryOp::minimum:
      return give(y, fmt::format("{}.default", name(op)), {{"self", first}, {"other", second}});
    default:
      r_.refuse(fmt::format("functions that torch.export has, not {} of a number", name(op)));
  }
}

void Writer::ternary(const Tensor& y, const Tensor& a, const Tensor& b, const Tensor& c,
                     const Scalar& n, TernaryOp op) {
  const json x = r_.tensor(a), second = r_.tensor(b);
  if (op == TernaryOp::add_scaled && !c.defined()) {
    return give(y, "add.Tensor", {{"self", x}, {"other", second}, {"alpha", number(n, y.dtype())}});
  }
  if (op == TernaryOp::add_scaled) {
    return give(y, "addcmul.default",
                {{"self", x}, {"tensor1", second}, {"tensor2", r_.tensor(c)}});
  }
  if (op == TernaryOp::lerp) {
    return give(y, c.defined() ? "lerp.Tensor" : "lerp.Scalar",
                {{"self", x},
                 {"end", second},
                 {"weight", c.defined() ? r_.tensor(c) : number(n, y.dtype())}});
  }
  r_.refuse(fmt::format("functions that torch.export has, not {}", name(op)));
}

void Writer::compare(const Tensor& y, const Tensor& a, const Tensor& b, CompareOp op) {
  const bool is_logical = op >= CompareOp::logical_and;
  give(y, fmt::format("{}.{}", name(op), is_logical ? "default" : "Tensor"),
       {{"self", r_.tensor(a)}, {"other", r_.tensor(b)}});
}

void Writer::compare_scalar(const Tensor& y, const Tensor& x, const Scalar& n, CompareOp op) {
  if (op >= CompareOp::logical_and) r_.refuse("logical functions of two tensors");
  give(y, fmt::format("{}.Scalar", name(op)),
       {{"self", r_.tensor(x)}, {"other", number(n, x.dtype())}});
}

void Writer::clamp(const Tensor& y, const Tensor& x, const std::optional<Scalar>& min,
                   const std::optional<Scalar>& max) {
  give(y, "clamp.default",
       {{"self", r_.tensor(x)},
        {"min", min ? number(*min, x.dtype()) : none()},
        {"max", max ? number(*max, x.dtype()) : none()}});
}

void Writer::copy(const Tensor& y, const Tensor& x) {
  if (r_.is_forgotten(x)) return r_.forget(y);
  if (y.dtype() == x.dtype()) return r_.write(y, r_.read(x));
  give(y, "to.dtype", {{"self", r_.tensor(x)}, {"dtype", type(y.dtype())}});
}

void Writer::fill(const Tensor& y, const Scalar& n) {
  give(y, "full.default",
       {{"size", ints(y.sizes())},
        {"fill_value", number(n, y.dtype())},
        {"dtype", type(y.dtype())}});
}

void Writer::where(const Tensor& y, const Tensor& condition, const Tensor& a, const Tensor& b) {
  give(y, "where.self",
       {{"condition", r_.tensor(condition)}, {"self", r_.tensor(a)}, {"other", r_.tensor(b)}});
}

void Writer::masked_fill(const Tensor& y, const Tensor& x, const Tensor& mask, const Scalar& n,
                         bool masked) {
  const json self = r_.tensor(x);
  json m = r_.tensor(mask);
  if (!masked)
    m = Recorder::value(r_.call("logical_not.default", {{"self", m}}, kBool, mask.sizes()));
  give(y, "masked_fill.Scalar", {{"self", self}, {"mask", m}, {"value", number(n, x.dtype())}});
}

}  // namespace ambit::graph::capturing
