// Less common members of libtorch's classes: containers by name, options, lists, storages,
// generators, and conversions of C++ numbers.
#include <ATen/Context.h>
#include <ATen/Dispatch.h>
#include <ATen/TensorIndexing.h>

#include "parity.h"

using parity::report;
using parity::report_refusal;
using parity::report_text;
using parity::wave;
using torch::indexing::None;
using torch::indexing::Slice;
using torch::indexing::TensorIndex;

PARITY(numbers_keep_their_type) {
  report("uint8", torch::tensor(std::vector<uint8_t>{1, 200}));
  report("int16", torch::tensor(std::vector<int16_t>{1, -2}));
  report("int8", torch::tensor(static_cast<int8_t>(-3)));
  report("int", torch::tensor(std::vector<int>{1, 2}));
  report("nested", torch::tensor({{static_cast<int16_t>(1)}, {static_cast<int16_t>(2)}}));
  report("half", torch::tensor(at::Half(1.5f)));
  report("bfloat16", torch::tensor(at::BFloat16(2.f)));
  report("double", torch::tensor(std::vector<double>{1.5}));
  report("none of uint8", torch::tensor(std::vector<uint8_t>{}));
}

PARITY(numbers_that_do_not_fit_are_refused) {
  report("fits", torch::tensor(2.75).item<int>());
  report("least", static_cast<double>(torch::tensor(-128).item<int8_t>()));
  report_refusal("int", [] { torch::tensor(1e10).item<int>(); });
  report_refusal("int8", [] { torch::tensor(300).item<int8_t>(); });
  report_refusal("int64", [] { torch::tensor(1e30).item<int64_t>(); });
  report_refusal("nan", [] { torch::tensor(NAN).item<int>(); });
  report_refusal("scalar", [] { at::Scalar(300).to<int8_t>(); });
}

PARITY(ordered_dicts) {
  torch::OrderedDict<std::string, int> d{{"a", 1}, {"b", 2}}, more;
  more.reserve(4);
  more.insert("c", 3);
  d.update(more);
  report("front", d.front().value());
  report("back", d.back().value());
  std::string text;
  for (const auto& [key, value] : d.pairs()) text += key + std::to_string(value);
  for (auto it = d.begin(); it != d.end(); ++it) text += it->key();
  report_text("pairs", text);
  report_refusal("again", [&] { d.update(more); });
}

PARITY(containers_by_name) {
  torch::nn::ModuleDict dict;
  torch::OrderedDict<std::string, std::shared_ptr<torch::nn::Module>> modules;
  modules.insert("one", torch::nn::Linear(2, 3).ptr());
  modules.insert("two", torch::nn::ReLU().ptr());
  dict->update(modules);
  std::string text;
  for (const auto& item : *dict) text += item.key() + ' ';
  report("popped", static_cast<double>(dict->pop("one")->parameters().size()));
  report("left", static_cast<double>(dict->size()));
  report_refusal("pop again", [&] { dict->pop("one"); });
  dict->clear();
  report("cleared", dict->empty());

  torch::nn::ParameterDict parameters;
  parameters->insert("w", wave({2}));
  parameters->insert("b", wave({3}));
  for (const auto& item : *parameters) text += item.key() + ' ';
  torch::OrderedDict<std::string, torch::Tensor> other;
  other.insert("w", wave({4}));
  parameters->update(other);
  for (const auto& p : parameters->named_parameters()) report(p.key(), p.value());
  report("parameter", parameters->pop("w"));
  report("parameters", static_cast<double>(parameters->parameters().size()));
  parameters->clear();
  report("no parameters", static_cast<double>(parameters->parameters().size()));

  torch::nn::ParameterList list(wave({1}), wave({2}));
  for (const auto& item : *list) text += item.key() + ' ' + std::to_string(item->numel()) + ' ';
  report_text("keys", text);

  torch::nn::ModuleList layers(torch::nn::Linear(1, 1), torch::nn::Linear(3, 1));
  layers->insert(1, torch::nn::Linear(2, 1));
  for (const auto& p : layers->named_parameters()) report(p.key(), p.value().numel());
  report("as its class",
         static_cast<double>(layers->ptr<torch::nn::LinearImpl>(1)->options.in_features()));
  torch::nn::Sequential net(torch::nn::Linear(1, 4), torch::nn::ReLU());
  report("in sequence",
         static_cast<double>(net->ptr<torch::nn::LinearImpl>(0)->options.out_features()));
}

PARITY(modules_leave) {
  struct Net : torch::nn::Module {
    Net() {
      register_module("fc", torch::nn::Linear(1, 2));
      register_module("out", torch::nn::Linear(2, 1));
    }
  } net;
  net.unregister_module("fc");
  for (const auto& p : net.named_parameters()) report(p.key(), p.value().numel());
  report_refusal("again", [&] { net.unregister_module("fc"); });
}

