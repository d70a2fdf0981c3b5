// Names of tensors in modules: the dotted path that errors quote.
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

TEST_CASE("tensors bear the path from the root, whatever the order of registration") {
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
