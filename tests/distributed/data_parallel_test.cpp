// DistributedDataParallel on ranks of one process.
#include <ambit/distributed/process_group.h>

#include <atomic>
#include <mutex>
#include <set>
#include <thread>

#include "errors.h"
#include "tests/devices.h"
#include "training.h"

using namespace ambit;
using namespace ambit::distributed;
using std::chrono::seconds;

namespace {

// Counts the collectives, and passes them on.
class Counting final : public Communicator {
 public:
  explicit Counting(std::shared_ptr<ProcessGroup> to) : to_(std::move(to)) {}
  int rank() const override { return to_->rank(); }
  int size() const override { return to_->size(); }
  std::unique_ptr<Request> start(const Transfer& t) override {
    if (t.what == Collective::allreduce) ++begun;
    const Tensor memory = tensor_at(t);
    std::shared_ptr<Work> work;
    if (t.what == Collective::allreduce) work = to_->allreduce(memory, t.op);
    if (t.what == Collective::broadcast) work = to_->broadcast(memory, t.peer);
    if (t.what == Collective::allgather) {
      std::vector<Tensor> outs;
      for (int r = 0; r < size(); ++r) {
        outs.push_back(from_blob(static_cast<char*>(t.out) + r * t.count * element_size(t.dtype),
                                 {t.count}, TensorOptions(t.dtype)));
      }
      work = to_->allgather(outs, memory);
    }
    return std::make_unique<Handed>(work);
  }
  std::vector<Absence> absent(uint64_t, Milliseconds) override { return {}; }
  std::unique_ptr<Communicator> split(std::span<const int>) override { return nullptr; }
  void abort(const std::string& reason) noexcept override { to_->abort(reason); }
  int begun = 0;

 private:
  struct Handed final : Request {
    explicit Handed(std::shared_ptr<Work> w) : work(std::move(w)) {}
    bool wait(Milliseconds limit) override {
      // Work::wait ends the group after the timeout; is_completed() does not.
      return limit > Milliseconds(0) ? work->wait(limit) : work->is_completed();
    }
    std::shared_ptr<Work> work;
  };
  static Tensor tensor_at(const Transfer& t) {
    return from_blob(const_cast<void*>(t.in), {t.count}, TensorOptions(t.dtype));
  }
  std::shared_ptr<ProcessGroup> to_;
};

using Local = std::shared_ptr<ProcessGroup>;

nn::Sequential two_layers() { return nn::Sequential(nn::Linear(4, 3), nn::Linear(3, 2)); }

}  // namespace

TEST_CASE("training on several ranks equals training on one with the same batches") {
  for (const char* network : {"net", "tudui"}) {
    const training::Lesson lesson{.network = network};
    const std::vector<double> alone = training::train(lesson).losses;
    CHECK(alone.back() != alone.front());
    for (const int size : {2, 4}) {
      run_local(size, [&](const Local& group) { training::expect_as_alone(lesson, group, alone); });
    }
  }
}

TEST_CASE("training on several ranks equals training on one on every device") {
  for_each_device([](Device device) {
    const training::Lesson lesson{.device = device, .steps = 3};
    const std::vector<double> alone = training::train(lesson).losses;
    run_local(2, [&](const Local& group) { training::expect_as_alone(lesson, group, alone); });
  });
}

TEST_CASE(
    "gradients accumulate in no_sync, and are averaged with the last backward, then clipped") {
  const training::Lesson lesson{.steps = 6, .passes = 3};
  const std::vector<double> alone = training::train(lesson).losses;
  run_local(2, [&](const Local& group) { training::expect_as_alone(lesson, group, alone); });
}

TEST_CASE("the exchange begins during backward") {
  run_local(2, [](const Local& group) {
    auto counting = std::make_shared<Counting>(group);
    nn::Sequential net(nn::Linear(64, 64), nn::Linear(64, 64), nn::Linear(64, 64));
    DistributedDataParallelOptions options;
    options.bucket_cap_mb = 64 * 64 * 4 / 1048576.0;  // one bucket for each weight
    DistributedDataParallel ddp(net, std::make_shared<ProcessGroup>(counting), options);
    counting->begun = 0;
    int before_first_layer = 0;
    Tensor x = ones({2, 64});
    Tensor y = net[0]->as<nn::Linear>()->forward(x);
    y.register_hook([&](const Tensor&) { before_first_layer = counting->begun; });
    // As ddp(x), with a hook on the first layer's output.
    y = net[2]->as<nn::Linear>()->forward(net[1]->as<nn::Linear>()->forward(y));
    y.sum().backward();
    CHECK(before_first_layer >= 3);  // the collectives of the third and the second layer
    CHECK(counting->begun > before_first_layer);
  });
}