PARITY(options) {
  const auto some = torch::TensorOptions().dtype(torch::kDouble).requires_grad(true);
  const auto known = [](const torch::TensorOptions& o) {
    return 32. * o.has_dtype() + 16. * o.has_device() + 8. * o.has_layout() +
           4. * o.has_requires_grad() + 2. * o.has_pinned_memory() + o.has_memory_format();
  };
  report("known", known(some));
  report("nothing", known({}));
  report("layout", known(torch::TensorOptions().layout(torch::kStrided).pinned_memory(false)));
  const auto merged = some.merge_in(torch::TensorOptions(torch::kInt).requires_grad(false));
  report("merged", torch::zeros({1}, merged));
  report("optional", *some.requires_grad_opt() + 2. * some.pinned_memory_opt().has_value());
  report("sparse", some.is_sparse());
}

PARITY_OF_HOST(lists) {
  const torch::Tensor x = wave({2, 3});
  const std::vector<torch::Tensor> tensors{x, x + 1, x + 2};
  const at::TensorList list(tensors);
  report("slice", torch::cat(list.slice(1)));
  report("front", list.front());
  report("back", list.back());
  double digits = 0;
  const at::IntArrayRef sizes = x.sizes();
  for (auto it = sizes.rbegin(); it != sizes.rend(); ++it) {
    digits = digits * 10 + static_cast<double>(*it);
  }
  report("reversed", digits);
  report("accessor", x.packed_accessor64<float, 2>()[1][2]);
}

PARITY(storages) {
  const torch::Tensor x = wave({2, 3}), y = x.view({3, 2}), z = x.clone();
  report("bytes", static_cast<double>(x.storage().nbytes()));
  report("aliases",
         2. * x.storage().is_alias_of(y.storage()) + x.storage().is_alias_of(z.storage()));
  report("data", x.storage().data() == x.data_ptr());
  report("device", x.storage().device() == x.device());
}

PARITY_OF_HOST(generators) {
  auto a = torch::make_generator<at::CPUGeneratorImpl>(5);
  auto b = at::detail::createCPUGenerator(5);
  report("same seed", torch::equal(torch::rand({3}, a), torch::rand({3}, b)));
  report("seed", static_cast<double>(a.current_seed()));
  report("default",
         at::globalContext().defaultGenerator(torch::kCPU) == at::detail::getDefaultCPUGenerator());
}

PARITY(context) {
  at::globalContext().setBenchmarkCuDNN(true);
  report("benchmark", at::globalContext().benchmarkCuDNN());
  at::globalContext().setBenchmarkCuDNN(false);
  report("none", at::globalContext().benchmarkCuDNN());
  report("deterministic", at::globalContext().deterministicCuDNN());
}

PARITY(short_names_with_an_output) {
  const torch::Tensor x = wave({3, 3}), m = torch::matmul(x, x.t()) + torch::eye(3);
  torch::Tensor a = torch::empty({0}), b = torch::empty({0});
  report("inv", at::matmul(torch::linalg_inv_out(a, m), m), 64);
  report("cholesky", torch::linalg_cholesky_out(a, m), 32);
  torch::linalg_slogdet_out(a, b, m);
  report("slogdet", b, 64);
  report("erf", torch::special::erf_out(a, x), 32);
  report("ndtri", torch::special::ndtri_out(a, torch::sigmoid(x)), 64);
  report("cat", torch::cat_out(a, {x, m}, 1));
  report("stack", torch::stack_out(a, {x, x}));
  report("hstack", at::hstack_out(a, {x}));
  report("block_diag", at::block_diag_out(a, {x, m}));
  report("multi_dot", torch::linalg_multi_dot_out(a, {x, m, x}), 64);
  report("linalg_multi_dot", at::linalg_multi_dot_out(a, {x, m}), 64);
  using namespace torch;
  report("within the namespace", special::expit(x), 16);  // one namespace, not two
}

PARITY(indices_are_printed) {
  report_text("slice", c10::str(Slice(1, 2), ' ', Slice(1, None, 2)));
  report_text("entries", c10::str(TensorIndex(3), TensorIndex(None), TensorIndex("..."),
                                  TensorIndex(true), TensorIndex(Slice(0, 4))));
}

PARITY(dispatch_without_complex) {
  const torch::Tensor x = wave({1}, 0.7, torch::kDouble);
  AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES(x.scalar_type(), "x",
                                         [&] { report("double", sizeof(scalar_t)); });
  AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND2(at::kHalf, at::kBool, torch::kBool, "x",
                                         [&] { report("bool", sizeof(scalar_t)); });
  AT_DISPATCH_INDEX_TYPES(torch::kInt, "x", [&] { report("int", sizeof(index_t)); });
}
