// Idioms of published programs for libtorch: optimizer state by parameter, files of modules,
// dispatch by dtype, old names of types, kinds of devices, shared lists and dicts, inference mode.
#include <ATen/Dispatch.h>
#if __has_include(<ATen/Dispatch_v2.h>)
#include <ATen/Dispatch_v2.h>
#endif
#include <ATen/core/Dict.h>
#include <ATen/core/List.h>
#include <c10/util/complex.h>
#include <c10/util/intrusive_ptr.h>
#include <torch/script.h>

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tests/parity/parity.h"

using parity::fill;
using parity::report;
using parity::report_refusal;
using parity::report_text;
using parity::wave;

namespace {

// The key of a parameter's state, which was a string before 2.2.
auto key_of(const torch::Tensor& p) {
#if TORCH_VERSION_MAJOR >= 2
  return p.unsafeGetTensorImpl();
#else
  return c10::guts::to_string(p.unsafeGetTensorImpl());
#endif
}

torch::optim::AdamParamState& adam_state(torch::optim::Adam& adam, const torch::Tensor& p) {
  return static_cast<torch::optim::AdamParamState&>(*adam.state()[key_of(p)]);
}

void step(torch::optim::Optimizer& optimizer, torch::Tensor& p) {
  optimizer.zero_grad();
  (p * p * wave(p.sizes(), 0.43)).sum().backward();
  optimizer.step();
}

std::string file_of(const std::string& name) {
  return "/tmp/parity_" + std::to_string(getpid()) + "_" + name;
}

}  // namespace

// As in gaussian splatting, the parameter is replaced by a longer one during training.
PARITY(state_of_a_replaced_parameter) {
  torch::Tensor p = wave({2, 3}).clone().requires_grad_();
  torch::optim::Adam adam({p}, torch::optim::AdamOptions(0.1));
  step(adam, p);
  step(adam, p);
  report("steps", static_cast<double>(adam_state(adam, p).step()));
  report("mean", adam_state(adam, p).exp_avg(), 16);
  auto state = std::make_unique<torch::optim::AdamParamState>(adam_state(adam, p));
  const torch::Tensor room = torch::zeros({1, 3});
  state->exp_avg(torch::cat({state->exp_avg(), room}, 0));
  state->exp_avg_sq(torch::cat({state->exp_avg_sq(), room}, 0));
  adam.state().erase(key_of(p));
  torch::Tensor longer = torch::cat({p.detach(), wave({1, 3}, 0.3)}, 0).requires_grad_();
  adam.state()[key_of(longer)] = std::move(state);
  adam.param_groups()[0].params()[0] = longer;
  step(adam, longer);
  report("longer", longer.detach(), 64);
  report("steps then", static_cast<double>(adam_state(adam, longer).step()));
  adam_state(adam, longer).exp_avg().zero_();
  adam_state(adam, longer).step(0);
  step(adam, longer);
  report("reset", longer.detach(), 64);
  report("entries", static_cast<double>(adam.state().size()));
  for (auto& entry : adam.state()) {
    report("squares", static_cast<torch::optim::AdamParamState&>(*entry.second).exp_avg_sq(), 32);
  }
}

PARITY(states_of_other_optimizers) {
  using namespace torch::optim;
  torch::Tensor p = wave({3}).clone().requires_grad_();
  SGD sgd({p}, SGDOptions(0.1).momentum(0.9));
  step(sgd, p);
  const auto& momentum = static_cast<const SGDParamState&>(*sgd.state().at(key_of(p)));
  report("momentum", momentum.momentum_buffer(), 16);
  RMSprop rmsprop({p}, RMSpropOptions(0.1).centered(true));
  step(rmsprop, p);
  auto found = rmsprop.state().find(key_of(p));
  report("found", found != rmsprop.state().end());
  report("squares", static_cast<RMSpropParamState&>(*found->second).square_avg(), 16);
  report("gradients", static_cast<RMSpropParamState&>(*found->second).grad_avg(), 16);
  Adagrad adagrad({p}, AdagradOptions(0.1));
  step(adagrad, p);
  const auto& sums = static_cast<AdagradParamState&>(*adagrad.state().at(key_of(p)));
  report("sum", sums.sum(), 16);
  report("step", static_cast<double>(sums.step()));
}

