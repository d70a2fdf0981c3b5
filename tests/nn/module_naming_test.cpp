// Names of tensors in modules: the dotted path in errors.
#include <ambit/nn/conv.h>
#include <ambit/nn/linear.h>
#include <ambit/nn/module_list.h>
#include <ambit/nn/sequential.h>
#include <ambit/ops/creation.h>
#include <doctest/doctest.h>

#include "tests/devices.h"

using namespace ambit;

namespace {

struct Bare : nn::Module {};

struct BlockImpl : nn::Cloneable<BlockImpl> {
  BlockImpl() { BlockImpl::reset(); }
  void reset() override {
    fc = register_module("fc", nn::Linear(2, 2));
    steps = register_buffer("steps", zeros({1}));
  }
  Tensor forward(const Tensor& x) { return fc(x); }
  nn::Linear fc{nullptr};
  Tensor steps;
};
AMBIT_MODULE(Block);

}  // namespace

TEST_CASE("tensors have the path from the root, whatever the order of registration") {
  Block block;
  CHECK(block->fc->weight.name() == "fc.weight");
  CHECK(block->steps.name() == "steps");
  nn::Sequential model(block);
  CHECK(block->fc->weight.name() == "0.fc.weight");
  const auto root = std::make_shared<Bare>();
  root->register_module("model", model);
  CHECK(block->fc->weight.name() == "model.0.fc.weight");
  CHECK(block->steps.name() == "model.0.steps");
  block->register_parameter("late", ones({1}));
  CHECK(block->named_parameters()["late"].name() == "model.0.late");
  nn::Linear head(2, 1);
  model->push_back(head);
  CHECK(head->bias.name() == "model.1.bias");
  model->push_back("named", nn::Linear(1, 1));
  for (const auto& [name, tensor] : root->named_parameters()) CHECK(tensor.name() == name);
}

TEST_CASE("a shared module and a tied parameter keep their first path") {
  nn::Linear shared(2, 2);
  nn::Sequential first(shared);
  nn::ModuleList second(shared);
  CHECK(shared->weight.name() == "0.weight");
  Bare root;
  root.register_module("first", first);
  root.register_module("second", second);
  CHECK(shared->weight.name() == "first.0.weight");
  root.register_parameter("tied", shared->weight);
  CHECK(shared->weight.name() == "first.0.weight");
  const auto outer = std::make_shared<Bare>();
  nn::Linear fc(2, 2);
  nn::ModuleList list(fc, nn::Linear(2, 2));
  list[1]->as<nn::Linear>()->register_parameter("tied", fc->weight);
  outer->register_module("list", list);
  CHECK(fc->weight.name() == "list.0.weight");
}

TEST_CASE("a replaced module is a root again, also if it gets another parent") {
  const auto net = std::make_shared<Bare>(), head = std::make_shared<Bare>();
  head->register_module("fc", nn::Linear(2, 2));
  net->register_module("head", head);
  CHECK(head->parameters()[0].name() == "head.fc.weight");
  const auto other = net->replace_module("head", std::make_shared<Bare>());
  CHECK(head->parameters()[0].name() == "fc.weight");
  other->register_parameter("scale", ones({1}));
  CHECK(net->parameters()[0].name() == "head.scale");
  head->register_module("backbone", net);
  for (const auto& [name, tensor] : head->named_parameters()) CHECK(tensor.name() == name);
}

TEST_CASE("a replaced module that is registered elsewhere keeps a name") {
  const auto net = std::make_shared<Bare>(), first = std::make_shared<Bare>();
  nn::Linear fc(2, 2);
  first->register_module("fc", fc);
  SUBCASE("the first one, in another module") {
    net->register_module("again", fc);
    net->replace_module("again", nn::Linear(1, 1));
    CHECK(fc->weight.name() == "fc.weight");
    net->register_module("first", first);
    CHECK(fc->weight.name() == "first.fc.weight");
  }
  SUBCASE("a second name in the same module") {
    first->register_module("same", fc);
    SUBCASE("if the second name is replaced") { first->replace_module("same", nn::Linear(1, 1)); }
    SUBCASE("if it is replaced by itself") { first->replace_module("fc", fc); }
    CHECK(fc->weight.name() == "fc.weight");
  }
  SUBCASE("the second one, if the first name is replaced") {
    first->register_module("same", fc);
    first->replace_module("fc", nn::Linear(1, 1));
    CHECK(fc->weight.name() == "same.weight");
  }
}

TEST_CASE("a copy of a module, which shares its name, does not create a cycle of names") {
  Bare net;
  SUBCASE("as its child") { net.register_module("copy", std::make_shared<Bare>(net)); }
  SUBCASE("as a grandchild") {
    const auto child = std::make_shared<Bare>();
    const auto copy = std::make_shared<Bare>(net);
    net.register_module("child", child);
    child->register_module("copy", copy);
  }
  net.register_parameter("weight", ones({1}));
  CHECK(net.parameters()[0].name() == "weight");
}

TEST_CASE("a clone is named from its own root") {
  Bare root;
  Block block;
  root.register_module("block", block);
  const auto copy = block->clone();
  CHECK(block->fc->weight.name() == "block.fc.weight");
  for (const auto& [name, tensor] : copy->named_parameters()) CHECK(tensor.name() == name);
  for (const auto& [name, tensor] : copy->named_buffers()) CHECK(tensor.name() == name);
  root.register_module("copy", copy);
  CHECK(copy->named_parameters()["fc.weight"].name() == "copy.fc.weight");
  CHECK(block->fc->weight.name() == "block.fc.weight");
}

TEST_CASE("names survive a move") {
  for_each_device([](Device device) {
    nn::Sequential model(nn::Linear(2, 2));
    model->to(device);
    CHECK(model->parameters()[0].name() == "0.weight");
  });
}

TEST_CASE("a device mismatch in a layer names the parameter") {
  for_each_device([](Device device) {
    if (device.is_cpu()) return;
    Block block;
    Bare root;
    root.register_module("block", block);
    root.to(device);
    try {
      block(ones({1, 2}));
      FAIL("expected DeviceMismatchError");
    } catch (const DeviceMismatchError& e) {
      CHECK(std::string(e.what()) == "expected device cpu but got device " + device.str());
      CHECK(e.explain().find("parameter block.fc.weight") != std::string::npos);
    }
  });
}
