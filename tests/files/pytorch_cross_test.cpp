// Files exchanged with the real PyTorch by cross.py, in a Python with torch: $AMBIT_PYTHON first,
// which may have a newer PyTorch.
#include <ambit/archive.h>
#include <ambit/checkpoint.h>
#include <ambit/error.h>
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

#include <algorithm>
#include <complex>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "python.h"
#include "tests/temporary_folder.h"

using namespace ambit;

namespace {

bool skipped() { return python_with_torch().empty(); }

void run_pytorch(const std::string& what, const TemporaryFolder& folder) {
  REQUIRE(succeeds("OMP_NUM_THREADS=1 '" + python_with_torch() + "' '" AMBIT_CROSS_SCRIPT "' " +
                   what + " '" + folder.path().string() + "'"));
}

nn::Sequential make_net() {
  return nn::Sequential({{"fc", nn::Linear(3, 2)}, {"norm", nn::BatchNorm2d(2)}});
}

Tensor values(DType dtype) { return arange(-3, 4).to(dtype); }

constexpr DType kDTypes[] = {kBool,    kUInt8,   kInt8,         kInt16,
                             kInt32,   kInt64,   kFloat16,      kBFloat16,
                             kFloat32, kFloat64, kComplexFloat, kComplexDouble};

Tensor parameter() { return arange(1., 5., 1, kFloat64).view({2, 2}).requires_grad_(); }

// The same definitions as in cross.py, here and below.
std::unique_ptr<optim::Optimizer> make_further(const std::string& name,
                                               const std::vector<Tensor>& p) {
  using namespace optim;
  if (name == "maximize") {
    return std::make_unique<SGD>(p, SGDOptions(0.1).momentum(0.9).maximize(true));
  }
  if (name == "nadam") return std::make_unique<NAdam>(p, NAdamOptions(0.1).weight_decay(0.1));
  if (name == "radam") return std::make_unique<RAdam>(p, RAdamOptions(0.1).betas({0.8, 0.9}));
  if (name == "adadelta") return std::make_unique<Adadelta>(p, AdadeltaOptions(2).rho(0.8));
  if (name == "adamax") return std::make_unique<Adamax>(p, AdamaxOptions(0.1));
  if (name == "asgd") return std::make_unique<ASGD>(p, ASGDOptions(0.1).lambd(0.1).t0(0));
  if (name == "rprop") return std::make_unique<Rprop>(p, RpropOptions(0.1).etas({0.4, 1.5}));
  if (name == "groups") {
    std::vector<OptimizerParamGroup> groups;
    groups.emplace_back(p, NAdamOptions(0.1).clone());
    groups.emplace_back(std::vector{parameter()}, NAdamOptions().eps(1e-3).clone());
    return std::make_unique<NAdam>(groups, NAdamOptions(0.2));
  }
  if (name == "decoupled") {
    return std::make_unique<Adam>(p,
                                  AdamOptions(0.1).weight_decay(0.1).decoupled_weight_decay(true));
  }
  if (name == "nadamw") {
    return std::make_unique<NAdam>(
        p, NAdamOptions(0.1).weight_decay(0.1).decoupled_weight_decay(true).maximize(true));
  }
  return std::make_unique<Muon>(p, MuonOptions(0.1).ns_steps(0));
}

std::unique_ptr<optim::Optimizer> make_optimizer(const std::string& name, const Tensor& p) {
  const std::vector<Tensor> params = {p};
  if (name == "sgd") {
    return std::make_unique<optim::SGD>(params,
                                        optim::SGDOptions(0.1).momentum(0.9).weight_decay(0.01));
  }
  if (name == "adam") {
    return std::make_unique<optim::Adam>(params, optim::AdamOptions(0.1).betas({0.8, 0.99}));
  }
  if (name == "amsgrad") {
    return std::make_unique<optim::Adam>(params, optim::AdamOptions(0.1).amsgrad(true));
  }
  if (name == "adagrad") {
    return std::make_unique<optim::Adagrad>(
        params, optim::AdagradOptions(0.1).initial_accumulator_value(0.5));
  }
  if (name == "rmsprop") {
    return std::make_unique<optim::RMSprop>(
        params, optim::RMSpropOptions(0.1).momentum(0.5).centered(true));
  }
  if (name == "lbfgs") {
    return std::make_unique<optim::LBFGS>(
        params, optim::LBFGSOptions(0.5).max_iter(3).line_search_fn("strong_wolfe"));
  }
  if (name == "adamw") {
    return std::make_unique<optim::AdamW>(params, optim::AdamWOptions(0.1));
  }
  return make_further(name, params);
}

constexpr const char* kOptimizers[] = {"sgd",       "adam",   "adamw",    "amsgrad", "adagrad",
                                       "rmsprop",   "lbfgs",  "maximize", "nadam",   "radam",
                                       "adadelta",  "adamax", "asgd",     "rprop",   "groups",
                                       "decoupled", "nadamw", "muon"};

// True if cross.py wrote files of this optimizer: with PyTorch before 2.9 it omits some.
bool is_written(const TemporaryFolder& folder, const std::string& name) {
  return std::filesystem::exists(folder / (name + ".pth"));
}

std::unique_ptr<optim::LRScheduler> make_scheduler(const std::string& name, optim::Optimizer& o) {
  using namespace optim;
  if (name == "step") return std::make_unique<StepLR>(o, 2, 0.5);
  if (name == "multistep") {
    return std::make_unique<MultiStepLR>(o, std::vector<int64_t>{2, 6, 6, 9}, 0.5);
  }
  if (name == "exponential") return std::make_unique<ExponentialLR>(o, 0.9);
  if (name == "cosine") return std::make_unique<CosineAnnealingLR>(o, 6, 0.01);
  if (name == "restarts") return std::make_unique<CosineAnnealingWarmRestarts>(o, 3, 2);
  if (name == "linear") return std::make_unique<LinearLR>(o, 0.25, 0.8, 8);
  if (name == "constant") return std::make_unique<ConstantLR>(o, 0.5, 7);
  if (name == "lambda") {
    return std::make_unique<LambdaLR>(o,
                                      [](int64_t e) { return 1.0 / static_cast<double>(1 + e); });
  }
  if (name == "cycle") return std::make_unique<OneCycleLR>(o, OneCycleLROptions(0.5, 20));
  return std::make_unique<SequentialLR>(
      o,
      std::vector<std::shared_ptr<LRScheduler>>{std::make_shared<LinearLR>(o, 0.1, 1.0, 3),
                                                std::make_shared<ExponentialLR>(o, 0.5)},
      std::vector<int64_t>{3});
}

// Return the learning rates of the next steps.
template <class Step>
Tensor advance(const optim::Optimizer& o, int count, Step step_once) {
  std::vector<double> rates;
  for (int i = 0; i < count; ++i) {
    step_once();
    rates.push_back(o.param_groups()[0].options().get_lr());
  }
  return tensor(rates, kFloat64);
}

void step(optim::Optimizer& optimizer, const Tensor& p) {
  optimizer.step([&] {
    optimizer.zero_grad();
    const bool is_lbfgs = dynamic_cast<optim::LBFGS*>(&optimizer) != nullptr;
    Tensor loss = (is_lbfgs ? (p * p - 2).pow(2) : p.pow(3)).sum();
    loss.backward();
    return loss;
  });
}

}  // namespace

