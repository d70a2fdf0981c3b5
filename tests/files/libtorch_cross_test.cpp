// Exchanges archives with the real libtorch: with libtorch/files.cpp, a C++ program that is built
// if libtorch is installed.
#include <ambit/archive.h>
#include <ambit/autograd.h>
#include <ambit/checkpoint.h>
#include <ambit/data/distributed_samplers.h>
#include <ambit/data/samplers.h>
#include <ambit/error.h>
#include <ambit/nn/activation.h>
#include <ambit/nn/batchnorm.h>
#include <ambit/nn/linear.h>
#include <ambit/nn/sequential.h>
#include <ambit/nn/serialize.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/shape.h>
#include <ambit/optim/optim.h>

#include <doctest/doctest.h>

#include <bit>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include "tests/temporary_folder.h"

using namespace ambit;
namespace samplers = ambit::data::samplers;

namespace {

std::string program() {
  return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "ambit_libtorch_files")
      .string();
}

bool skipped() {
  const bool there = std::filesystem::exists(program());
  if (!there) MESSAGE("skipped: no libtorch");
  return !there;
}

void run_libtorch(const std::string& what, const TemporaryFolder& folder) {
  const std::string command = "'" + program() + "' " + what + " '" + folder.path().string() + "'";
  REQUIRE(std::system(command.c_str()) == 0);
}

// The same definitions as in libtorch/files.cpp.
struct NetImpl : nn::Module {
  nn::Linear fc = register_module("fc", nn::Linear(3, 2));
  nn::BatchNorm2d norm = register_module("norm", nn::BatchNorm2d(2));
  nn::Sequential tail =
      register_module("tail", nn::Sequential(nn::Linear(nn::LinearOptions(2, 2).bias(false)),
                                             nn::ReLU(), nn::Linear(2, 1)));
};
AMBIT_MODULE(Net);

void fill(nn::Module& net) {
  const NoGradGuard no_grad;
  double k = 0;
  for (const Tensor& t : net.parameters()) {
    t.copy_(arange(t.numel(), kFloat32).view(t.sizes()) / 2 + k++);
  }
  for (const Tensor& t : net.buffers()) {
    t.copy_(arange(t.numel(), kFloat32).view(t.sizes()) / 2 + k++);
  }
}

void check_filled(nn::Module& net) {
  Net right;
  fill(*right);
  const StateDict expected = right->state_dict(), got = net.state_dict();
  REQUIRE(got.size() == expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    INFO(got[i].first);
    CHECK(got[i].second.equal(expected[i].second));
  }
}

std::vector<Tensor> list() {
  std::vector<Tensor> all;
  for (const DType type : dtypes::kEvery) {
    all.push_back(arange(-3, 4).to(type));
  }
  const Tensor base = arange(12, kFloat32).view({3, 4});
  all.push_back(base.t());
  all.push_back(base.slice(1, 1, 3));
  all.push_back(empty({0, 3}));
  all.push_back(tensor(int64_t{5}));
  all.push_back(ones({2}).requires_grad_());
  return all;
}

constexpr const char* kOptimizers[] = {"sgd",     "momentum", "adam",  "adamw",      "amsgrad",
                                       "adagrad", "rmsprop",  "lbfgs", "lbfgs_early"};

