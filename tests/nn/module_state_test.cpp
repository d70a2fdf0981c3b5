// State dicts of modules, files of them, and clones.
#include <ambit/nn/activation.h>
#include <ambit/nn/batchnorm.h>
#include <ambit/nn/linear.h>
#include <ambit/nn/loss.h>
#include <ambit/nn/module_list.h>
#include <ambit/nn/sequential.h>
#include <ambit/nn/serialize.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/random.h>
#include <doctest/doctest.h>

#include "tests/devices.h"
#include "tests/temporary_folder.h"

using namespace ambit;

namespace {

nn::Sequential make_net() {
  return nn::Sequential({{"fc", nn::Linear(3, 2)}, {"norm", nn::BatchNorm2d(2)}});
}

std::vector<std::string> names(const StateDict& dict) {
  std::vector<std::string> all;
  for (const auto& [name, tensor] : dict) all.push_back(name);
  return all;
}
using Names = std::vector<std::string>;

// Deep copies, to compare with later.
StateDict snapshot(const nn::Module& module) {
  StateDict dict = module.state_dict();
  for (auto& [name, tensor] : dict) tensor = tensor.cpu().clone();
  return dict;
}

bool equal(const StateDict& a, const StateDict& b) {
  bool same = names(a) == names(b);
  for (size_t i = 0; same && i < a.size(); ++i) same = a[i].second.cpu().equal(b[i].second.cpu());
  return same;
}

struct NotCloneable : nn::Module {};

struct Forgetful : nn::Cloneable<Forgetful> {
  Forgetful() { register_parameter("weight", ones({1})); }
  void reset() override {}
};

}  // namespace

TEST_CASE("a state dict has parameters and persistent buffers under dotted names") {
  auto net = make_net();
  net->register_buffer("scratch", ones({1}), /*persistent=*/false);
  net->register_buffer("kept", ones({1}));
  const StateDict dict = net->state_dict();
  CHECK(names(dict) == Names{"kept", "fc.weight", "fc.bias", "norm.weight", "norm.bias",
                             "norm.running_mean", "norm.running_var", "norm.num_batches_tracked"});
  for (const auto& [name, tensor] : dict) CHECK_FALSE(tensor.requires_grad());
  CHECK(dict[1].second.data_ptr() == net->parameters()[0].data_ptr());
}

TEST_CASE("load_state_dict copies into the existing parameters") {
  for_each_device([](Device device) {
    auto from = make_net(), to = make_net();
    to->to(device);
    const Tensor weight = to->parameters()[0];
    CHECK_FALSE(equal(from->state_dict(), to->state_dict()));
    const auto keys = to->load_state_dict(from->state_dict());
    CHECK(keys.missing_keys.empty());
    CHECK(keys.unexpected_keys.empty());
    CHECK(equal(from->state_dict(), to->state_dict()));
    CHECK(to->parameters()[0].is_same(weight));
    CHECK(weight.device() == device);
    CHECK(weight.requires_grad());
  });
}

TEST_CASE("load_state_dict lists all errors at once and changes nothing") {
  auto net = make_net();
  const StateDict before = snapshot(*net);
  const StateDict wrong = {
      {"fc.weight", ones({2, 4})},           {"fc.bias", ones({2}, kInt32)},
      {"norm.weight", full({2}, 7)},         {"norm.bias", Tensor()},
      {"norm.running_mean", full({2}, 7.0)}, {"extra", ones({1})},
      {"norm.running_mean", ones({2})},      {"norm.running_var", empty({2}, kMeta)}};
  CHECK_THROWS_WITH(net->load_state_dict(wrong),
                    "load_state_dict: expected the tensors of Sequential, got"
                    "\n  norm.running_mean: given twice"
                    "\n  fc.weight: expected float32[2, 3], got float32[2, 4]"
                    "\n  fc.bias: expected float32[2], got int32[2]"
                    "\n  norm.weight: expected float32[2], got int64[2]"
                    "\n  norm.bias: expected float32[2], got undefined"
                    "\n  norm.running_var: expected data, got a tensor on meta, which has none"
                    "\n  unexpected: extra");
  CHECK(equal(before, net->state_dict()));
}

