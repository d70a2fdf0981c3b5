// nn::Module: registration, traversal, train, zero_grad, moves. Other files test its state dict,
// names and print.
#include <ambit/nn/batchnorm.h>
#include <ambit/nn/conv.h>
#include <ambit/nn/functional.h>
#include <ambit/nn/linear.h>
#include <ambit/nn/module_list.h>
#include <ambit/nn/sequential.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/random.h>
#include <ambit/ops/shape.h>
#include <doctest/doctest.h>

#include "tests/devices.h"

using namespace ambit;
namespace F = ambit::nn::functional;

namespace {

// A module as in a libtorch program, except for the namespace and the macro's name.
struct NetImpl : nn::Module {
  NetImpl() {
    conv1 = register_module("conv1", nn::Conv2d(nn::Conv2dOptions(3, 4, 3).stride(2)));
    norm = register_module("norm", nn::BatchNorm2d(4));
    fc = register_module("fc", nn::Linear(4, 2));
  }
  Tensor forward(Tensor x) {
    x = F::max_pool2d(F::relu(norm(conv1->forward(x))), 2);
    return F::log_softmax(fc(x.flatten(1)), 1);
  }
  nn::Conv2d conv1{nullptr};
  nn::BatchNorm2d norm{nullptr};
  nn::Linear fc{nullptr};
};
AMBIT_MODULE(Net);

struct Bare : nn::Module {};

std::vector<std::string> names(const OrderedDict<std::string, Tensor>& dict) { return dict.keys(); }
using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("a module lists parameters and buffers in the order they were registered") {
  Net net;
  CHECK(names(net->named_parameters()) ==
        Names{"conv1.weight", "conv1.bias", "norm.weight", "norm.bias", "fc.weight", "fc.bias"});
  CHECK(names(net->named_parameters(false)).empty());
  CHECK(names(net->named_buffers()) ==
        Names{"norm.running_mean", "norm.running_var", "norm.num_batches_tracked"});
  CHECK(net->parameters().size() == 6);
  CHECK(net->buffers().size() == 3);
  CHECK(net->parameters()[4].is_same(net->fc->weight));
  for (const auto& p : net->named_parameters()) CHECK(p.value().requires_grad());
  for (const auto& [name, parameter] : net->named_parameters()) CHECK(parameter.name() == name);
  CHECK(net->named_children().keys() == Names{"conv1", "norm", "fc"});
  CHECK(net->children().size() == 3);
  CHECK(net->named_modules().keys() == Names{"", "conv1", "norm", "fc"});
  CHECK(net->named_modules("net").keys() == Names{"net", "net.conv1", "net.norm", "net.fc"});
  CHECK(net->modules(false).size() == 3);
}

TEST_CASE("a parameter or module that is registered twice is listed once, but saved twice") {
  Bare root;
  nn::Linear shared(2, 2);
  root.register_module("a", shared);
  root.register_module("b", shared);
  root.register_parameter("tied", shared->weight);
  CHECK(names(root.named_parameters()) == Names{"tied", "a.bias"});
  CHECK(root.modules(false).size() == 1);
  CHECK(root.state_dict().size() == 5);
}

TEST_CASE("registering refuses names that are empty, dotted or taken") {
  Bare root;
  root.register_parameter("weight", ones({2}));
  root.register_buffer("mean", ones({2}));
  root.register_module("fc", nn::Linear(1, 1));
  for (const char* name : {"", "a.b", ".", "weight", "mean", "fc"}) {
    INFO(std::string(name));
    CHECK_THROWS_AS(root.register_parameter(name, ones({1})), Error);
    CHECK_THROWS_AS(root.register_buffer(name, ones({1})), Error);
    CHECK_THROWS_AS(root.register_module(name, nn::Linear(1, 1)), Error);
  }
  CHECK_THROWS_WITH(root.register_buffer("fc", ones({1})),
                    "register_buffer: expected a new name, got \"fc\", which Bare has already");
  CHECK(root.parameters().size() == 3);
  CHECK(root.buffers().size() == 1);
}

TEST_CASE("registering refuses null modules and invalid parameters") {
  Bare root;
  const Tensor leaf = ones({2}).requires_grad_();
  CHECK_THROWS_AS(root.register_parameter("a", leaf * 2), Error);
  CHECK_THROWS_AS(root.register_parameter("a", ones({2}, kInt64)), DTypeError);
  CHECK_THROWS_AS(root.register_module("a", std::shared_ptr<Bare>()), Error);
  CHECK_THROWS_AS(root.register_module("a", nn::Linear(nullptr)), Error);
  const auto outer = std::make_shared<Bare>(), inner = std::make_shared<Bare>();
  outer->register_module("inner", inner);
  CHECK_THROWS_AS(inner->register_module("outer", outer), Error);
  CHECK_THROWS_AS(inner->register_module("self", inner), Error);
  CHECK(root.state_dict().empty());
}

TEST_CASE("an undefined parameter keeps its name and is left out of every list") {
  nn::Linear fc(nn::LinearOptions(3, 2).bias(false));
  CHECK_FALSE(fc->bias.defined());
  CHECK(names(fc->named_parameters()) == Names{"weight"});
  CHECK(fc->state_dict().size() == 1);
  CHECK_THROWS_AS(fc->register_parameter("bias", ones({2})), Error);
}

TEST_CASE("unregister_module removes a module, which becomes a root") {
  nn::Sequential net(nn::Linear(1, 2), nn::Linear(2, 1));
  const std::shared_ptr<nn::Module> first = net->ptr(0);
  CHECK(first->parameters()[0].name() == "0.weight");
  struct Holder : nn::Module {};
  const auto holder = std::make_shared<Holder>();
  holder->register_module("a", first);
  holder->register_module("b", std::make_shared<Holder>());
  holder->unregister_module("a");
  CHECK(holder->named_children().keys() == std::vector<std::string>{"b"});
  CHECK(holder->parameters().empty());
  holder->unregister_module(holder->named_children().front().key());
  CHECK(holder->children().empty());
  CHECK_THROWS_WITH_AS(holder->unregister_module("a"),
                       doctest::Contains("unregister_module: expected the name of a module of "),
                       Error);
  // unregister_module() removes the name, and the next registration sets another.
  nn::Linear free(1, 1);
  holder->register_module("c", free);
  CHECK(free->weight.name() == "c.weight");
  holder->unregister_module("c");
  CHECK(free->weight.name() == "weight");
  holder->register_module("d", free);
  CHECK(free->weight.name() == "d.weight");
}

TEST_CASE("replace_module replaces the module of a name") {
  Net net;
  net->fc = net->replace_module("fc", nn::Linear(4, 10));
  CHECK(net->named_parameters()["fc.weight"].size(0) == 10);
  CHECK(net->fc->weight.name() == "fc.weight");
  CHECK_THROWS_AS(net->replace_module("fc2", nn::Linear(4, 10)), Error);
}

TEST_CASE("modules() needs a module owned by a shared_ptr") {
  Bare root;
  root.register_module("fc", nn::Linear(1, 1));
  CHECK_THROWS_AS(root.modules(), Error);
  CHECK(root.modules(false).size() == 1);
  CHECK(root.parameters().size() == 2);
}

TEST_CASE("train and eval reach every submodule") {
  nn::Sequential net(nn::Linear(1, 1), nn::Sequential(nn::BatchNorm2d(2)));
  const auto training = [&] {
    int count = 0;
    net->apply([&count](nn::Module& m) { count += m.is_training(); });
    return count;
  };
  CHECK(training() == 4);
  net->eval();
  CHECK(training() == 0);
  net[1]->train();
  CHECK(training() == 2);
}

TEST_CASE("apply visits a module before its descendants, with its path") {
  nn::Sequential net(nn::Linear(1, 1), nn::Sequential(nn::ReLU()));
  Names paths;
  net->apply([&paths](const std::string& path, nn::Module& m) { paths.push_back(path + m.name()); },
             "net");
  CHECK(paths == Names{"netSequential", "net.0Linear", "net.1Sequential", "net.1.0ReLU"});
}

TEST_CASE("as() returns a module as its class or holder, or null") {
  nn::Sequential net(nn::Linear(1, 1), nn::ReLU());
  CHECK(net[0]->as<nn::Linear>() == net->ptr(0).get());
  CHECK(net[0]->as<nn::LinearImpl>() == net->ptr(0).get());
  CHECK(net[1]->as<nn::Linear>() == nullptr);
}

TEST_CASE("zero_grad drops gradients or fills them with zeros") {
  nn::Linear fc(2, 1);
  fc(ones({1, 2})).sum().backward();
  fc->zero_grad(false);
  CHECK(fc->weight.grad().equal(zeros({1, 2})));
  fc->zero_grad();
  CHECK_FALSE(fc->weight.grad().defined());
}

TEST_CASE("a module moves with its gradients and keeps the identity of its tensors") {
  for_each_device([](Device device) {
    Net net;
    const Tensor x = ones({2, 3, 5, 5});
    net(x).sum().backward();
    const auto before = net->parameters();
    net->to(device);
    for (const Tensor& p : net->parameters()) {
      CHECK(p.device() == device);
      CHECK(p.grad().device() == device);
      CHECK(p.requires_grad());
      CHECK(p.is_leaf());
    }
    for (const Tensor& b : net->buffers()) CHECK(b.device() == device);
    CHECK(before[0].is_same(net->conv1->weight));
    CHECK(net(x.to(device)).device() == device);
    net->cpu();
    CHECK(net(x).device() == kCPU);
  });
}

TEST_CASE("a holder's to, cpu and cuda return the holder") {
  for_each_device([](Device device) {
    Net net;
    Net moved = net.to(device);
    CHECK(moved.get() == net.get());
    net = net.to(device, kFloat64).to(kFloat32);
    auto home = net.cpu();
    static_assert(std::is_same_v<decltype(home), Net>);
    CHECK(home->fc->weight.device() == kCPU);
    if (device.is_cuda()) CHECK(net.cuda(device.index())->fc->weight.device() == device);
  });
}

namespace {

// Has a tensor that is not registered, and moves it itself.
struct MovesMore : nn::Module {
  explicit MovesMore(std::shared_ptr<nn::Module> below = nullptr) {
    register_parameter("weight", ones({2}));
    if (below) register_module("below", std::move(below));
  }
  void to(Device device, bool non_blocking = false) override {
    nn::Module::to(device, non_blocking);
    ++moves;
    CHECK(parameters()[0].device() == device);
    plain = plain.to(device);
    other->to(device);
  }
  using nn::Module::to;

