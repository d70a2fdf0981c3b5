#include "lessons.h"

#include "cross_entropy.h"
#include "operand.h"

namespace bench::floor {
namespace {

// `p` is the first parameter.
void add_net(Network& network, const Operand* p) {
  for (int i = 0; i < 2; ++i, p += 2) {
    network.conv(borrow(p[0]), borrow(p[1]), /*padding=*/0);
    network.relu();
    network.max_pool();
  }
  network.flatten();
  for (int i = 0; i < 2; ++i, p += 2) {
    network.linear(borrow(p[0]), borrow(p[1]));
    network.relu();
  }
  network.linear(borrow(p[0]), borrow(p[1]));
}

void add_tudui(Network& network, const Operand* p) {
  for (int i = 0; i < 3; ++i, p += 2) {
    network.conv(borrow(p[0]), borrow(p[1]), /*padding=*/2);
    network.max_pool();
  }
  network.flatten();
  for (int i = 0; i < 2; ++i, p += 2) network.linear(borrow(p[0]), borrow(p[1]));
}

void add_layers(Network& network, Lesson lesson, const Operand* parameters) {
  lesson == Lesson::net ? add_net(network, parameters) : add_tudui(network, parameters);
}

}  // namespace

Training::Training(Lesson lesson, const Specification& specification)
    : network_(borrow(specification.operands[0]), Gradients::parameters),
      targets_(specification.operands[1].labels) {
  add_layers(network_, lesson, &specification.operands[2]);
  logits_grad_ = allocate(network_.output().get_desc());
  network_.make_backward(logits_grad_);
  optimizer_ = lesson == Lesson::net ? Sgd(network_.parameters(), 0.001f, 0.9f)
                                     : Sgd(network_.parameters(), 0.01f, 0.0f);
}

void Training::run() {
  network_.forward();
  const dnnl::memory& logits = network_.output();
  const auto sizes = logits.get_desc().dims();
  loss_ = cross_entropy(static_cast<float*>(logits_grad_.get_data_handle()),
                        static_cast<const float*>(logits.get_data_handle()), targets_, sizes[0],
                        sizes[1]);
  network_.backward();
  optimizer_.step();
}

Inference::Inference(Lesson lesson, const Specification& specification)
    : network_(borrow(specification.operands[0]), Gradients::none) {
  add_layers(network_, lesson, &specification.operands[1]);
}

}  // namespace bench::floor