PARITY(an_optimizer_loaded_to_a_device) {
  torch::Tensor p = wave({4}).clone().requires_grad_();
  torch::optim::AdamW adam({p}, torch::optim::AdamWOptions(0.1));
  step(adam, p);
  const std::string path = file_of("optimizer.pt");
  torch::save(adam, path);
  torch::Tensor q = p.detach().clone().requires_grad_();
  torch::optim::AdamW other({q}, torch::optim::AdamWOptions(0.1));
  torch::load(other, path, p.device());
  std::remove(path.c_str());
  step(adam, p);
  step(other, q);
  report("continued", q.detach(), 64);
  report("the same", torch::equal(p, q));
}

PARITY(files_of_any_extension) {
  using namespace torch;
  nn::Sequential net(nn::Linear(3, 2), nn::ReLU(), nn::Linear(2, 1));
  fill(*net);
  for (const char* name : {"net", "net.pt", "net.safetensors"}) {
    const std::string path = file_of(name);
    save(net, path);
    serialize::InputArchive archive, child;
    archive.load_from(path);
    report("has a child", archive.try_read("0", child));
    Tensor weight;
    report("has its weight", child.try_read("weight", weight));
    report("weight", weight);
    report("no such child", archive.try_read("1", child) + archive.try_read("3", child));
    nn::Sequential copy(nn::Linear(3, 2), nn::ReLU(), nn::Linear(2, 1));
    load(copy, path);
    report("loaded", copy->forward(wave({2, 3})), 32);
    std::remove(path.c_str());
  }
  for (const char* name : {"x", "x.pt"}) {
    const std::string path = file_of(name);
    const Tensor x = wave({2, 3});
    save(x, path);
    Tensor y;
    load(y, path);
    report("tensor", y);
    serialize::InputArchive archive;
    archive.load_from(path);
    Tensor z;
    archive.read("0", z);
    report("entry", z);
    save(std::vector<Tensor>{x, y}, path);
    std::vector<Tensor> list;
    load(list, path);
    report("list", static_cast<double>(list.size()));
    std::remove(path.c_str());
  }
}

PARITY(printed_node_of_the_graph) {
  const torch::Tensor x = wave({2}).requires_grad_();
  std::ostringstream node, none;
  node << (x * 2).grad_fn();
  none << x.grad_fn();
  report("printed", !node.str().empty() && node.str() != "0");  // an address, 1 since 2.15
  report_text("a leaf's", none.str());
}

PARITY_OF_HOST(dispatch_by_dtype) {
  const auto sum = [](const torch::Tensor& t) {
    double total = 0;
    AT_DISPATCH_ALL_TYPES_AND2(at::kBFloat16, at::kBool, t.scalar_type(), "sum", ([&] {
                                 const scalar_t* p = t.data_ptr<scalar_t>();
                                 for (int64_t i = 0; i < t.numel(); ++i) {
                                   total += static_cast<double>(p[i]);
                                 }
                               }));
    return total;
  };
  for (const auto type : {torch::kUInt8, torch::kShort, torch::kLong, torch::kFloat, torch::kDouble,
                          torch::kBFloat16, torch::kBool}) {
    report("sum", sum(torch::arange(5).to(type)));
  }
  report_refusal("half", [&] { sum(torch::ones({2}, torch::kHalf)); });
  const auto largest = [](at::ScalarType type) {
    return AT_DISPATCH_SWITCH(type, "largest", AT_DISPATCH_CASE_INTEGRAL_TYPES([] {
                                return static_cast<double>(std::numeric_limits<scalar_t>::max());
                              }) AT_DISPATCH_CASE(at::kFloat, [] { return 1.5; }));
  };
  report("byte", largest(torch::kByte));
  report("int", largest(torch::kInt));
  report("float", largest(torch::kFloat));
  report_refusal("double", [&] { largest(torch::kDouble); });
  int64_t bytes = 0;
  AT_DISPATCH_INDEX_TYPES(at::kLong, "bytes", [&] { bytes = sizeof(index_t); });
  report("index", static_cast<double>(bytes));
  AT_DISPATCH_FLOATING_TYPES_AND_HALF(at::kHalf, "bytes", [&] { bytes = sizeof(scalar_t); });
  report("half", static_cast<double>(bytes));
#ifdef AT_DISPATCH_REDUCED_FLOATING_TYPES
  AT_DISPATCH_REDUCED_FLOATING_TYPES(at::kBFloat16, "bytes", [&] { bytes = sizeof(scalar_t); });
#endif
  report("reduced", static_cast<double>(bytes));
}

