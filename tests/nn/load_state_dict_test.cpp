// load_state_dict() with values that differ from the module's in dtype or shape, as accepted by
// PyTorch.
#include <ambit/error.h>
#include <ambit/nn/batchnorm.h>
#include <ambit/nn/linear.h>
#include <ambit/nn/sequential.h>
#include <ambit/nn/serialize.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/shape.h>
#include <doctest/doctest.h>

#include <string>

#include "tests/devices.h"
#include "tests/temporary_folder.h"

using namespace ambit;

namespace {

nn::Sequential make_net() {
  return nn::Sequential({{"fc", nn::Linear(3, 2)}, {"norm", nn::BatchNorm2d(2)}});
}

StateDict without(StateDict dict, const std::string& name) {
  std::erase_if(dict, [&](const auto& entry) { return entry.first == name; });
  return dict;
}

StateDict with(StateDict dict, const std::string& name, const Tensor& value) {
  for (auto& [known, tensor] : dict) {
    if (known == name) tensor = value;
  }
  return dict;
}

}  // namespace

// PyTorch 2.15: param.copy_(input_param) converts; float32(1/3 of float16) is exactly that float16.
TEST_CASE("floating-point tensors of another width are converted to the parameter's dtype") {
  for_each_device([](Device device) {
    for (const DType from : {kFloat16, kBFloat16, kFloat64}) {
      nn::Linear net(2, 1);
      net->to(device);
      const Tensor weight = tensor({{1. / 3, -2.}}).to(from).to(device),
                   bias = tensor({5.}).to(from);
      net->load_state_dict({{"weight", weight}, {"bias", bias}});
      CHECK(net->weight.dtype() == kFloat32);
      CHECK(net->weight.device() == device);
      CHECK(net->weight.detach().equal(weight.to(kFloat32)));
      CHECK(net->bias.detach().cpu().equal(tensor({5.})));
    }
    nn::Linear half(1, 1);
    half->to(device, kBFloat16);
    half->load_state_dict({{"weight", tensor({{1.00390625}})}, {"bias", tensor({2.})}});
    CHECK(half->weight.dtype() == kBFloat16);
    // 1 + 2^-8 is halfway between the bfloat16 numbers 1 and 1 + 2^-7, and is rounded to the even
    // one.
    CHECK(half->weight.detach().cpu().equal(tensor({{1.}}, kBFloat16)));
  });
}

TEST_CASE("integers are not converted to parameters, nor floats to counts") {
  nn::Linear net(2, 1);
  CHECK_THROWS_WITH_AS(
      net->load_state_dict({{"weight", ones({1, 2}, kInt64)}, {"bias", ones({2})}}),
      "load_state_dict: expected the tensors of Linear, got\n  weight: expected "
      "float32[1, 2], got int64[1, 2]\n  bias: expected float32[1], got float32[2]",
      Error);
  nn::BatchNorm2d norm(2);
  CHECK_THROWS_AS(
      norm->load_state_dict(with(norm->state_dict(), "num_batches_tracked", tensor(2.))), Error);
}

// PyTorch 2.15: files before version 2 of batch norm have no count; the module keeps its own, 0 if
// it is new. A tensor of shape [1] is accepted for one without dims.
TEST_CASE("a count of batches may be missing, of another integer dtype, or of one dim") {
  const nn::Sequential net = make_net();
  const std::string count = "norm.num_batches_tracked";
  const auto value = [&] { return net->named_buffers()[count].item<int64_t>(); };
  const nn::IncompatibleKeys keys = net->load_state_dict(without(net->state_dict(), count));
  CHECK(keys.missing_keys.empty());
  CHECK(value() == 0);
  net->load_state_dict(with(net->state_dict(), count, tensor(7, kInt32)));
  CHECK(value() == 7);
  net->load_state_dict(with(net->state_dict(), count, tensor({9})));
  CHECK(value() == 9);
  net->load_state_dict(without(net->state_dict(), count));
  CHECK(value() == 9);
  CHECK_THROWS_AS(net->load_state_dict(with(net->state_dict(), count, tensor({9, 9}).view({1, 2}))),
                  Error);
  CHECK_THROWS_AS(net->load_state_dict(without(net->state_dict(), "norm.running_mean")), Error);
}

TEST_CASE("an archive with another width loads like a state dict") {
  const TemporaryFolder folder;
  nn::Linear wide(2, 1), net(2, 1);
  wide->to(kFloat64);
  serialize::OutputArchive archive;
  archive << *wide;
  archive.save_to(folder / "f.pt");
  load(net, folder / "f.pt");
  CHECK(net->weight.dtype() == kFloat32);
  CHECK(net->weight.detach().equal(wide->weight.detach().to(kFloat32)));
}

TEST_CASE("a state dict of nn.DataParallel loads without its prefix") {
  const nn::Sequential net = make_net();
  StateDict parallel;
  for (const auto& [name, t] : net->state_dict()) parallel.emplace_back("module." + name, t + 0);
  CHECK_THROWS_AS(net->load_state_dict(parallel), Error);
  CHECK(net->load_state_dict(without_prefix(parallel)).unexpected_keys.empty());
  CHECK(without_prefix({{"a.b", ones({1})}, {"c", ones({1})}}, "a.")[0].first == "b");
  CHECK_THROWS_WITH_AS(without_prefix({{"module.x", ones({1})}, {"x", ones({1})}}),
                       "without_prefix: expected each name once without 'module.', got 'x' twice",
                       Error);
}

TEST_CASE("a module's safetensors file says that it has PyTorch's format") {
  const TemporaryFolder folder;
  nn::Linear net(2, 1);
  save(net, folder / "f.safetensors");
  Metadata metadata;
  load(folder / "f.safetensors", {}, &metadata);
  CHECK(metadata["format"] == "pt");
  load(net, folder / "f.safetensors");
}