TEST_CASE("ambit reads PyTorch's files") {
  if (skipped()) return;
  const TemporaryFolder folder;
  run_pytorch("write", folder);

  for (const char* name : {"dtypes2.pth", "dtypes3.pth", "dtypes4.pth"}) {
    const StateDict tensors = load(folder / name);
    REQUIRE(tensors.size() == std::size(kDTypes));
    for (size_t i = 0; i < tensors.size(); ++i) {
      CHECK(tensors[i].first == ambit::name(kDTypes[i]));
      CHECK(tensors[i].second.dtype() == kDTypes[i]);
      CHECK(tensors[i].second.equal(values(kDTypes[i])));
    }
  }
  const StateDict half = load(folder / "half.pth"), upcast = load(folder / "upcast.pth");
  for (size_t i = 0; i < 2; ++i) {
    CHECK(half[i].second.dtype() == (i == 0 ? kFloat16 : kBFloat16));
    CHECK(half[i].second.to(kFloat32).equal(upcast[i].second));
  }

  const Value views = load_checkpoint(folder / "views.pth");
  CHECK(views["t"].to_tensor().strides() == IntArrayRef{1, 4});
  CHECK(views["t"].to_tensor().equal(arange(12.).view({3, 4}).t()));
  CHECK(views["expanded"].to_tensor().equal(ones({3})));
  CHECK(views["empty"].to_tensor().sizes() == IntArrayRef{0, 2});
  CHECK(views["number"].to_tensor().item<int64_t>() == 7);
  views["all"].to_tensor().fill_(7.);
  for (const char* name : {"t", "row", "part", "parameter"}) {
    CHECK(views[name].to_tensor().equal(full_like(views[name].to_tensor(), 7.)));
  }

  auto net = make_net();
  load(net, folder / "net.pth");
  const Value nested = load_checkpoint(folder / "nested.pth");
  net->load_state_dict(nested["model"].to_state_dict());
  CHECK(nested["epoch"].to_int() == 3);
  CHECK(nested["loss"].to_double() == 0.5);
  CHECK(nested["best"].is_none());
  CHECK(nested["done"].to_bool());
  CHECK(nested["name"].to_string() == "层");
  CHECK(nested["sizes"].items()[1].to_int() == 3);
  CHECK(nested["betas"].items()[0].to_double() == 0.9);
  CHECK(nested["history"].items()[1].to_int() == -70000);
  CHECK(nested["history"].items()[2].to_int() == int64_t{1} << 40);
}