TEST_CASE("without strict, load_state_dict loads matching names and returns the others") {
  auto net = make_net();
  const auto keys = net->load_state_dict(
      {{"fc.bias", full({2}, 7.0)}, {"fc.gain", ones({2})}, {"x", ones({1})}}, /*strict=*/false);
  // As in PyTorch, a count of batches may be missing: files before 0.4.1 have none.
  CHECK(keys.missing_keys ==
        Names{"fc.weight", "norm.weight", "norm.bias", "norm.running_mean", "norm.running_var"});
  CHECK(keys.unexpected_keys == Names{"fc.gain", "x"});
  CHECK(net->at<nn::Linear>(0).bias.equal(full({2}, 7.0)));
  const StateDict before = snapshot(*net);
  CHECK_THROWS_AS(
      net->load_state_dict({{"fc.bias", zeros({2})}, {"fc.weight", zeros({1})}}, /*strict=*/false),
      Error);
  CHECK(equal(before, net->state_dict()));
}

TEST_CASE("a loaded parameter is detected by a graph that saved it") {
  nn::Linear fc(2, 2);
  const Tensor out = fc(ones({1, 2}).requires_grad_());
  fc->load_state_dict(nn::Linear(2, 2)->state_dict());
  CHECK_THROWS_AS(out.sum().backward(), AutogradError);
}

TEST_CASE("a module is saved and loaded by file, from any device to any other") {
  const TemporaryFolder folder;
  for_each_device([&](Device device) {
    auto net = make_net(), other = make_net();
    net->to(device);
    save(net, folder / "net.safetensors");
    load(other, folder / "net.safetensors");
    CHECK(equal(net->state_dict(), other->state_dict()));
    nn::Linear unlike(2, 2);
    CHECK_THROWS_AS(load(unlike, folder / "net.safetensors"), Error);
    CHECK_THROWS_AS(load(net, folder / "none.safetensors"), SerializationError);
  });
}

TEST_CASE("a clone has the same values in its own memory") {
  for_each_device([](Device device) {
    nn::Sequential net(nn::Linear(3, 2), nn::Sequential(nn::BatchNorm2d(2)), nn::ReLU(true));
    net->at<nn::Linear>(0).weight.requires_grad_(false);
    net->eval();
    const auto pointer = std::dynamic_pointer_cast<nn::SequentialImpl>(net->clone(device));
    REQUIRE(pointer);
    nn::Sequential copy(pointer);
    CHECK(equal(net->state_dict(), copy->state_dict()));
    for (const Tensor& p : copy->parameters()) CHECK(p.device() == device);
    CHECK_FALSE(copy->at<nn::Linear>(0).weight.requires_grad());
    CHECK(copy->at<nn::Linear>(0).bias.requires_grad());
    CHECK_FALSE(copy->is_training());
    CHECK_FALSE(copy[1]->is_training());
    CHECK(copy->at<nn::ReLU>(2).options.inplace());
    const Tensor before = net->parameters()[0].clone();
    copy->parameters()[0].zero_();
    CHECK(net->parameters()[0].equal(before));
    CHECK(copy->forward(ones({1, 2, 2, 3}, device)).device() == device);
  });
}

TEST_CASE("a clone of a user's class copies submodules that were added after reset") {
  struct Grower : nn::Cloneable<Grower> {
    Grower() { Grower::reset(); }
    void reset() override { layers = register_module("layers", nn::ModuleList()); }
    nn::ModuleList layers{nullptr};
  };
  Grower net;
  net.layers->push_back(nn::Linear(2, 3));
  const auto copy = net.clone();
  CHECK(equal(net.state_dict(), copy->state_dict()));
  CHECK(copy->as<Grower>()->layers->size() == 1);
  CHECK(copy->parameters()[0].name() == "layers.0.weight");
  CHECK(copy->parameters()[0].data_ptr() != net.parameters()[0].data_ptr());
}

TEST_CASE("the error for a module that cannot be cloned has the reason") {
  CHECK_THROWS_WITH(NotCloneable().clone(),
                    "clone: expected a class derived from nn::Cloneable, got NotCloneable");
  CHECK_THROWS_AS(Forgetful().clone(), Error);
  nn::ModuleList list;
  list->push_back(NotCloneable());
  CHECK_THROWS_AS(list->clone(), Error);
}

TEST_CASE("class weights of a loss are an alias of the program's tensor") {
  for_each_device([](Device device) {
    const Tensor weight = ones({3});
    nn::CrossEntropyLoss loss(nn::CrossEntropyLossOptions().weight(weight));
    loss = loss.to(device);
    CHECK(loss->weight.device() == device);
    CHECK(weight.device() == kCPU);
    CHECK(names(loss->state_dict()) == Names{"weight"});
  });
}
