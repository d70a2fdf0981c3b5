// Objects that programs save and load: modules, lists of tensors, optimizers, samplers and
// generators, in archives and the other formats.
#include <ambit/archive.h>
#include <ambit/checkpoint.h>
#include <ambit/data/cifar10.h>
#include <ambit/data/samplers.h>
#include <ambit/error.h>
#include <ambit/nn/activation.h>
#include <ambit/nn/functional_module.h>
#include <ambit/nn/linear.h>
#include <ambit/nn/sequential.h>
#include <ambit/nn/serialize.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/reduce.h>
#include <ambit/optim/optim.h>
#include <ambit/random.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "tests/devices.h"
#include "tests/temporary_folder.h"

using namespace ambit;
using serialize::InputArchive;
using serialize::OutputArchive;

namespace {

struct NetImpl : nn::Module {
  nn::Linear a = register_module("a", nn::Linear(2, 3));
  nn::Sequential b = register_module("b", nn::Sequential(nn::Linear(3, 2), nn::ReLU()));
  Tensor scale = register_parameter("scale", ones({2}));
  Tensor count = register_buffer("count", zeros({}, kInt64));
  Tensor scratch = register_buffer("scratch", zeros({3}), /*persistent=*/false);
  nn::Functional f = register_module("f", nn::Functional([](const Tensor& x) { return x; }));
};
AMBIT_MODULE(Net);

StateDict copies(const nn::Module& module) {
  StateDict all = module.state_dict();
  for (auto& [name, tensor] : all) tensor = tensor.clone();
  return all;
}

bool same(const StateDict& a, const StateDict& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.first == y.first && x.second.equal(y.second);
  });
}

}  // namespace

TEST_CASE("a module is saved in an archive, without its functions and non-persistent buffers") {
  const TemporaryFolder folder;
  Net net, other;
  net->scratch.fill_(5);
  std::stringstream stream;
  save(net, stream);
  load(other, stream);
  CHECK(same(copies(*other), copies(*net)));
  CHECK(other->scratch.equal(zeros({3})));

  OutputArchive archive;
  net->save(archive);
  archive.save_to(folder / "net.bin");  // an archive, whatever the extension
  Net third;
  load(third, folder / "net.bin");
  CHECK(same(copies(*third), copies(*net)));
  CHECK(load(folder / "net.bin").size() == net->state_dict().size());
  const std::shared_ptr<NetImpl> pointer = third.ptr();
  load(pointer, folder / "net.bin");
  InputArchive in;
  in.load_from(folder / "net.bin");
  CHECK(in.keys() == std::vector<std::string>{"scale", "count", "a", "b"});
}

TEST_CASE("a module that cannot read all of an archive is unchanged") {
  Net net;
  const StateDict before = copies(*net);
  const auto attempt = [&](const auto& change) {
    OutputArchive archive, a, b, b0;
    a.write("weight", ones({3, 2}));
    a.write("bias", ones({3}));
    b0.write("weight", ones({2, 3}));
    b0.write("bias", ones({2}));
    archive.write("scale", ones({2}));
    archive.write("count", ones({}, kInt64));
    b.write("0", b0);
    b.write("1", OutputArchive());
    archive.write("a", a);
    archive.write("b", b);
    change(archive);
    std::stringstream stream;
    archive.save_to(stream);
    load(net, stream);
  };
  OutputArchive wrong;
  wrong.write("weight", ones({3, 2}));
  CHECK_THROWS_AS(attempt([&](OutputArchive& x) { x.write("b", wrong); }), SerializationError);
  CHECK(same(copies(*net), before));
  CHECK_THROWS_AS(attempt([&](OutputArchive& x) { x.write("scale", ones({3})); }), Error);
  CHECK_THROWS_AS(attempt([&](OutputArchive& x) { x.write("count", ones({})); }), Error);
  CHECK_THROWS_AS(attempt([&](OutputArchive& x) { x.write("scale", Value(1)); }),
                  SerializationError);
  CHECK(same(copies(*net), before));
  attempt([](OutputArchive& x) { x.write("more", ones({1})); });
  CHECK(net->a->weight.equal(ones({3, 2})));
}

TEST_CASE("a class may define how it is saved") {
  struct OwnImpl : nn::Module {
    int64_t epoch = 0;
    void save(OutputArchive& archive) const override { archive.write("epoch", Value(epoch)); }
    void load(InputArchive& archive) override {
      Value v;
      archive.read("epoch", v);
      epoch = v.to_int();
    }
  };
  const auto own = std::make_shared<OwnImpl>(), other = std::make_shared<OwnImpl>();
  own->epoch = 5;
  std::stringstream stream;
  save(own, stream);
  load(other, stream);
  CHECK(other->epoch == 5);
}