TEST_CASE("ambit reads the tensors of TorchScript modules") {
  if (skipped()) return;
  const TemporaryFolder folder;
  run_pytorch("write", folder);
  const auto check_same = [](const StateDict& got, const StateDict& expected) {
    for (const auto& [name, tensor] : expected) {
      INFO(name);
      const auto found = std::find_if(got.begin(), got.end(),
                                      [&](const auto& entry) { return entry.first == name; });
      REQUIRE(found != got.end());
      CHECK(found->second.equal(tensor));
    }
  };
  auto net = make_net();
  load(net, folder / "scripted.pt");
  check_same(net->state_dict(), load(folder / "scripted.pth"));
  check_same(load(folder / "scripted.pt"), load(folder / "scripted.pth"));
  nn::Linear fc(2, 3);
  load(fc, folder / "traced.pt");
  check_same(fc->state_dict(), load(folder / "traced.pth"));
}

TEST_CASE("ambit refuses PyTorch's modules, and reads values before and after them") {
  if (skipped()) return;
  const TemporaryFolder folder;
  run_pytorch("write", folder);
  std::string error;
  try {
    load_checkpoint(folder / "module.pth");
  } catch (const SerializationError& e) {
    error = e.what();
  }
  CHECK(error.find("'torch.nn.modules.container.Sequential'") != std::string::npos);
  const Value complex = load_checkpoint(folder / "complex.pth");
  const Tensor z = tensor({std::complex<float>(1, 2), std::complex<float>(0, -1)});
  CHECK(complex["z"].to_tensor().equal(z));
  const Value resolved = load_checkpoint(folder / "resolved.pth");
  CHECK(complex["conj"].to_tensor().equal(resolved["conj"].to_tensor()));
  CHECK(load_checkpoint(folder / "imag.pth").to_tensor().equal(resolved["imag"].to_tensor()));
  const StateDict old = load(folder / "legacy.pth");
  REQUIRE(old.size() == std::size(kDTypes));
  for (size_t i = 0; i < old.size(); ++i) CHECK(old[i].second.equal(values(kDTypes[i])));
}

TEST_CASE("PyTorch reads ambit's files") {
  if (skipped()) return;
  const TemporaryFolder folder;
  StateDict tensors;
  for (const DType dtype : kDTypes) tensors.emplace_back(ambit::name(dtype), values(dtype));
  save(tensors, folder / "dtypes.pth");
  const Tensor matrix = arange(12.).view({3, 4});
  save({{"all", matrix},
        {"t", matrix.t()},
        {"row", matrix.select(0, 1)},
        {"empty", empty({0, 2})},
        {"number", tensor(7)}},
       folder / "views.pth");
  auto net = make_net();
  save(net, folder / "net.pth");
  serialize::OutputArchive archive;
  archive << net;
  archive.write("epoch", Value(3));
  archive.save_to(folder / "archive.pt");
  const int64_t least = INT64_MIN;
  save_checkpoint(
      Value::dict({{"model", net->state_dict()},
                   {"epoch", 3},
                   {"loss", 0.5},
                   {"name", "层"},
                   {"best", Value()},
                   {"done", true},
                   {"ints", Value::list({0, 255, 256, -1, 1LL << 31, -(1LL << 31), least, ~least})},
                   {"betas", Value::tuple({0.9, 0.999})},
                   {7, Value::dict({})}}),
      folder / "nested.pth");
  run_pytorch("read", folder);
}