TEST_CASE("a parameter used twice in a graph is exchanged once, when its gradient is complete") {
  run_local(2, [](const Local& group) {
    auto counting = std::make_shared<Counting>(group);
    nn::Linear net(2, 2), alone(2, 2);
    DistributedDataParallel ddp(net, std::make_shared<ProcessGroup>(counting));
    alone->load_state_dict(net->state_dict());
    const auto twice = [](auto& f, int rank) {
      return f(f(full({1, 2}, rank + 1.0))).square().sum();
    };
    ((twice(alone, 0) + twice(alone, 1)) / 2).backward();
    counting->begun = 0;
    twice(ddp, group->rank()).backward();
    CHECK(counting->begun == 1);
    CHECK(allclose(net->weight.grad(), alone->weight.grad()));  // 1e-5: sums of a few float32
    CHECK(allclose(net->bias.grad(), alone->bias.grad()));
  });
}

TEST_CASE("gradients are views of buckets, also if they accumulate over steps") {
  run_local(2, [](const Local& group) {
    nn::Sequential net = two_layers();
    DistributedDataParallel ddp(net, group);
    const Tensor x = full({1, 4}, group->rank() + 1.0);
    ddp(x).sum().backward();
    std::set<const void*> blocks;
    for (const Tensor& p : net->parameters()) blocks.insert(p.grad().storage().get());
    CHECK(blocks.size() == 1);
    const Tensor once = net->parameters()[0].grad().clone();
    const void* const at = net->parameters()[0].grad().data_ptr();
    ddp(x)
        .sum()
        .backward();  // without zero_grad(): gradients are twice as large, in the same memory
    CHECK(allclose(net->parameters()[0].grad(), once * 2));
    CHECK(net->parameters()[0].grad().data_ptr() == at);
    net->zero_grad();
    ddp(x).sum().backward();
    CHECK(equal(net->parameters()[0].grad(), once));
  });
}

TEST_CASE("hooks of leaves change a rank's gradient before it is averaged") {
  run_local(2, [](const Local& group) {
    nn::Linear net(nn::LinearOptions(2, 1).bias(false));
    DistributedDataParallel ddp(net, group);
    net->weight.register_hook([&](const Tensor& g) { return g * (group->rank() == 0 ? 10 : 0); });
    ddp(ones({1, 2})).sum().backward();
    CHECK(allclose(net->weight.grad(), full({1, 2}, 5.0)));
  });
}

TEST_CASE("unused parameters are named or found, and keep their grad if no rank uses them") {
  std::atomic<int> reports{0};
  const auto forgetful = [&](const Local& group) {
    nn::Linear used(2, 2), other(2, 2);
    nn::Sequential net(used, other);
    DistributedDataParallel ddp(net, group);
    const auto loss = group->rank() == 1 ? used(ones({1, 2})) : ddp(ones({1, 2}));
    const std::string text = error_of([&] { loss.sum().backward(); });
    if (group->rank() == 1) {
      CHECK(text ==
            "backward: expected a loss in which all parameters of the DistributedDataParallel take "
            "part, got one without 1.weight, 1.bias; set find_unused_parameters, or no_sync()");
      CHECK_FALSE(used->weight.grad().defined());
      while (reports < 2) std::this_thread::yield();  // wait until both ranks have reported
    } else {
      CHECK(text == "backward: expected it to succeed on rank 1, got an error there");
      ++reports;
    }
  };
  run_local(3, forgetful, seconds(20));
  run_local(2, [](const Local& group) {
    nn::Linear used(2, 2), rank0(2, 2), nobody(2, 2);
    nn::Sequential net(used, rank0, nobody);
    DistributedDataParallelOptions options;
    options.find_unused_parameters = true;
    DistributedDataParallel ddp(net, group, options);
    for (int step = 0; step < 2; ++step) {
      Tensor y = used(ones({1, 2}));
      if (group->rank() == 0) y = rank0(y);
      net->zero_grad();
      y.sum().backward();
      CHECK(used->weight.grad().defined());
      CHECK(allclose(rank0->bias.grad(), full({2}, 0.5)));
      CHECK_FALSE(nobody->weight.grad().defined());
    }
  });
}

namespace {

// Records its buffer in each forward, and changes it.
struct CountImpl : nn::Module {
  nn::Linear linear{register_module("linear", nn::Linear(3, 3))};
  Tensor count = register_buffer("count", zeros({1}));
  double seen = 0;