struct Training {
  explicit Training(const std::string& name, double lr = 0.1)
      : p(arange(1., 5., 1, kFloat64).requires_grad_()),
        q(arange(2., 4., 1, kFloat64).requires_grad_()) {
    using namespace optim;
    const std::vector<OptimizerParamGroup> groups{OptimizerParamGroup({p}),
                                                  OptimizerParamGroup({q})};
    if (name == "sgd") opt = std::make_unique<SGD>(groups, SGDOptions(lr));
    if (name == "momentum") opt = std::make_unique<SGD>(groups, SGDOptions(lr).momentum(0.9));
    if (name == "adam") opt = std::make_unique<Adam>(groups, AdamOptions(lr).betas({0.8, 0.99}));
    if (name == "adamw") opt = std::make_unique<AdamW>(groups, AdamWOptions(lr));
    if (name == "amsgrad") opt = std::make_unique<Adam>(groups, AdamOptions(lr).amsgrad(true));
    if (name == "adagrad") {
      opt = std::make_unique<Adagrad>(groups, AdagradOptions(lr).lr_decay(0.01));
    }
    if (name == "rmsprop") {
      opt = std::make_unique<RMSprop>(groups, RMSpropOptions(lr / 10).momentum(0.9).centered(true));
    }
    if (name == "lbfgs") {  // it has only one group
      opt = std::make_unique<LBFGS>(std::vector<Tensor>{p, q},
                                    LBFGSOptions(lr).max_iter(3).history_size(2));
    }
    if (name == "lbfgs_early") {  // its lists are empty after one iteration
      opt = std::make_unique<LBFGS>(std::vector<Tensor>{p, q}, LBFGSOptions(lr).max_iter(1));
    }
  }
  void step() {
    opt->step([this] {
      opt->zero_grad();
      const Tensor loss = p.pow(3).sum() + q.pow(2).sum();
      loss.backward();
      return loss;
    });
  }
  std::vector<Tensor> values() const { return {p.detach().clone(), q.detach().clone()}; }
  Tensor p, q;
  std::unique_ptr<optim::Optimizer> opt;
};

}  // namespace

TEST_CASE("ambit reads the archives of libtorch's C++") {
  if (skipped()) return;
  const TemporaryFolder folder;
  run_libtorch("write", folder);

  CHECK(serialize::is_archive(folder / "tensor.pt"));
  Tensor tensor;
  load(tensor, folder / "tensor.pt");
  CHECK(tensor.equal(arange(6, kFloat32).view({2, 3})));

  std::vector<Tensor> all;
  load(all, folder / "list.pt");
  const std::vector<Tensor> expected = list();
  REQUIRE(all.size() == expected.size());
  for (size_t i = 0; i < all.size(); ++i) {
    INFO(i);
    CHECK(all[i].dtype() == expected[i].dtype());
    CHECK(all[i].equal(expected[i]));
    CHECK(all[i].requires_grad() == expected[i].requires_grad());
  }
  constexpr size_t kDTypes = std::popcount(dtypes::kEvery.bits);
  CHECK(all[kDTypes].strides() == expected[kDTypes].strides());
  CHECK(all[kDTypes].storage() == all[kDTypes + 1].storage());

  Net net, streamed;
  load(net, folder / "net.pt");
  check_filled(*net);
  std::ifstream stream(folder / "stream.pt", std::ios::binary);
  load(streamed, stream);
  check_filled(*streamed);
  const StateDict flat = load(folder / "net.pt");
  CHECK(flat.size() == net->state_dict().size());
  CHECK(flat[0].first == "fc.weight");

  serialize::InputArchive archive, nested;
  archive.load_from(folder / "archive.pt");
  archive.read("nested", nested);
  Tensor x;
  nested.read("x", x);
  CHECK(x.equal(ones({2})));
  CHECK(nested.keys() == std::vector<std::string>{"x", "buffer"});
  const Value& root = archive.value();
  CHECK(root["int"].to_int() == 3);
  CHECK(root["float"].to_double() == 2.5);
  CHECK(root["text"].to_string() == "text");
  CHECK(root["bool"].to_bool());
  CHECK(root["none"].is_none());
  CHECK(root["ints"].items()[1].to_int() == 2);
  CHECK(root["floats"].items()[0].to_double() == 0.5);
  CHECK(root["texts"].items()[1].to_string() == "b");
  CHECK(root["tensors"].items()[0].to_tensor().equal(ones({1})));
  CHECK(root["tuple"].items()[1].to_int() == 2);
}

TEST_CASE("values pickled into memory by ambit or libtorch are read by the other") {
  if (skipped()) return;
  const TemporaryFolder folder;
  run_libtorch("write", folder);
  std::ifstream file(folder / "pickle.bin", std::ios::binary);
  const Value value = pickle_load({std::istreambuf_iterator<char>(file), {}});
  REQUIRE(value.items().size() == 5);
  CHECK(value.items()[0].to_tensor().equal(arange(6, kFloat32).view({2, 3})));
  CHECK(value.items()[1].to_int() == 3);
  CHECK(value.items()[2].to_double() == 2.5);
  CHECK(value.items()[3].to_string() == "text");
  CHECK(value.items()[4].to_bool());
}

