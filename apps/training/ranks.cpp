#include "training/ranks.h"

#include <ambit/checkpoint.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>

#include <cstdio>
#include <stdexcept>
#include <vector>

#include "terminal/progress.h"
#include "training/options.h"

namespace training {

namespace distributed = ambit::distributed;

Ranks& Ranks::of_process() {
  static auto* ranks = new Ranks;  // leaked: the group ends with the process
  return *ranks;
}

void Ranks::begin(Options& options) {
  if (options.distributed.empty()) return;
  const int gpus = ambit::device_count("cuda");
  if (options.device.empty() && gpus > 0) {
    options.device = "cuda:" + std::to_string(distributed::local_rank() % gpus);
  }
  device_ = options.device.empty() ? ambit::kCPU : ambit::Device(options.device);
  distributed::ProcessGroupOptions group_options;
  group_options.device = device_;
  group_ = distributed::init_process_group(options.distributed, group_options);
  if (is_first()) return;
  terminal::Progress::hide();
  if (!std::freopen("/dev/null", "w", stdout)) throw std::runtime_error("cannot open /dev/null");
}

Share Ranks::share(size_t n) const {
  const auto ranks = static_cast<size_t>(size()), r = static_cast<size_t>(rank());
  const size_t first = n * r / ranks, count = n * (r + 1) / ranks - first;
  if (count == 0) return {0, n == 0 ? size_t{0} : size_t{1}, 0};
  return {first, count, static_cast<double>(count * ranks) / static_cast<double>(n)};
}

std::unique_ptr<distributed::DataParallel> Ranks::train(
    const std::shared_ptr<ambit::nn::Module>& network) const {
  if (!group_) return nullptr;
  return std::make_unique<distributed::DataParallel>(network, group_,
                                                     distributed::DistributedDataParallelOptions());
}

ambit::Tensor Ranks::weighted(const ambit::Tensor& loss, const Share& share) const {
  return group_ ? loss * share.weight : loss;
}

ambit::Tensor Ranks::mean(const ambit::Tensor& value) const {
  if (!group_) return value;
  const ambit::Tensor all = value.detach().clone();
  group_->allreduce(all, distributed::ReduceOp::AVG)->wait();
  return all;
}

double Ranks::sum(double value) const {
  if (!group_) return value;
  const ambit::Tensor all = full({}, value, ambit::TensorOptions(ambit::kFloat64).device(device_));
  group_->allreduce(all)->wait();
  return all.item<double>();
}

ambit::Value Ranks::from_first(const std::function<ambit::Value()>& make) const {
  if (!group_) return make();
  ambit::Value value;
  std::vector<char> bytes;
  if (is_first()) bytes = ambit::pickle_save(value = make());
  const ambit::Tensor size =
      full({1}, static_cast<int64_t>(bytes.size()), ambit::TensorOptions().device(device_));
  group_->broadcast(size)->wait();
  bytes.resize(size.item<size_t>());
  const ambit::Tensor here = from_blob(bytes.data(), {size.item<int64_t>()}, ambit::kUInt8);
  const ambit::Tensor there = here.to(device_);
  group_->broadcast(there)->wait();
  here.copy_(there);
  return is_first() ? value : ambit::pickle_load(bytes);
}

void Ranks::wait_for_all() const {
  if (group_) group_->barrier()->wait();
}

}  // namespace training