// AT_DISPATCH_V2, since 2.1, has its dtypes as a list.
PARITY_OF_HOST(dispatch_by_a_list_of_dtypes) {
#ifdef AT_DISPATCH_V2
  const auto bytes_of = [](at::ScalarType type) {
    return AT_DISPATCH_V2(type, "bytes", AT_WRAP([&] {
                            const std::pair<size_t, int> both{sizeof(scalar_t), 1};
                            return static_cast<double>(both.first);
                          }),
                          AT_EXPAND(AT_ALL_TYPES), at::kHalf, at::kBool);
  };
  const auto is_integer = [](at::ScalarType type) {
    return AT_DISPATCH_V2(type, "is_integer",
                          ([] { return std::numeric_limits<scalar_t>::is_integer; }),
                          AT_EXPAND(AT_INTEGRAL_TYPES_V2), AT_EXPAND(AT_FLOATING_TYPES));
  };
  const auto unsigned_short = at::kUInt16, unsigned_long = at::kUInt64;
#else
  const auto bytes_of = [](at::ScalarType type) {
    if (type == at::kBFloat16) throw std::runtime_error("not in the list");
    return static_cast<double>(at::elementSize(type));
  };
  const auto is_integer = [](at::ScalarType type) {
    if (type == at::kBool) throw std::runtime_error("not in the list");
    return at::isIntegralType(type, false);
  };
  const auto unsigned_short = at::kShort, unsigned_long = at::kLong;
#endif
  for (const auto type : {at::kByte, at::kShort, at::kInt, at::kDouble, at::kHalf, at::kBool}) {
    report("bytes", bytes_of(type));
  }
  report_refusal("bfloat16", [&] { bytes_of(at::kBFloat16); });
  for (const auto type : {at::kChar, unsigned_short, unsigned_long, at::kFloat}) {
    report("integer", is_integer(type));
  }
  report_refusal("bool", [&] { is_integer(at::kBool); });
}

PARITY_OF_HOST(types_of_old_programs) {
  const torch::Tensor x = wave({2}), ids = torch::arange(2);
  report("cuda", x.type().is_cuda());
  report("sparse", x.type().is_sparse());
  report_text("names", x.type().toString() + ids.type().toString());
  report("equal", x.type() == x.clone().type() && !(x.type() == ids.type()));
  report("dtype", ids.type().scalarType() == torch::kLong);
  report("options", torch::zeros({2}, ids.type()));
  report("value types", std::is_same<c10::scalar_value_type<float>::type, float>::value);
}

PARITY_OF_HOST(questions_about_the_machine) {
  report("gpus", at::getNumGPUs() == static_cast<size_t>(torch::cuda::device_count()));
  report("mps", at::hasMPS());
  report("xla", at::hasXLA());
  at::globalContext().setAllowFP16ReductionCuBLAS(false);
  report("lapack", at::hasLAPACK());
#if TORCH_VERSION_MAJOR >= 2
  // Choose a device as programs do: the first of several kinds that exists.
  torch::DeviceType kind = torch::kCPU;
  if (torch::mps::is_available()) kind = torch::kMPS;
  if (torch::xpu::is_available()) kind = torch::kXPU;
  report("metal", torch::mps::is_available());
  report("xpu", 2 * torch::xpu::is_available() + torch::xpu::device_count());
  report("kind", kind == torch::kCPU);
#else
  report("metal", 0);
  report("xpu", 0);
  report("kind", 1);
#endif
}

