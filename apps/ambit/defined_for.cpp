#include "defined_for.h"

using namespace ambit;

bool is_defined_for(UnaryOp op, DType dtype) {
  switch (op) {
    case UnaryOp::neg:
    case UnaryOp::abs:
    case UnaryOp::sign:
    case UnaryOp::square:
    case UnaryOp::relu:
      return dtype != kBool;
    case UnaryOp::bitwise_not:
      return !is_floating_point(dtype);
    default:
      return makes_bool(op) || is_floating_point(dtype);
  }
}

bool is_defined_for(BinaryOp op, DType dtype) {
  switch (op) {
    case BinaryOp::div:
    case BinaryOp::atan2:
    case BinaryOp::relu_grad:
    case BinaryOp::sigmoid_grad:
    case BinaryOp::tanh_grad:
    case BinaryOp::gelu_grad:
      return is_floating_point(dtype);
    case BinaryOp::bitwise_and:
    case BinaryOp::bitwise_or:
    case BinaryOp::bitwise_xor:
      return !is_floating_point(dtype);
    case BinaryOp::add:
    case BinaryOp::mul:
    case BinaryOp::maximum:
    case BinaryOp::minimum:
      return true;
    default:
      return dtype != kBool;
  }
}
