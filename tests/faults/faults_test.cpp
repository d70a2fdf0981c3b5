// For every n, the nth request for memory fails during typical calls of a training program. The
// file is longer than others: it has short cases with the same loop.
#include "faults.h"

#include <ambit/ambit.h>
#include <ambit/memory.h>
#include <ambit/plugins.h>
#include <ambit/sim.h>
#include <doctest/doctest.h>

#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace ambit;

namespace {

bool same_bits(const Tensor& a, const Tensor& b) {
  const Tensor x = a.detach().cpu().contiguous(), y = b.detach().cpu().contiguous();
  return x.sizes() == y.sizes() && x.dtype() == y.dtype() &&
         std::memcmp(x.data_ptr(), y.data_ptr(), x.nbytes()) == 0;
}

bool same_bits(const StateDict& a, const StateDict& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].first != b[i].first || !same_bits(a[i].second, b[i].second)) return false;
  }
  return true;
}

StateDict copy_of(const StateDict& dict) {
  StateDict copy;
  for (const auto& [name, tensor] : dict) copy.emplace_back(name, tensor.detach().clone());
  return copy;
}

struct NetImpl : nn::Module {
  nn::Conv2d conv{register_module("conv", nn::Conv2d(1, 2, 3))};
  nn::Linear fc1{register_module("fc1", nn::Linear(2 * 3 * 3, 5))};
  nn::Linear fc2{register_module("fc2", nn::Linear(5, 3))};

  Tensor forward(Tensor x) {
    x = max_pool2d(nn::functional::relu(conv(x)), {.kernel = {2, 2}});
    return fc2(nn::functional::relu(fc1(x.reshape({-1, 2 * 3 * 3}))));
  }
};
AMBIT_MODULE(Net);

// A network with its optimizer of two groups, and a batch. Two of them have the same results.
struct Training {
  Training(Device device, bool adam) {
    manual_seed(3);
    net = Net();
    net->to(device);
    const std::vector<Tensor> all = net->parameters();
    const std::vector<optim::OptimizerParamGroup> groups = {
        std::vector<Tensor>(all.begin(), all.begin() + 2),
        std::vector<Tensor>(all.begin() + 2, all.end())};
    if (adam) {
      optimizer = std::make_unique<optim::Adam>(groups, optim::AdamOptions(0.01));
    } else {
      optimizer = std::make_unique<optim::SGD>(groups, optim::SGDOptions(0.1).momentum(0.9));
    }
    x = rand({2, 1, 8, 8}).to(device);
    labels = tensor({0, 2}).to(device);
  }
  void compute_gradients() {
    optimizer->zero_grad();
    cross_entropy(net(x), labels).backward();
  }
  void step() {
    compute_gradients();
    optimizer->step();
  }
  StateDict values() const {
    StateDict all = copy_of(net->state_dict());
    for (auto& entry : copy_of(optimizer->state_dict())) all.push_back(std::move(entry));
    return all;
  }

  Net net{nullptr};
  std::unique_ptr<optim::Optimizer> optimizer;
  Tensor x, labels;
};

StateDict after_steps(bool adam, int steps) {
  Training training(kCPU, adam);
  for (int i = 0; i < steps; ++i) training.step();
  return training.values();
}

// Objects that are created once, on first use, are not leaks; they have a separate test.
void warm_up(const std::function<void()>& work) {
  set_num_threads(1);  // with several threads, different ones would take part each time
  for (int i = 0; i < 3; ++i) faults::run(0, work);
}

}  // namespace

TEST_CASE("a step of an optimizer over two groups happens completely or not at all") {
  for (const bool adam : {true, false}) {
    INFO(std::string(adam ? "Adam" : "SGD"));
    for (const int before : {0, 1}) {  // the first step creates the state
      const StateDict start = after_steps(adam, before), end = after_steps(adam, before + 1);
      warm_up([&] { after_steps(adam, 2); });
      const long faults = faults::at_every_point([&](long n) {
        Training training(kCPU, adam);
        for (int i = 0; i < before; ++i) training.step();
        training.compute_gradients();
        const auto outcome = faults::run(n, [&] { training.optimizer->step(); });
        if (outcome.threw) {
          CHECK(same_bits(training.values(), start));
          training.optimizer->step();
        }
        CHECK(same_bits(training.values(), end));
        return outcome;
      });
      CHECK((before > 0 || faults > 10));  // later steps allocate nothing
    }
  }
}

TEST_CASE("a training step that lacked memory can be repeated with the same result") {
  for (const bool adam : {true, false}) {
    INFO(std::string(adam ? "Adam" : "SGD"));
    const StateDict one = after_steps(adam, 1), two = after_steps(adam, 2);
    warm_up([&] { after_steps(adam, 2); });
    const long faults = faults::at_every_point([&](long n) {
      Training training(kCPU, adam);
      training.step();
      empty_cache(kCPU);  // so that tensors request memory from the system, too
      const auto outcome = faults::run(n, [&] { training.step(); });
      if (outcome.threw) {
        CHECK(same_bits(training.values(), one));
        training.step();
      }
      CHECK(same_bits(training.values(), two));
      return outcome;
    });
    CHECK(faults > 50);
  }
}

