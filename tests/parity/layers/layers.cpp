#include "layers.h"

namespace parity {
namespace {

template <class Named>
std::string names_and_sizes(const Named& tensors) {
  std::string all;
  for (const auto& item : tensors) {
    all += item.key() + " [";
    if (item.value().defined()) {
      for (const int64_t size : item.value().sizes()) all += std::to_string(size) + " ";
    }
    all += "] ";
  }
  return all;
}

List leaves(const List& inputs) {
  List all;
  for (const Tensor& t : inputs) {
    all.push_back(t.defined() ? t.clone() : t);
    if (t.defined() && t.is_floating_point()) all.back().set_requires_grad(true);
  }
  return all;
}

// Gradients of sums weighted by waves, so that the gradients of two elements cannot cancel.
void run_backward(const List& out) {
  Tensor sum;
  double k = 0.43;
  for (const Tensor& t : out) {
    if (!t.defined() || !t.requires_grad()) continue;
    const Tensor part = (t * wave(t.sizes(), k, t.scalar_type())).sum();
    sum = sum.defined() ? sum + part : part;
    k += 0.1;
  }
  if (sum.defined()) sum.backward();
}

}  // namespace

void report_layer(const std::string& name, nn::Module& layer, const List& inputs,
                  const std::function<List(const List&)>& forward, double roundings) {
  layer.to(torch::kDouble);
  fill(layer);
  report_text(name + " parameters", names_and_sizes(layer.named_parameters()));
  report_text(name + " buffers", names_and_sizes(layer.named_buffers()));

  const List in = leaves(inputs);
  List writable;
  for (const Tensor& t : in) {
    writable.push_back(t.defined() && t.is_floating_point() ? t * 1 : t);
  }
  const List out = forward(writable);
  for (size_t i = 0; i < out.size(); ++i) {
    report(name + " output " + std::to_string(i), out[i], roundings);
  }
  run_backward(out);
  for (size_t i = 0; i < in.size(); ++i) {
    if (!in[i].defined() || !in[i].is_floating_point()) continue;
    report(name + " gradient of input " + std::to_string(i), in[i].grad(), 4 * roundings);
  }
  for (const auto& p : layer.named_parameters()) {
    report(name + " gradient of " + p.key(), p.value().grad(), 4 * roundings);
  }
  for (const auto& b : layer.named_buffers()) {
    // All tensors are float64, because libtorch's to(dtype) converts counts, too.
    report(name + " buffer " + b.key(), b.value().to(torch::kDouble), roundings);
  }
}

}  // namespace parity