TEST_CASE("optimizers continue where libtorch's ended") {
  if (skipped()) return;
  const TemporaryFolder folder;
  run_libtorch("write", folder);
  for (const std::string name : kOptimizers) {
    INFO(name);
    Training reference(name), training(name, 5);  // the file's options replace them
    reference.step();
    if (name != "lbfgs_early") reference.step();
    load(*training.opt, folder / (name + ".pt"));
    training.p.set_data(reference.p.detach().clone());
    training.q.set_data(reference.q.detach().clone());
    training.step();
    std::vector<Tensor> next;
    load(next, folder / (name + "_next.pt"));
    // A few hundred float64 operations at most, by lbfgs: a relative 1e-12 permits thousands of
    // roundings.
    CHECK(((training.p - next.at(0)).abs() <= next.at(0).abs() * 1e-12).all().item<bool>());
    CHECK(((training.q - next.at(1)).abs() <= next.at(1).abs() * 1e-12).all().item<bool>());
  }
}

TEST_CASE("samplers continue where libtorch's ended") {
  if (skipped()) return;
  const TemporaryFolder folder;
  run_libtorch("write", folder);
  samplers::SequentialSampler sequential(10);
  samplers::RandomSampler random(10);
  samplers::DistributedSequentialSampler distributed(10, 2, 1);
  load(sequential, folder / "sequential.pt");
  load(random, folder / "random.pt");
  load(distributed, folder / "distributed.pt");
  CHECK(*sequential.next(2) == std::vector<size_t>{3, 4});
  CHECK(random.index() == 3);
  CHECK(random.next(10)->size() == 7);
  CHECK(*distributed.next(9) == std::vector<size_t>{8, 9});
}

TEST_CASE("libtorch's C++ reads the archives of ambit") {
  if (skipped()) return;
  const TemporaryFolder folder;
  const auto save_archive = [&](const auto& value, const std::string& name) {
    serialize::OutputArchive archive;
    archive << value;
    archive.save_to(folder / (name + ".archive"));
  };
  save_archive(arange(6, kFloat32).view({2, 3}), "tensor");
  {
    std::ofstream stream(folder / "list.archive", std::ios::binary);
    save(list(), stream);
  }
  Net net;
  fill(*net);
  save_archive(net, "net");
  for (const std::string name : kOptimizers) {
    Training training(name);
    training.step();
    if (name != "lbfgs_early") training.step();
    save_archive(*training.opt, name);
    save_archive(training.values(), name + "_now");
    training.step();
    save_archive(training.values(), name + "_next");
  }
  serialize::OutputArchive archive, nested;
  nested.write("x", ones({2}));
  nested.write("buffer", zeros({1}), true);
  archive.write("nested", nested);
  archive.write("int", Value(3));
  archive.write("float", Value(2.5));
  archive.write("text", Value("text"));
  archive.write("bool", Value(true));
  archive.write("none", Value());
  archive.write("ints", Value::list({1, 2}));
  archive.write("floats", Value::list({0.5}));
  archive.write("texts", Value::list({"a", "b"}));
  archive.write("tensors", Value::list({ones({1})}));
  archive.write("tuple", Value::tuple({1.5, 2}));
  archive.write("odd key / if", ones({3}));
  archive.save_to(folder / "archive.archive");
  samplers::SequentialSampler sequential(10);
  samplers::DistributedSequentialSampler distributed(10, 2, 1);
  sequential.next(4);
  distributed.next(4);
  save_archive(sequential, "sequential");
  save_archive(distributed, "distributed");
  samplers::RandomSampler random(10, 3);
  save_archive(random, "random");  // before its first position
  const std::vector<size_t> positions = *random.next(10);
  save_archive(
      std::vector<Tensor>{tensor(std::vector<int64_t>(positions.begin(), positions.end()))},
      "random_order");
  const std::vector<char> bytes =
      pickle_save(Value::tuple({arange(6, kFloat32).view({2, 3}), 3, 2.5, "text", true}));
  folder.write("pickle.bin", std::string(bytes.begin(), bytes.end()));
  run_libtorch("read", folder);
}
