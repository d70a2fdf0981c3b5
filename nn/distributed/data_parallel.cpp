// Synchronises parameters and buffers for DistributedDataParallel. (reducer.cpp averages
// gradients.)
#include <ambit/autograd.h>
#include <ambit/checkpoint.h>
#include <ambit/distributed/data_parallel.h>
#include <ambit/nn/utils/convert_parameters.h>
#include <ambit/ops/creation.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "reducer.h"
#include "values.h"

namespace ambit::distributed {
namespace {

using Named = std::vector<std::pair<std::string, Tensor>>;

void compare(ProcessGroup& group, const Named& tensors) {
  Value::List own;  // "fc1.weight float32[3, 4]"
  for (const auto& [name, t] : tensors) {
    own.emplace_back(fmt::format("{} {}{}", name, ambit::name(t.dtype()), str(t.sizes())));
  }
  const std::vector<Value> all =
      allgather_values(group, Value::list(std::move(own)), tensors[0].second.device());
  for (size_t r = 1; r < all.size(); ++r) {
    const auto text = [&](size_t rank, size_t i) -> std::string {
      return i < all[rank].items().size() ? all[rank].items()[i].to_string() : "none";
    };
    for (size_t i = 0; i < std::max(all[0].items().size(), all[r].items().size()); ++i) {
      if (text(r, i) == text(0, i)) continue;
      throw DistributedError(
          fmt::format("DistributedDataParallel: expected {} on rank {}, as on rank 0, got {}",
                      text(0, i), r, text(r, i)));
    }
  }
}

}  // namespace

std::vector<Value> allgather_values(ProcessGroup& group, const Value& value, Device device) {
  std::vector<Value> all;
  for (int r = 0; r < group.size(); ++r) {
    std::vector<char> bytes;
    if (group.rank() == r) bytes = pickle_save(value);
    const Tensor size = full({1}, static_cast<int64_t>(bytes.size()), device);
    group.broadcast(size, r)->wait();
    bytes.resize(size.item<size_t>());
    const Tensor here = from_blob(bytes.data(), {size.item<int64_t>()}, kUInt8),
                 there = here.to(device);
    group.broadcast(there, r)->wait();
    here.copy_(there);
    all.push_back(pickle_load(bytes));
  }
  return all;
}

void broadcast_coalesced(ProcessGroup& group, const std::vector<Tensor>& tensors, int root) {
  const NoGradGuard no_grad;
  std::vector<Tensor> rest = tensors;
  while (!rest.empty()) {
    const auto others =
        std::stable_partition(rest.begin(), rest.end(), [first = rest[0]](const Tensor& t) {
          return t.device() == first.device() && t.dtype() == first.dtype();
        });
    const std::vector<Tensor> batch(rest.begin(), others);
    rest.erase(rest.begin(), others);
    const Tensor flat = nn::utils::parameters_to_vector(batch);
    group.broadcast(flat, root)->wait();
    int64_t at = 0;
    for (const Tensor& t : batch) {
      t.copy_(flat.narrow(0, at, t.numel()).view(t.sizes()));
      at += t.numel();
    }
  }
}

DataParallel::DataParallel(std::shared_ptr<nn::Module> module, std::shared_ptr<ProcessGroup> group,
                           const DistributedDataParallelOptions& options)
    : module_(std::move(module)), options_(options), group_(std::move(group)) {
  if (!module_ || !group_ || !(options_.bucket_cap_mb > 0)) {
    throw Error(
        "DistributedDataParallel: expected a module, a process group and bucket_cap_mb > 0");
  }
  Named params, all;
  for (const auto& item : module_->named_parameters()) {
    all.emplace_back(item.key(), item.value());
    if (item.value().requires_grad()) params.push_back(all.back());
  }
  for (const auto& item : module_->named_buffers()) all.emplace_back(item.key(), item.value());
  if (params.empty()) {
    throw Error("DistributedDataParallel: expected a module with parameters that require grad");
  }
  compare(*group_, all);
  std::vector<Tensor> tensors;
  for (const auto& [name, t] : all) tensors.push_back(t);
  broadcast_coalesced(*group_, tensors);
  reducer_ = std::make_shared<Reducer>(params, group_, options_);
  for (const auto& [name, t] : params) listen_to_leaf(t, reducer_);
}

void DataParallel::before_forward() {
  const bool is_step = reducer_->syncs && module_->is_training() && GradMode::is_enabled();
  if (!is_step || !options_.broadcast_buffers || group_->size() == 1) return;
  broadcast_coalesced(*group_, module_->buffers());
}

DataParallel::NoSync DataParallel::no_sync() {
  const auto end = [reducer = reducer_, before = std::exchange(reducer_->syncs, false)](void*) {
    reducer->syncs = before;
  };
  return {nullptr, end};
}

}  // namespace ambit::distributed
