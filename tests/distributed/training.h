// Trains the lessons' networks on several ranks, and on one with the same batches.
#pragma once

#include <ambit/ambit.h>
#include <ambit/distributed/data_parallel.h>
#include <doctest/doctest.h>

#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace training {

using namespace ambit;
using Group = std::shared_ptr<distributed::ProcessGroup>;

/// The network and settings of a training.
struct Lesson {
  std::string network = "net";  ///< "net", of quickstart, or "tudui"
  Device device = {};
  int steps = 50;
  int passes = 1;  ///< backward passes per step; only the last one exchanges gradients
};

inline nn::Sequential make_network(const std::string& name) {
  if (name == "tudui") {
    return nn::Sequential(nn::Conv2d(3, 32, 5, 1, 2), nn::MaxPool2d(2), nn::Conv2d(32, 32, 5, 1, 2),
                          nn::MaxPool2d(2), nn::Conv2d(32, 64, 5, 1, 2), nn::MaxPool2d(2),
                          nn::Flatten(), nn::Linear(1024, 64), nn::Linear(64, 10));
  }
  return nn::Sequential(nn::Conv2d(3, 6, 5), nn::ReLU(), nn::MaxPool2d(2), nn::Conv2d(6, 16, 5),
                        nn::ReLU(), nn::MaxPool2d(2), nn::Flatten(), nn::Linear(400, 120),
                        nn::ReLU(), nn::Linear(120, 84), nn::ReLU(), nn::Linear(84, 10));
}

struct Result {
  std::vector<double> losses;  // over whole batches
  std::vector<Tensor> params;
};

/// Return the batch size of a step: every third batch cannot be divided evenly by 2 and 4 ranks.
inline int64_t batch_size(int step) { return step % 3 == 2 ? 5 : 4; }

/// Train as the lessons do; without a group, on a single rank.
inline Result train(const Lesson& lesson, const Group& group = nullptr) {
  const int rank = group ? group->rank() : 0, size = group ? group->size() : 1;
  Generator weights(kCPU, 7 + static_cast<uint64_t>(rank));  // rank 0's are used
  nn::Sequential net = make_network(lesson.network);
  {
    const NoGradGuard no_grad;  // PyTorch's initialisation, approximately for biases
    for (const Tensor& p : net->parameters()) {
      const double bound = std::sqrt(1.0 / static_cast<double>(p.dim() > 1 ? p[0].numel() : 100));
      p.uniform_(-bound, bound, weights);
    }
  }
  net->to(lesson.device);
  std::optional<distributed::DistributedDataParallel<nn::Sequential>> ddp;
  if (group) {
    distributed::DistributedDataParallelOptions options;
    options.bucket_cap_mb = 0.15;  // gives at least two buckets
    ddp.emplace(net, group, options);
  }
  const bool is_tudui = lesson.network == "tudui";
  optim::SGD sgd(net->parameters(),
                 optim::SGDOptions(is_tudui ? 0.01 : 0.001).momentum(is_tudui ? 0 : 0.9));
  Generator numbers(kCPU, 3);
  Result result;
  for (int step = 0; step < lesson.steps; ++step) {
    const int64_t n = batch_size(step), begin = n * rank / size, end = n * (rank + 1) / size;
    double sum = 0;
    sgd.zero_grad();
    for (int pass = 0; pass < lesson.passes; ++pass) {
      const Tensor x = randn({n, 3, 32, 32}, numbers);
      const Tensor y = randint(0, 10, {n}, numbers, TensorOptions(kInt64));
      const Tensor mine = x.slice(0, begin, end).to(lesson.device),
                   labels = y.slice(0, begin, end).to(lesson.device);
      std::optional<distributed::DataParallel::NoSync> local;
      if (ddp && pass + 1 < lesson.passes) local.emplace((*ddp)->no_sync());
      const Tensor logits = ddp ? (*ddp)(mine) : net->forward(mine);
      const Tensor loss = nn::functional::cross_entropy(logits, labels) *
                          (static_cast<double>((end - begin) * size) / static_cast<double>(n));
      loss.backward();
      Tensor mean = loss.detach().to(kFloat64);
      if (group) group->allreduce(mean, distributed::ReduceOp::AVG)->wait();
      sum += mean.item<double>();
    }
    nn::utils::clip_grad_norm_(net->parameters(), 1.0);
    sgd.step();
    result.losses.push_back(sum / lesson.passes);
  }
  for (const Tensor& p : net->parameters()) result.params.push_back(p.detach().clone());
  return result;
}

/// Compare with the losses of one rank, which sums in another order: float32 has 6e-8 per sum.
inline void expect_same_losses(const std::vector<double>& got, const std::vector<double>& alone) {
  REQUIRE(got.size() == alone.size());
  for (size_t i = 0; i < got.size(); ++i) {
    INFO("step " << i);
    CHECK(got[i] == doctest::Approx(alone[i]).epsilon(1e-6).scale(0));
  }
}

/// Check that all ranks have rank 0's parameters, bit for bit.
inline void expect_in_step(const Group& group, const Result& result) {
  for (const Tensor& p : result.params) {
    Tensor first = p.clone();
    group->broadcast(first)->wait();
    CHECK(equal(first, p));
  }
}

/// Train on all ranks, and compare with the losses of one.
inline void expect_as_alone(const Lesson& lesson, const Group& group,
                            const std::vector<double>& alone) {
  INFO(lesson.network << " on " << lesson.device.str());
  const Result result = train(lesson, group);
  expect_same_losses(result.losses, alone);
  expect_in_step(group, result);
}

}  // namespace training