  Tensor forward(const Tensor& x) {
    seen = count.item<double>();
    const NoGradGuard no_grad;
    count.add_(x[0][0]);
    return linear(x);
  }
};
AMBIT_MODULE(Count);

}  // namespace

TEST_CASE("all ranks get rank 0's parameters and buffers, and buffers stay equal") {
  run_local(2, [](const Local& group) {
    Count net;
    {
      const NoGradGuard no_grad;
      for (const Tensor& p : net->parameters()) p.fill_(group->rank() + 1);
      net->count.fill_(group->rank() + 5);
    }
    DistributedDataParallel ddp(net, group);
    for (const Tensor& p : net->parameters()) CHECK(equal(p, ones_like(p)));
    CHECK(net->count.item<double>() == 5);
    const int rank = group->rank();
    const Tensor x = full({1, 3}, rank == 0 ? 1.0 : 10.0);
    const auto forward = [&] {
      ddp(x);
      return net->seen;
    };
    CHECK(forward() == 5);  // 6 and 15 then
    CHECK(forward() == 6);  // 7 and 16
    {
      const auto local = ddp->no_sync();
      CHECK(forward() == (rank == 0 ? 7 : 16));  // 8 and 26
    }
    ddp->eval();
    CHECK(forward() == (rank == 0 ? 8 : 26));  // 9 and 36
    ddp->train();
    CHECK(forward() == 9);
    DistributedDataParallelOptions apart;
    apart.broadcast_buffers = false;
    DistributedDataParallel other(Count(), group, apart);
    for (int i = 0; i < 2; ++i) other(x);
    CHECK(other->module->seen == (rank == 0 ? 1 : 10));
    CHECK(ddp->state_dict().size() == net->state_dict().size());
    CHECK(ddp->named_parameters().contains("module.linear.weight"));
  });
}

TEST_CASE("an error for different shapes names the parameter and the rank, on all ranks") {
  std::mutex mutex;
  std::set<std::string> texts;
  run_local(3, [&](const Local& group) {
    nn::Sequential net(nn::Linear(4, 3), nn::Linear(3, group->rank() == 2 ? 5 : 2));
    try {
      DistributedDataParallel ddp(net, group);
    } catch (const DistributedError& e) {
      const std::lock_guard lock(mutex);
      texts.insert(e.what());
    }
  });
  CHECK(texts ==
        std::set<std::string>{"DistributedDataParallel: expected 1.weight float32[2, 3] on "
                              "rank 2, as on rank 0, got 1.weight float32[5, 3]"});
}

TEST_CASE("modules that cannot be trained in parallel are refused") {
  run_local(1, [](const Local& group) {
    nn::Linear net(2, 2);
    CHECK_THROWS_AS(DistributedDataParallel(nn::Flatten(), group), Error);
    DistributedDataParallelOptions none;
    none.bucket_cap_mb = 0;
    CHECK_THROWS_AS(DistributedDataParallel(net, group, none), Error);
    DistributedDataParallel ddp(net, group);
    CHECK_THROWS_AS(DistributedDataParallel(net, group), AutogradError);  // already has one
    CHECK_THROWS_AS(ddp(ones({1, 2})).sum().backward({}, {}, /*create_graph=*/true),
                    NotImplementedError);
    // grad() exchanges nothing.
    CHECK(autograd::grad({ddp(ones({1, 2})).sum()}, {net->bias})[0].defined());
  });
}

TEST_CASE("a rank whose backward throws ends the others") {
  std::atomic<int> reports{0};
  const auto body = [&](const Local& group) {
    nn::Linear net(2, 2);
    DistributedDataParallel ddp(net, group);
    if (group->rank() == 1) {
      net->weight.register_hook([](const Tensor& g) -> Tensor { throw Error(str(g.sizes())); });
    }
    try {
      ddp(ones({1, 2})).sum().backward();
    } catch (const DistributedError& e) {
      CHECK(std::string(e.what()) ==
            "backward: expected it to succeed on rank 1, got an error there");
      ++reports;
    }
  };
  CHECK_THROWS_WITH_AS(run_local(3, body, seconds(20)), "[2, 2]", Error);
  CHECK(reports == 2);
}

TEST_CASE("a module continues after a move to another device or dtype") {
  run_local(2, [](const Local& group) {
    nn::Linear net(2, 2);
    DistributedDataParallel ddp(net, group);
    ddp(ones({1, 2})).sum().backward();
    net->to(Device("reference"), kFloat64);
    net->zero_grad();
    const Tensor x = full({1, 2}, group->rank(), TensorOptions(kFloat64).device("reference"));
    ddp(x).sum().backward();
    CHECK(allclose(net->weight.grad(), full({2, 2}, 0.5, net->weight.options())));
  });
}
