#include "ops.h"

#include "fastest.h"
#include "operand.h"

namespace bench::floor {
namespace {

Gradients gradients_of(const std::vector<Operand>& operands) {
  if (!operands[1].requires_grad) return Gradients::none;
  return operands[0].requires_grad ? Gradients::parameters_and_input : Gradients::parameters;
}

}  // namespace

Convolution::Convolution(const Specification& s)
    : with_gradients_(s.operands[1].requires_grad),
      network_(borrow(s.operands[0]), gradients_of(s.operands)) {
  network_.conv(borrow(s.operands[1]), borrow(s.operands[2]), s.parameters[0]);
  if (with_gradients_) network_.make_backward(borrow(s.operands[3]));
}

void Convolution::run() {
  network_.forward();
  if (with_gradients_) network_.backward();
}

double Convolution::result() {
  return sum(with_gradients_ ? network_.parameters()[1].grad : network_.output());
}

Product::Product(const Specification& s) {
  const dnnl::memory a = borrow(s.operands[0]), b = borrow(s.operands[1]);
  const auto out = row_major({a.get_desc().dims()[0], b.get_desc().dims()[1]});
  out_ = allocate(out);
  const auto product = fastest<dnnl::matmul>({{a.get_desc(), b.get_desc(), out}, engine()},
                                             {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST});
  calls_.add(product.primitive, {{DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, b}, {DNNL_ARG_DST, out_}});
}

}  // namespace bench::floor