TEST_CASE("a list of tensors is saved in each format, and appended when it is loaded") {
  const TemporaryFolder folder;
  const std::vector<Tensor> list{ones({2}), arange(3), tensor(1.5)};
  for (const char* name : {"list.pth", "list.pt", "list.safetensors", "list"}) {
    INFO(std::string(name));
    save(list, folder / name);
    std::vector<Tensor> read{zeros({1})};
    load(read, folder / name);
    REQUIRE(read.size() == 4);
    for (size_t i = 0; i < 3; ++i) CHECK(read[i + 1].equal(list[i]));
  }
  std::stringstream stream;
  save(list, stream);
  std::vector<Tensor> read{zeros({1})};
  load(read, stream);
  CHECK(read.size() == 4);
  CHECK(read[2].equal(list[1]));
  save(StateDict{{"0", ones({1})}, {"x", ones({1})}}, folder / "other.safetensors");
  CHECK_THROWS_AS(load(read, folder / "other.safetensors"), SerializationError);
  CHECK(read.size() == 4);
}

TEST_CASE("one tensor is loaded into a parameter that remains the module's") {
  const TemporaryFolder folder;
  for (const char* name : {"w.pth", "w.safetensors", "w.archive"}) {
    INFO(std::string(name));
    nn::Linear fc(2, 3);
    OutputArchive archive;
    archive << full({3, 2}, 7.f);
    if (std::string(name) == "w.archive") {
      archive.save_to(folder / name);
    } else {
      save(full({3, 2}, 7.f), folder / name);
    }
    load(fc->weight, folder / name);
    CHECK(fc->parameters()[0].is_same(fc->weight));
    CHECK(fc->parameters()[0].requires_grad());
    CHECK(fc->parameters()[0].detach().equal(full({3, 2}, 7.f)));
  }
}

TEST_CASE("an optimizer's options and state are saved in files and streams") {
  const TemporaryFolder folder;
  const auto make = [](const Tensor& p, double lr) {
    return std::make_unique<optim::Adam>(std::vector<Tensor>{p}, optim::AdamOptions(lr));
  };
  const auto step = [](optim::Optimizer& optimizer, const Tensor& p) {
    optimizer.zero_grad();
    p.pow(2).sum().backward();
    optimizer.step();
  };
  const Tensor p = ones({3}).requires_grad_();
  const auto adam = make(p, 0.1);
  step(*adam, p);
  for (const char* name : {"adam.pth", "adam.pt", "adam.bin", "stream"}) {
    INFO(std::string(name));
    const Tensor q = p.detach().clone().requires_grad_();
    const auto other = make(q, 0.5);
    const optim::ExponentialLR schedule(*other, 0.9);
    if (std::string(name) == "stream") {
      std::stringstream stream;
      save(*adam, stream);
      load(*other, stream);
    } else {
      save(*adam, folder / name);
      load(*other, folder / name);
    }
    CHECK(same(other->state_dict(), adam->state_dict()));
    CHECK(other->param_groups()[0].options().get_lr() == 0.1);
    CHECK(other->param_groups()[0].schedule().empty());
  }
  CHECK(load_checkpoint(folder / "adam.pth")["param_groups"].items()[0]["lr"].to_double() == 0.1);
  CHECK_THROWS_AS(save(*adam, folder / "adam.safetensors"), SerializationError);

  optim::Adam two(std::vector<Tensor>{ones({3}).requires_grad_(), ones({1}).requires_grad_()});
  CHECK_THROWS_AS(load(two, folder / "adam.bin"), SerializationError);
  optim::SGD sgd(std::vector<Tensor>{ones({3}).requires_grad_()}, optim::SGDOptions(0.1));
  CHECK_THROWS_AS(load(sgd, folder / "adam.bin"), Error);
  const Tensor small = ones({2}).requires_grad_();
  const auto other = make(small, 0.1);
  CHECK_THROWS_AS(load(*other, folder / "adam.bin"), Error);
  CHECK(other->state_dict().empty());
}

TEST_CASE("files, samplers and generators use the host, whatever the default device is") {
  const TemporaryFolder folder;
  for_each_device([&](Device d) {
    data::samplers::RandomSampler random(5, 1), other(5, 2);
    random.next(2);
    const Tensor t = arange(3., TensorOptions().device(kCPU));
    const DefaultDeviceGuard guard(d);
    for (const char* name : {"f.pth", "f.safetensors"}) {
      Tensor read;
      save(t, folder / name);
      load(read, folder / name);
      CHECK(read.is_cpu());
      CHECK(read.equal(t));
    }
    std::stringstream stream;
    save(random, stream);
    load(other, stream);
    CHECK(*other.next(5) == *random.next(5));
    const Generator g(kCPU, 3);
    g.set_state(g.get_state());
    const std::string record(data::datasets::CIFAR10::kRecordBytes, '\1');
    data::datasets::CIFAR10 images(
        std::span(reinterpret_cast<const uint8_t*>(record.data()), record.size()));
    CHECK(images.map(data::transforms::Normalize<>({0.5}, {0.5}))
              .get_batch(size_t{0})[0]
              .data.is_cpu());
  });
}
