// Types of programs for libtorch other than modules and tensors: kinds of devices, functions passed
// by name, values of many types, containers of c10.
#include <ATen/Parallel.h>
#include <ATen/autocast_mode.h>
#include <ATen/core/ivalue.h>
#include <c10/core/DeviceType.h>
#include <c10/util/BFloat16-math.h>
#include <c10/util/flat_hash_map.h>
#include <c10/util/intrusive_ptr.h>
#include <c10/util/variant.h>
#include <torch/nn/modules/container/moduledict.h>
#include <torch/nn/modules/rnn.h>
#include <torch/nn/options/transformerlayer.h>
#include <torch/nn/utils/rnn.h>

#include <algorithm>
#include <cmath>
#include <future>
#include <memory>
#include <sstream>
#include <unordered_map>

#include "tests/parity/parity.h"

using parity::fill;
using parity::report;
using parity::report_refusal;
using parity::report_text;
using parity::wave;

PARITY_OF_HOST(kinds_of_devices) {
  const torch::Tensor x = wave({2, 3});
  const torch::DeviceType type = x.device().type();
  report("equal", type == torch::kCPU);
  report("a device of it", torch::Device(x.device().type(), 0) == torch::Device("cpu:0"));
  switch (x.device().type()) {
    case torch::kCUDA:
      report_text("switch", "cuda");
      break;
    case torch::DeviceType::CPU:
      report_text("switch", "cpu");
      break;
    default:
      report_text("switch", "another");
  }
  report_text("printed", c10::str(type, " ", torch::kCUDA));
  std::unordered_map<c10::DeviceType, int> count;
  ++count[type];
  ++count[torch::kXLA];
  report("keys", static_cast<double>(count.size() + count.count(torch::kCPU)));
  const c10::DeviceIndex index = 0;
  report("by a list", x.to({torch::kCPU, index}));
}

PARITY(bounds_of_slices) {
  using torch::indexing::None;
  using torch::indexing::Slice;
  const torch::Tensor x = wave({4, 5});
  report("all", x.index({Slice(None, None, None), Slice(1, None, None)}));
  report("stop", x.index({Slice(None, 3, None), Slice(None, -1)}));
  report("step", x.index({Slice(1, None, 2), Slice(None, None, 3)}));
  const Slice slice(1, None, 2);
  report_text("bounds", c10::str(10 * slice.start() + slice.step()));
  report("no bound", slice.stop() == torch::indexing::INDEX_MAX);
  const std::vector<torch::indexing::TensorIndex> entries{None, "...", 3, true, slice, x};
  for (const auto& e : entries) {
    report("kind", 32 * e.is_none() + 16 * e.is_ellipsis() + 8 * e.is_integer() +
                       4 * e.is_boolean() + 2 * e.is_slice() + e.is_tensor());
  }
  report_text("values", c10::str(entries[2].integer() + entries[3].boolean()));
}

PARITY(functions_by_name) {
  namespace nn = torch::nn;
  const torch::Tensor x = wave({1, 2, 6, 6});
  const auto stride = torch::ExpandingArray<2>({2, 2});
  nn::Sequential net(nn::Functional(torch::leaky_relu, 0.2),
                     nn::Functional(torch::max_pool2d, 3, stride, 0, 1, false),
                     nn::Functional(torch::hardtanh, -0.5, 0.5), nn::Functional(torch::selu),
                     nn::Functional(torch::reshape, torch::ExpandingArray<2>({-1, 4})));
  report("net", net->forward(x), 32);
  torch::Tensor (*activation)(const torch::Tensor&) = torch::relu;
  report("pointer", activation(x));
}

PARITY(arguments_left_out_in_sequential) {
  namespace nn = torch::nn;
  using Pair = std::tuple<torch::Tensor, torch::Tensor>;
  nn::Sequential lstm(nn::LSTM(nn::LSTMOptions(3, 2)));
  fill(*lstm);
  // The tolerance is for steps with three products of 3 and 2 terms each, sigmoids and tanhs.
  report("lstm", std::get<0>(lstm->forward<std::tuple<torch::Tensor, Pair>>(wave({4, 1, 3}))), 64);
  nn::Sequential cell(nn::GRUCell(3, 2));
  fill(*cell);
  report("cell", cell->forward(wave({1, 3})), 64);
  nn::Sequential attention(nn::MultiheadAttention(4, 2));
  fill(*attention);
  const torch::Tensor q = wave({2, 1, 4}), k = wave({3, 1, 4}, 0.3);
  report("attention", std::get<0>(attention->forward<Pair>(q, k, k)), 64);
  nn::Sequential encoder(nn::TransformerEncoderLayer(
      nn::TransformerEncoderLayerOptions(4, 2).dim_feedforward(3).dropout(0)));
  fill(*encoder);
  report("encoder", encoder->forward(q), 256);
  // Lists of pointers extend containers of modules.
  std::vector<std::shared_ptr<nn::LinearImpl>> more{std::make_shared<nn::LinearImpl>(2, 2)};
  nn::Sequential longer(nn::Linear(3, 2));
  longer->extend(more);
  fill(*longer);
  report("extended", longer->forward(wave({1, 3})), 16);
  nn::ModuleList list;
  list->extend(more);
  report("list", static_cast<double>(list->size()));
}

