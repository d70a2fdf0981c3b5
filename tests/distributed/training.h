// A network trained by several ranks, and the same by one with the same batches.
#pragma once

#include <ambit/ambit.h>
#include <ambit/distributed/data_parallel.h>
#include <doctest/doctest.h>

#include <vector>

namespace training {

using namespace ambit;
using distributed::ProcessGroup;

/// The tutorial's network.
struct NetImpl : nn::Module {
  nn::Conv2d conv1{register_module("conv1", nn::Conv2d(3, 6, 5))};
  nn::Conv2d conv2{register_module("conv2", nn::Conv2d(6, 16, 5))};
  nn::Linear fc1{register_module("fc1", nn::Linear(16 * 5 * 5, 120))};
  nn::Linear fc2{register_module("fc2", nn::Linear(120, 10))};

  Tensor forward(const Tensor& x) {
    Tensor y = max_pool2d(relu(conv1(x)), 2);
    y = max_pool2d(relu(conv2(y)), 2).view({-1, 16 * 5 * 5});
    return fc2(relu(fc1(y)));
  }
};
AMBIT_MODULE(Net);

struct Result {
  std::vector<double> losses;  // of whole batches
  std::vector<Tensor> params;
};

/// The images of a step: every third batch is uneven, smaller and of an odd size.
inline int64_t batch_size(int step, int64_t whole) { return step % 3 == 2 ? whole - 3 : whole; }

/// Train `steps` on `device`, alone where there is no group. `passes` backwards make a step, all
/// but the last without exchange.
inline Result train(ProcessGroup* group, const std::shared_ptr<ProcessGroup>& shared, Device device,
                    int steps, int64_t whole = 8, int passes = 1) {
  const int rank = group ? group->rank() : 0, size = group ? group->size() : 1;
  Generator weights(kCPU, 7 + static_cast<uint64_t>(rank));  // rank 0's count
  Net net;
  {
    const NoGradGuard no_grad;
    for (const Tensor& p : net->parameters()) p.uniform_(-0.1, 0.1, weights);
  }
  net.to(device);
  std::optional<distributed::DistributedDataParallel<Net>> ddp;
  if (group) {
    distributed::DistributedDataParallelOptions options;
    options.bucket_cap_mb = 0.05;  // several buckets
    ddp.emplace(net, shared, options);
  }
  // The tutorial's rate. At ten times that roundings of float32 grow a thousandfold in 50 steps.
  optim::SGD sgd(net->parameters(), optim::SGDOptions(0.001).momentum(0.9));
  Generator numbers(kCPU, 3);
  Result result;
  for (int step = 0; step < steps; ++step) {
    const int64_t n = batch_size(step, whole);
    double sum = 0;
    sgd.zero_grad();
    for (int pass = 0; pass < passes; ++pass) {
      const Tensor x = randn({n, 3, 32, 32}, numbers);
      const Tensor y = randint(0, 10, {n}, numbers, TensorOptions(kInt64));
      const int64_t begin = n * rank / size, end = n * (rank + 1) / size;
      const Tensor mine = x.slice(0, begin, end).to(device),
                   labels = y.slice(0, begin, end).to(device);
      std::optional<distributed::DataParallel::NoSync> local;
      if (ddp && pass + 1 < passes) local.emplace((*ddp)->no_sync());
      const Tensor logits = ddp ? (*ddp)(mine) : net(mine);
      const Tensor loss = nn::functional::cross_entropy(logits, labels) *
                          (static_cast<double>((end - begin) * size) / static_cast<double>(n));
      loss.backward();
      Tensor mean = loss.detach().to(kFloat64);
      if (group) group->allreduce(mean, distributed::ReduceOp::AVG)->wait();
      sum += mean.item<double>();
    }
    nn::utils::clip_grad_norm_(net->parameters(), 1.0);
    sgd.step();
    result.losses.push_back(sum / passes);
  }
  for (const Tensor& p : net->parameters()) result.params.push_back(p.detach().clone());
  return result;
}

/// Losses as of one rank, which sums in another order: float32 keeps 6e-8 of each sum.
inline void expect_same_losses(const Result& got, const Result& alone, double tolerance = 1e-6) {
  REQUIRE(got.losses.size() == alone.losses.size());
  for (size_t i = 0; i < got.losses.size(); ++i) {
    INFO("step " << i);
    CHECK(got.losses[i] == doctest::Approx(alone.losses[i]).epsilon(tolerance));
  }
}

/// All ranks have rank 0's parameters, bit for bit.
inline void expect_in_step(ProcessGroup& group, const Result& result) {
  for (const Tensor& p : result.params) {
    Tensor first = p.clone();
    group.broadcast(first)->wait();
    CHECK(equal(first, p));
  }
}

}  // namespace training