TEST_CASE("backward gives every leaf its gradient, or none") {
  warm_up([] { after_steps(true, 2); });
  const auto gradients = [](const Training& training) {
    StateDict grads;
    for (const Tensor& p : training.net->parameters()) grads.emplace_back("", p.grad().clone());
    return grads;
  };
  for (const bool first : {true, false}) {  // the first creates .grad, the second adds to it
    const auto prepare = [&](Training& training) {
      if (!first) cross_entropy(training.net(training.x), training.labels).backward();
      return cross_entropy(training.net(training.x), training.labels);
    };
    Training same(kCPU, true);
    prepare(same).backward();
    const StateDict right = gradients(same);
    faults::at_every_point([&](long n) {
      Training training(kCPU, true);
      const Tensor loss = prepare(training);
      StateDict before;
      if (!first) before = gradients(training);
      empty_cache(kCPU);
      const auto outcome = faults::run(n, [&] { loss.backward(); });
      if (!outcome.threw) {
        CHECK(same_bits(gradients(training), right));
      } else if (first) {
        for (const Tensor& p : training.net->parameters()) CHECK_FALSE(p.grad().defined());
      } else {
        CHECK(same_bits(gradients(training), before));
      }
      return outcome;
    });
  }
}

TEST_CASE("a training step that lacks memory leaks none") {
  warm_up([] { after_steps(true, 2); });
  faults::at_every_point([](long n) {
    Training training(kCPU, true);
    training.step();
    const auto drop_gradients = [&] {  // call it in a thread with empty pools
      faults::run(0, [&] { training.optimizer->zero_grad(); });
    };
    drop_gradients();
    empty_cache(kCPU);
    const size_t in_use = memory_stats(kCPU).in_use;
    const long blocks = faults::blocks_in_use();
    const auto outcome = faults::run(n, [&] { training.step(); });
    drop_gradients();
    empty_cache(kCPU);
    CHECK(memory_stats(kCPU).in_use == in_use);
    CHECK(faults::blocks_in_use() - blocks - (outcome.error.size() > 15 ? 1 : 0) == 0);
    return outcome;
  });
}

TEST_CASE("modules that cannot be constructed because memory is missing leave nothing allocated") {
  const auto make = [] { const Net net; };
  warm_up(make);
  const long faults = faults::at_every_point([&](long n) {
    const long blocks = faults::blocks_in_use();
    const auto outcome = faults::run(n, make);
    CHECK(faults::blocks_in_use() - blocks - (outcome.error.size() > 15 ? 1 : 0) == 0);
    return outcome;
  });
  CHECK(faults > 30);
}

TEST_CASE("cloning and wrapping without memory are errors of ambit") {
  const nn::Sequential layers(nn::Linear(2, 3), nn::ReLU());
  const nn::LinearImpl linear(2, 3);
  const std::function<void()> works[] = {
      [&] { static_cast<void>(layers->clone()); },
      [&] { static_cast<void>(nn::AnyModule(linear)); },
  };
  for (const auto& work : works) {
    warm_up(work);
    const long faults = faults::at_every_point([&](long n) {
      const auto outcome = faults::run(n, work);
      CHECK_FALSE(outcome.error.starts_with("untyped"));
      return outcome;
    });
    CHECK(faults > 0);
  }
}

TEST_CASE("a folder is refused as a plugin, with any amount of memory") {
  const auto ask = [] {
    try {
      load_backend("/usr");
    } catch (const BackendError&) {
    } catch (const OutOfMemoryError&) {
    }
  };
  warm_up(ask);
  const long faults = faults::at_every_point([&](long n) { return faults::run(n, ask); });
  CHECK(faults > 3);
}

TEST_CASE("load_state_dict of modules and optimizers happens completely or not at all") {
  for (const bool adam : {true, false}) {
    Training source(kCPU, adam);
    for (int i = 0; i < 2; ++i) source.step();
    const StateDict net = copy_of(source.net->state_dict()),
                    state = copy_of(source.optimizer->state_dict());
    const StateDict start = after_steps(adam, 1), end = source.values();
    const auto load = [&](Training& training, long n) {
      return faults::run(n, [&] { training.net->load_state_dict(net); });
    };
    warm_up([&] { after_steps(adam, 1); });
    faults::at_every_point([&](long n) {
      Training training(kCPU, adam);
      training.step();
      const auto outcome = load(training, n);
      if (outcome.threw) CHECK(same_bits(training.values(), start));
      if (outcome.threw) load(training, 0);
      CHECK(same_bits(training.net->state_dict(), net));
      return outcome;
    });
    faults::at_every_point([&](long n) {
      Training training(kCPU, adam);
      training.step();
      training.net->load_state_dict(net);
      const StateDict before = training.values();
      const auto outcome = faults::run(n, [&] { training.optimizer->load_state_dict(state); });
      if (outcome.threw) {
        CHECK(same_bits(training.values(), before));
        training.optimizer->load_state_dict(state);
      }
      CHECK(same_bits(training.values(), end));
      return outcome;
    });
  }
}

