// DistributedDataParallel on ranks of one process.
#include <ambit/distributed/process_group.h>

#include <atomic>
#include <mutex>
#include <set>

#include "tests/devices.h"
#include "training.h"

using namespace ambit;
using namespace ambit::distributed;
using std::chrono::seconds;

namespace {

// Counts what is begun, and hands it on.
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
      // Work::wait ends the group where time is over; a look does not.
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

TEST_CASE("training on several ranks is training on one with the same batches") {
  for_each_device([](Device device) {
    const int steps = device.is_cpu() ? 50 : 3;
    const training::Result alone = training::train(nullptr, nullptr, device, steps);
    CHECK(alone.losses.back() != alone.losses.front());
    for (const int size : {2, 4}) {
      if (size == 4 && !device.is_cpu()) continue;
      run_local(size, [&](const Local& group) {
        const auto result = training::train(group.get(), group, device, steps);
        training::expect_same_losses(result, alone);
        training::expect_in_step(*group, result);
      });
    }
  });
}

TEST_CASE("ranks on devices of their own train as one") {
  if (device_count("cuda") < 2) return;
  const training::Result alone = training::train(nullptr, nullptr, Device("cuda:0"), 3);
  run_local(2, [&](const Local& group) {
    const Device device("cuda:" + std::to_string(group->rank()));
    training::expect_same_losses(training::train(group.get(), group, device, 3), alone);
  });
}

TEST_CASE("gradients gather in no_sync, and are averaged with the last backward, then clipped") {
  const training::Result alone = training::train(nullptr, nullptr, kCPU, 6, 8, 3);
  run_local(2, [&](const Local& group) {
    const auto result = training::train(group.get(), group, kCPU, 6, 8, 3);
    training::expect_same_losses(result, alone);
    training::expect_in_step(*group, result);
  });
}

TEST_CASE("the exchange begins while backward still computes") {
  run_local(2, [](const Local& group) {
    auto counting = std::make_shared<Counting>(group);
    nn::Sequential net(nn::Linear(64, 64), nn::Linear(64, 64), nn::Linear(64, 64));
    DistributedDataParallelOptions options;
    options.bucket_cap_mb = 64 * 64 * 4 / 1048576.0;  // a bucket for each weight
    DistributedDataParallel ddp(net, std::make_shared<ProcessGroup>(counting), options);
    counting->begun = 0;
    int before_first_layer = 0;
    Tensor x = ones({2, 64});
    Tensor y = net[0]->as<nn::Linear>()->forward(x);
    y.register_hook([&](const Tensor&) { before_first_layer = counting->begun; });
    // As ddp(x) would, with an eye on the first layer's output.
    y = net[2]->as<nn::Linear>()->forward(net[1]->as<nn::Linear>()->forward(y));
    y.sum().backward();
    CHECK(before_first_layer >= 3);  // of the third and the second layer
    CHECK(counting->begun > before_first_layer);
  });
}

TEST_CASE("gradients live in buckets, also those that gather over steps") {
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
    ddp(x).sum().backward();  // without zero_grad(): twice as much, in the same place
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

TEST_CASE(
    "parameters that take no part are named, or found, and keep their grad if nobody uses them") {
  run_local(2, [](const Local& group) {
    nn::Linear used(2, 2), rank0(2, 2), nobody(2, 2);
    nn::Sequential net(used, rank0, nobody);
    {
      DistributedDataParallel ddp(net, group);
      const auto loss = used(ones({1, 2})).sum();
      CHECK_THROWS_WITH_AS(loss.backward(),
                           "backward: expected a loss in which all parameters of the "
                           "DistributedDataParallel take part, got one without 1.weight, 1.bias, "
                           "2.weight, 2.bias; set find_unused_parameters, or no_sync()",
                           AutogradError);
      CHECK_FALSE(used->weight.grad().defined());
    }
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

TEST_CASE("rank 0's parameters and buffers are everybody's, and buffers stay in step") {
  run_local(2, [](const Local& group) {
    nn::Sequential net(nn::Linear(3, 3), nn::BatchNorm1d(3));
    {
      const NoGradGuard no_grad;
      for (const Tensor& p : net->parameters()) p.fill_(group->rank() + 1);
      for (const Tensor& b : net->buffers()) b.fill_(group->rank() + 5);
    }
    DistributedDataParallel ddp(net, group);
    for (const Tensor& p : net->parameters()) CHECK(equal(p, ones_like(p)));
    for (const Tensor& b : net->buffers()) CHECK(equal(b, full_like(b, 5)));
    const auto in_step = [&] {
      bool same = true;
      for (const Tensor& b : net->buffers()) {
        Tensor first = b.clone();
        group->broadcast(first)->wait();
        same = same && equal(first, b);
      }
      return same;
    };
    const auto forward = [&](int step) {
      return ddp(arange(12, kFloat32).view({4, 3}) * (group->rank() + step + 1));
    };
    forward(0).sum().backward();  // each rank's statistics go apart
    CHECK(in_step() == (group->rank() == 0));
    {
      const auto local = ddp->no_sync();
      forward(1);
    }
    CHECK(in_step() == (group->rank() == 0));
    ddp->train();
    broadcast_coalesced(*group, net->buffers());
    CHECK(in_step());
    CHECK(ddp->state_dict().size() == net->state_dict().size());
    CHECK(ddp->named_parameters().contains("module.0.weight"));
  });
}

TEST_CASE("ranks with other shapes are told which parameter and which rank, on all ranks") {
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

TEST_CASE("what cannot be done in parallel is refused") {
  run_local(1, [](const Local& group) {
    nn::Linear net(2, 2);
    CHECK_THROWS_AS(DistributedDataParallel(nn::Flatten(), group), Error);
    DistributedDataParallelOptions none;
    none.bucket_cap_mb = 0;
    CHECK_THROWS_AS(DistributedDataParallel(net, group, none), Error);
    DistributedDataParallel ddp(net, group);
    CHECK_THROWS_AS(DistributedDataParallel(net, group), AutogradError);  // has one already
    CHECK_THROWS_AS(ddp(ones({1, 2})).sum().backward({}, {}, /*create_graph=*/true),
                    NotImplementedError);
    // grad() exchanges nothing.
    CHECK(autograd::grad({ddp(ones({1, 2})).sum()}, {net->bias})[0].defined());
  });
}

TEST_CASE("a rank whose backward throws ends the others") {
  std::atomic<int> told{0};
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
      ++told;
    }
  };
  CHECK_THROWS_WITH_AS(run_local(3, body, seconds(20)), "[2, 2]", Error);
  CHECK(told == 2);
}

TEST_CASE("a module that moves to another device or dtype goes on") {
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