namespace {

// This is a std::shared_ptr here, and a c10::intrusive_ptr in PyTorch 2.15.
using NodePointer = decltype(torch::autograd::Edge::function);

// The names of the nodes that are the next functions of a node, without those of leaves.
std::string path(const NodePointer& node) {
  if (!node || node->name().find("AccumulateGrad") != std::string::npos) return "";
  std::string text = node->name();
  text.resize(text.find("Backward"));
  for (const torch::autograd::Edge& edge : node->next_edges()) text += path(edge.function);
  return text;
}

}  // namespace

PARITY(nodes_held_and_inputs_of_backward) {
  torch::Tensor x = wave({2, 2}).requires_grad_(), y = wave({2, 2}, 0.3).requires_grad_();
  const torch::Tensor z = (x * y + x.exp()).sin();
  const NodePointer node = z.grad_fn();
  report_text("path", path(node));
  report("leaf", NodePointer(x.grad_fn()) == nullptr);
  z.backward(torch::ones({2, 2}), false, false, {x});
  report("x", x.grad(), 16);
  report("y", y.grad().defined());
}

PARITY(values) {
  const c10::IValue tuple = std::make_tuple(int64_t{3}, 2.5, std::string("text"), true, 2.0);
  report_text("printed", c10::str(tuple));
  report("element", tuple.toTuple()->elements()[1].toDouble());
  report("size", static_cast<double>(tuple.toTupleRef().elements().size()));
  report_refusal("no tuple", [] { c10::IValue(1).toTuple(); });
  std::ostringstream text;
  text << c10::IValue() << ' ' << c10::IValue(0.1) << ' ' << c10::IValue(-0.0) << ' '
       << c10::IValue(std::vector<int64_t>{1, 2}) << ' ' << torch::IValue(false);
  report_text("others", text.str());
}

PARITY(names_of_c10) {
  c10::variant<int, std::string> v = std::string("second");
  report("index", static_cast<double>(v.index()));
  report("is a string", c10::holds_alternative<std::string>(v) && c10::get_if<int>(&v) == nullptr);
  ska::flat_hash_map<std::string, int> counts;
  ++counts["a"];
  report("count", counts.at("a"));
  torch::autograd::AutoGradMode mode(false);
  report("recorded", torch::autograd::GradMode::is_enabled());
  const auto done = std::make_shared<std::promise<void>>();
  at::launch([done] { done->set_value(); });
  done->get_future().wait();
  report_text("launched", "done");
}

PARITY(numbers_of_bfloat16) {
  const c10::BFloat16 x = 1.5f, y = -0.75f;
  c10::BFloat16 bits = x;
  report("or", (bits | y).x);
  report("the first is changed", bits.x);
  report("and", (bits & x).x);
  report("xor", (bits ^ y).x);
  report("exp", static_cast<float>(std::exp(x)));
  report("tanh", static_cast<float>(std::tanh(y)));
  report("rsqrt", static_cast<float>(std::rsqrt(x)));
  report("pow", static_cast<float>(std::pow(x, 3.0)));
  report("fmod", static_cast<float>(std::fmod(x, y)));
}

PARITY_OF_HOST(autocast_of_lists) {
  namespace autocast = at::autocast;
  const torch::Tensor x = wave({2, 3});
  const auto maybe =
      autocast::cached_cast(torch::kBFloat16, c10::optional<torch::Tensor>(x), torch::kCPU);
  report("optional", *maybe);
  report("none",
         autocast::cached_cast(torch::kBFloat16, c10::optional<torch::Tensor>(), torch::kCPU)
             .has_value());
  const std::vector<torch::Tensor> list{x, torch::arange(3)};
  for (const auto& t :
       autocast::cached_cast(torch::kBFloat16, torch::TensorList(list), torch::kCPU)) {
    report("of a list", t);
  }
  report("xpu", autocast::is_xpu_enabled());
  report("xpu's dtype", autocast::get_autocast_xpu_dtype() == torch::kBFloat16);
}

PARITY(loaded_by_functions) {
  std::ostringstream out;
  torch::save(wave({2, 3}), out);
  const std::string bytes = out.str();
  torch::Tensor x;
  torch::load(
      x,
      [&](uint64_t position, void* to, size_t n) -> size_t {
        n = std::min<size_t>(n, bytes.size() - position);
        std::copy_n(bytes.data() + position, n, static_cast<char*>(to));
        return n;
      },
      [&]() -> size_t { return bytes.size(); });
  report("x", x);
}

PARITY(targets_of_other_dims) {
  const torch::Tensor x = torch::sigmoid(wave({4, 1, 1, 1}, 0.7, torch::kDouble)).requires_grad_();
  const torch::Tensor target = torch::sigmoid(wave({4}, 0.3, torch::kDouble));
  torch::binary_cross_entropy(x, target).backward();
  report("gradient", x.grad(), 32);
  report("none", torch::binary_cross_entropy(x, target, {}, torch::Reduction::None), 16);
  report_refusal("another size", [&] { torch::binary_cross_entropy(x, target.slice(0, 1)); });
}

PARITY(numbers_as_indices) {
  torch::Tensor x = wave({3, 4});
  report("int16", x.index({torch::tensor(1, torch::kShort)}));
  x.index_put_({"...", torch::tensor(-1, torch::kChar)}, 2.5);
  report("written", x);
  report_refusal("a list of int16", [&] { x.index({torch::arange(2).to(torch::kShort)}); });
}
