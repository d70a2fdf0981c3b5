#include "lessons.h"

#include <numeric>

#include "cross_entropy.h"

namespace bench::floor {
namespace {

using dnnl::memory;

/// The operand as oneDNN sees it, which has no const.
memory plain(const Operand& operand) {
  static constexpr memory::format_tag kRowMajor[] = {memory::format_tag::a, memory::format_tag::ab,
                                                     memory::format_tag::abc,
                                                     memory::format_tag::abcd};
  return {describe(operand.sizes, kRowMajor[operand.sizes.size() - 1]), engine(),
          const_cast<float*>(operand.values)};
}

// Add the layers; `p` is the first parameter.
void add_net(Network& network, const Operand* p) {
  for (; p->sizes.size() == 4; p += 2) {
    network.conv(plain(p[0]), plain(p[1]), /*padding=*/0);
    network.relu();
    network.max_pool();
  }
  network.linear(plain(p[0]), plain(p[1]));
  network.relu();
  network.linear(plain(p[2]), plain(p[3]));
  network.relu();
  network.linear(plain(p[4]), plain(p[5]));
}

void add_tudui(Network& network, const Operand* p) {
  for (; p->sizes.size() == 4; p += 2) {
    network.conv(plain(p[0]), plain(p[1]), /*padding=*/2);
    network.max_pool();
  }
  network.linear(plain(p[0]), plain(p[1]));
  network.linear(plain(p[2]), plain(p[3]));
}

void add_layers(Network& network, Lesson lesson, const Operand* parameters) {
  return lesson == Lesson::net ? add_net(network, parameters) : add_tudui(network, parameters);
}

}  // namespace

Training::Training(Lesson lesson, const Specification& specification)
    : network_(plain(specification.operands[0]), /*training=*/true),
      targets_(specification.operands[1].labels) {
  add_layers(network_, lesson, &specification.operands[2]);
  network_.make_backward();
  optimizer_ = lesson == Lesson::net ? Sgd(network_.parameters(), 0.001f, 0.9f)
                                     : Sgd(network_.parameters(), 0.01f, 0.0f);
}

void Training::run() {
  network_.forward();
  const auto sizes = network_.output().get_desc().dims();
  loss_ = cross_entropy(static_cast<float*>(network_.output_grad().get_data_handle()),
                        static_cast<const float*>(network_.output().get_data_handle()), targets_,
                        sizes[0], sizes[1]);
  network_.backward();
  optimizer_.step();
}

Inference::Inference(Lesson lesson, const Specification& specification)
    : network_(plain(specification.operands[0]), /*training=*/false) {
  add_layers(network_, lesson, &specification.operands[1]);
}

double Inference::result() {
  const auto* y = static_cast<const float*>(network_.output().get_data_handle());
  return std::accumulate(y, y + network_.output().get_desc().get_size() / sizeof(float), 0.0);
}

}  // namespace bench::floor