namespace {

// Numbers 0 to 11; each sample is its position.
struct Counting : data::datasets::Dataset<Counting> {
  data::Example<> get(size_t index) override {
    return {full({2}, static_cast<double>(index)), full({}, static_cast<int64_t>(index))};
  }
  std::optional<size_t> size() const override { return 12; }
};

auto loader_of(size_t workers) {
  auto dataset = Counting().map(data::transforms::Stack<>());
  return data::make_data_loader<data::samplers::RandomSampler>(
      std::move(dataset), data::DataLoaderOptions(3).workers(workers));
}

// The labels of an epoch's batches, in a list that needs no allocation.
struct Labels {
  Labels() { all.reserve(100); }
  template <class Loader>
  void iterate(Loader& loader) {
    all.clear();
    for (auto& batch : loader) {
      const int64_t* labels = batch.target.template data_ptr<int64_t>();
      all.insert(all.end(), labels, labels + batch.target.numel());
    }
  }
  std::vector<int64_t> all;
};

template <class Loader>
std::vector<int64_t> epoch(Loader& loader) {
  Labels labels;
  labels.iterate(loader);
  return labels.all;
}

}  // namespace

TEST_CASE("an epoch of a DataLoader that lacked memory can be started again") {
  for (const size_t workers : {0, 2}) {
    INFO(workers, " workers");
    manual_seed(5);
    const std::vector<int64_t> right = epoch(*loader_of(workers));
    CHECK(right.size() == 12);
    warm_up([&] { epoch(*loader_of(workers)); });
    const long faults = faults::at_every_point([&](long n) {
      const auto loader = loader_of(workers);
      Labels labels;
      const auto outcome = faults::run(n, [&] { labels.iterate(*loader); });
      manual_seed(5);
      CHECK(epoch(*loader) == right);
      return outcome;
    });
    CHECK(faults > 20);
  }
}

TEST_CASE("a DataLoader that cannot start a thread throws, and starts it later") {
  const auto loader = loader_of(4);
  for (long n = 1; n <= 4; ++n) {
    faults::refuse_thread(n);
    CHECK_THROWS_WITH_AS(loader->begin(),
                         ("DataLoader: expected 4 worker threads, got " + std::to_string(n - 1) +
                          " and then: Resource temporarily unavailable")
                             .c_str(),
                         Error);
    CHECK(faults::stop());
  }
  CHECK(epoch(*loader).size() == 12);
}

TEST_CASE("a thread without memory can free tensors") {
  std::vector<Tensor> held;
  for (int i = 0; i < 100; ++i) held.push_back(ones({1}));
  const auto outcome = faults::run(1, [&] { held.clear(); });
  CHECK_FALSE(outcome.threw);
}

TEST_CASE("a generator that could not be created is created on the next use") {
  const Device device("sim:0");
  const Device others[] = {Device("reference"), device};
  for (const Device& d : others) {
    manual_seed(11);
    for (long n = 1;; ++n) {
      const auto outcome = faults::run(n, [&] { default_generator(d); });
      CHECK_FALSE(outcome.error.starts_with("untyped"));
      manual_seed(11);  // sets the seeds of all generators
      if (!outcome.refused) break;
      CHECK(outcome.threw);
    }
    CHECK(default_generator(d).seed() == 11);
  }
}

TEST_CASE("on a simulated device, any failing allocation leaves a step done or not done") {
  const Device device("sim:0");
  const sim::Controls& controls = sim::controls();
  for (const bool adam : {true, false}) {
    Training same(device, adam);
    same.step();
    const StateDict one = same.values();
    same.step();
    const StateDict two = same.values();
    for (int n = 1;; ++n) {
      INFO("allocation ", n);
      Training training(device, adam);
      training.step();
      empty_cache(device);
      controls.fail_allocation(device, n);
      bool threw = false;
      try {
        training.step();
      } catch (const OutOfMemoryError&) {
        threw = true;
      }
      controls.reset(device);
      if (threw) {
        CHECK(same_bits(training.values(), one));
        training.step();
      }
      CHECK(same_bits(training.values(), two));
      if (!threw) {
        CHECK(n > 10);
        break;
      }
    }
  }
}

TEST_CASE("pinned memory is freed if the tensor cannot be created") {
  const Device device("sim:0");
  const Tensor source = ones({100});
  const auto pin = [&] { source.pin_memory(device); };
  warm_up(pin);
  faults::at_every_point([&](long n) {
    const long blocks = faults::blocks_in_use();
    const auto outcome = faults::run(n, pin);
    CHECK(faults::blocks_in_use() - blocks - (outcome.error.size() > 15 ? 1 : 0) == 0);
    return outcome;
  });
}