PARITY(shared_lists_and_dicts) {
  c10::List<int64_t> list({3, 1, 2});
  const c10::List<int64_t> same = list, other = list.copy();
  list.push_back(7);
  list.set(0, 5);
  report("shared", static_cast<double>(same.size()) + static_cast<double>(same.get(0)));
  report("copied", static_cast<double>(other.size()) + static_cast<double>(other.get(0)));
  report("is", 2 * list.is(same) + list.is(other));
  double sum = 0;
  for (const int64_t i : list) sum = 10 * sum + static_cast<double>(i);
  report("elements", sum);
  report_text("vector", c10::Join(",", list.vec()));
  report("taken", static_cast<double>(list.extract(3)));
  list.pop_back();
  list.append(other);
  report("appended", static_cast<double>(list.size()));
  report_refusal("beyond", [&] { list.get(9); });
  c10::List<torch::Tensor> tensors;
  tensors.emplace_back(wave({2}));
  const torch::Tensor first = tensors[0];
  report("tensor", first);

  c10::Dict<std::string, torch::Tensor> dict;
  report("new", dict.insert("b", wave({2})).second);
  dict.insert("a", wave({3}));
  report("known", dict.insert("b", wave({4})).second);
  dict.insert_or_assign("a", wave({1}));
  const c10::Dict<std::string, torch::Tensor> alias = dict;
  for (const auto& entry : alias) {
    report_text("key", entry.key());
    report("value", entry.value());
  }
  report("at", dict.at("b"));
  report("find", dict.find("c") == dict.end());
  report("erased", static_cast<double>(dict.erase("b")));
  report("left", static_cast<double>(alias.size()) + alias.contains("b"));
  report_refusal("missing", [&] { dict.at("b"); });

  // Load by pickle_load, like the weights of a file from Python.
  c10::impl::GenericDict generic(c10::AnyType::get(), c10::AnyType::get());
  generic.insert("scale", 2.5);
  generic.insert("weight", wave({2}));
  for (const auto& entry : generic) {
    if (entry.value().isTensor()) report(entry.key().toStringRef(), entry.value().toTensor());
  }
  report("scale", generic.at("scale").toDouble());
  const c10::IValue loaded = torch::pickle_load(torch::pickle_save(generic));
  report("is a dict", loaded.isGenericDict());
  const c10::Dict<c10::IValue, c10::IValue> weights = loaded.toGenericDict();
  report("weight", weights.at("weight").toTensor());
  report("scale again", weights.find("scale")->value().toDouble());
  const c10::List<c10::IValue> items = c10::IValue(std::vector<int64_t>{4, 5}).toList();
  report("item", static_cast<double>(items.get(1).toInt()));
}

namespace {

struct Counter : c10::intrusive_ptr_target {
  explicit Counter(int start) : count(start) {}
  int count;
};

}  // namespace

PARITY(intrusive_pointers) {
  const c10::intrusive_ptr<Counter> counter = c10::make_intrusive<Counter>(3);
  const c10::intrusive_ptr<Counter> same = counter;
  ++same->count;
  report("count", counter->count);
  report("owners", static_cast<double>(counter.use_count()));
}

PARITY(tensors_of_inference_mode) {
  const torch::Tensor x = wave({2, 3});
  torch::Tensor made, result, view, kept;
  {
    c10::InferenceMode guard;
    made = torch::ones({2});
    result = x * 2;
    view = x.view({3, 2});
    kept = x.detach();
    c10::InferenceMode off(false);
    report("off", torch::ones({2}).is_inference());
  }
  report("made", made.is_inference());
  report("result", result.is_inference());
  report("view of another", view.is_inference());
  report("detached", kept.is_inference());
  report("its view later", result.view({6}).is_inference());
  report("its copy later", 2 * result.clone().is_inference() + (result + 1).is_inference());
  report("other", x.is_inference());
}

PARITY(options_of_recurrent_layers) {
  torch::nn::LSTM lstm(torch::nn::LSTMOptions(3, 4).num_layers(2).batch_first(true));
  report("hidden", static_cast<double>(lstm->options_base.hidden_size()));
  report("layers", static_cast<double>(lstm->options_base.num_layers()));
  report("batch first", lstm->options_base.batch_first());
  torch::nn::GRU gru(torch::nn::GRUOptions(3, 4).bidirectional(true));
  report("both ways", gru->options_base.bidirectional());
  report("input", static_cast<double>(gru->options_base.input_size()));
}

PARITY(a_stream_of_files) {
  const std::string path = file_of("text");
  std::ofstream(path) << "3 4";
  int a = 0, b = 0;
  std::ifstream(path) >> a >> b;
  std::remove(path.c_str());
  report("product", a * b);
}