  Tensor plain = ones({2});
  nn::Linear other = nn::Linear(1, 1);
  int moves = 0;
};

}  // namespace

TEST_CASE("to() is called once for each descendant") {
  const auto below = std::make_shared<MovesMore>();
  const auto middle = std::make_shared<MovesMore>(below);
  nn::Sequential net{nn::AnyModule(std::make_shared<nn::SequentialImpl>())};
  net->register_module("middle", middle);
  net->to("reference");
  CHECK(below->moves == 1);
  CHECK(middle->moves == 1);
  for (const auto& module : {below, middle}) {
    CHECK(module->plain.device() == Device("reference"));
    CHECK(module->other->weight.device() == Device("reference"));
  }
  middle->to(kCPU);
  CHECK(below->moves == 2);
  CHECK(below->plain.is_cpu());
}

TEST_CASE("a dtype applies only to floating-point tensors") {
  Net net;
  net->to(kFloat64);
  CHECK(net->fc->weight.dtype() == kFloat64);
  CHECK(net->norm->num_batches_tracked.dtype() == kInt64);
  CHECK(net(ones({2, 3, 5, 5}, kFloat64)).dtype() == kFloat64);
  CHECK_THROWS_AS(net->to(kInt32), DTypeError);
  CHECK(net->fc->weight.dtype() == kFloat64);
}

TEST_CASE("a move to a device that does not exist changes nothing") {
  for_each_device([](Device device) {
    Net net;
    net->to(device);
    CHECK_THROWS_AS(net->to(Device(device.kind(), 99)), Error);
    for (const Tensor& p : net->parameters()) CHECK(p.device() == device);
  });
}

TEST_CASE("a graph recorded before its module moved gives an error") {
  for_each_device([](Device device) {
    if (device.is_cpu()) return;
    nn::Linear fc(2, 2);
    const Tensor out = fc(ones({1, 2}).requires_grad_());
    fc->to(device);
    CHECK_THROWS_AS(out.sum().backward(), AutogradError);
  });
}

TEST_CASE("an empty holder names its module") {
  Net net{nullptr};
  CHECK(net.is_empty());
  CHECK_FALSE(net);
  CHECK_THROWS_WITH(net->parameters(), "Net: expected a module, got an empty holder");
  CHECK_THROWS_AS(net(ones({1})), Error);
}

TEST_CASE("copies of a holder share the module") {
  Net net, same = net;
  CHECK(same.ptr() == net.ptr());
  const Net from_pointer = net.ptr();
  CHECK(from_pointer.get() == net.get());
}