TEST_CASE("training continues from PyTorch's checkpoint in ambit, and from ambit's in PyTorch") {
  if (skipped()) return;
  const TemporaryFolder theirs, ours;
  run_pytorch("write", theirs);
  for (const std::string name : kOptimizers) {
    if (!is_written(theirs, name)) continue;
    INFO(name);
    const Value checkpoint = load_checkpoint(theirs / (name + ".pth"));
    const Tensor p = checkpoint["model"]["p"].to_tensor().requires_grad_();
    const auto optimizer = make_optimizer(name, p);
    optimizer->param_groups()[0].options().set_lr(1e3);  // the checkpoint replaces it
    optimizer->load_checkpoint(checkpoint["optimizer"]);
    step(*optimizer, p);
    // One step in float64 has some ten roundings of 1.1e-16, of numbers below 5.
    CHECK(p.detach().allclose(load(theirs / (name + "_next.pth"))[0].second, 1e-14, 1e-14));

    const Tensor q = parameter();
    const auto first = make_optimizer(name, q);
    step(*first, q);
    save_checkpoint(
        Value::dict({{"model", StateDict{{"p", q.detach()}}}, {"optimizer", first->checkpoint()}}),
        ours / (name + ".pth"));
  }
  run_pytorch("continue", ours);
  for (const std::string name : kOptimizers) {
    if (!is_written(theirs, name)) continue;
    INFO(name);
    CHECK(load(ours / (name + "_next.pth"))[0].second.allclose(
        load(theirs / (name + "_next.pth"))[0].second, 1e-14, 1e-14));
  }
}

TEST_CASE("load() restores an optimizer of PyTorch's, options and state") {
  if (skipped()) return;
  const TemporaryFolder theirs;
  run_pytorch("write", theirs);
  for (const std::string name : kOptimizers) {
    if (!is_written(theirs, name)) continue;
    INFO(name);
    const Value model = load_checkpoint(theirs / (name + ".pth"))["model"];
    const Tensor p = model["p"].to_tensor().requires_grad_();
    const auto optimizer = make_optimizer(name, p);
    optimizer->param_groups()[0].options().set_lr(1e3);  // the checkpoint replaces it
    load(*optimizer, theirs / (name + "_alone.pth"));
    step(*optimizer, p);
    // The bound is that of the case above.
    CHECK(p.detach().allclose(load(theirs / (name + "_next.pth"))[0].second, 1e-14, 1e-14));
  }
  optim::SGD sgd({parameter()}, optim::SGDOptions(0.5));
  for (const std::string option : {"lr", "differentiable"}) {
    INFO(option);
    CHECK_THROWS_WITH_AS(load(sgd, theirs / ("lacking_" + option + ".pth")),
                         doctest::Contains(option.c_str()), SerializationError);
    CHECK(sgd.param_groups()[0].options().get_lr() == 0.5);
    CHECK(sgd.state_dict().empty());
  }
}

TEST_CASE("schedulers continue from PyTorch's checkpoint in ambit, and from ambit's in PyTorch") {
  if (skipped()) return;
  const TemporaryFolder theirs, ours;
  run_pytorch("write", theirs);
  const auto check = [&](const std::string& name, auto make, auto step_once) {
    INFO(name);
    const Value checkpoint = load_checkpoint(theirs / (name + ".pth"));
    optim::SGD sgd({parameter()}, optim::SGDOptions(0.1).momentum(0.9));
    const auto scheduler = make(sgd);
    sgd.load_checkpoint(checkpoint["optimizer"]);
    scheduler->load_checkpoint(checkpoint["scheduler"]);
    save_checkpoint(
        Value::dict({{"optimizer", sgd.checkpoint()}, {"scheduler", scheduler->checkpoint()}}),
        ours / (name + ".pth"));
    const Tensor rates = advance(sgd, 6, [&] { step_once(*scheduler); });
    // There are a dozen roundings of 1.1e-16, of numbers below 1.
    CHECK(rates.allclose(checkpoint["next"].to_tensor(), 1e-14, 1e-15));
  };
  const std::vector<std::string> names{"step",   "multistep", "exponential", "cosine", "restarts",
                                       "linear", "constant",  "lambda",      "cycle",  "sequence"};
  for (const std::string& name : names) {
    check(
        name, [&](optim::Optimizer& o) { return make_scheduler(name, o); },
        [](optim::LRScheduler& s) { s.step(); });
  }
  check(
      "plateau",
      [](optim::Optimizer& o) {
        return std::make_unique<optim::ReduceLROnPlateau>(
            o, optim::ReduceLROnPlateauOptions().factor(0.5).patience(1));
      },
      [](optim::ReduceLROnPlateau& s) { s.step(1); });
  run_pytorch("schedule", ours);
  for (const std::string& name : names) {
    INFO(name);
    CHECK(load(ours / (name + "_next.pth"))[0].second.allclose(
        load_checkpoint(theirs / (name + ".pth"))["next"].to_tensor(), 1e-14, 1e-15));
  }
}
