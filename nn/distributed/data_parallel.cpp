// What DistributedDataParallel does beside averaging gradients: parameters and buffers in step.
#include <ambit/autograd.h>
#include <ambit/distributed/data_parallel.h>
#include <ambit/nn/utils/convert_parameters.h>
#include <ambit/ops/creation.h>
#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "bytes.h"
#include "reducer.h"

namespace ambit::distributed {
namespace {

using Named = std::vector<std::pair<std::string, Tensor>>;

// A line for each tensor: "fc1.weight float32[3, 4]".
std::string text_of(const Named& tensors) {
  std::string text;
  for (const auto& [name, t] : tensors) {
    text += fmt::format("{} {}{}\n", name, ambit::name(t.dtype()), str(t.sizes()));
  }
  return text;
}

void compare(ProcessGroup& group, const Named& tensors) {
  const std::vector<std::string> texts =
      allgather_bytes(group, text_of(tensors), tensors[0].second.device());
  for (size_t r = 1; r < texts.size(); ++r) {
    if (texts[r] == texts[0]) continue;
    std::istringstream first(texts[0]), other(texts[r]);
    std::string expected, got;
    while (expected == got) {
      if (!std::getline(first, expected)) expected = "none";
      if (!std::getline(other, got)) got = "none";
    }
    throw DistributedError(fmt::format(
        "DistributedDataParallel: expected {} on rank {}, as on rank 0, got {}", expected, r, got));
  }
}

}  // namespace

std::vector<std::string> allgather_bytes(ProcessGroup& group, const std::string& bytes,
                                         Device device) {
  std::vector<std::string> all;
  for (int r = 0; r < group.size(); ++r) {
    const Tensor length = full({1}, static_cast<int64_t>(bytes.size()), device);
    group.broadcast(length, r)->wait();
    Tensor theirs = zeros({length.item<int64_t>()}, TensorOptions(kUInt8).device(kCPU));
    if (group.rank() == r) bytes.copy(static_cast<char*>(theirs.data_ptr()), bytes.size());
    theirs = theirs.to(device);
    group.broadcast(theirs, r)->wait();
    theirs = theirs.cpu();
    all.emplace_back(static_cast<const char*>(theirs.data_ptr()), theirs.nbytes());
  }
  return all;
}

void broadcast_coalesced(ProcessGroup& group, const std::vector<Tensor>& tensors, int root) {
  const NoGradGuard no_grad;
  std::vector<std::vector<Tensor>> batches;  // of one device and dtype each
  for (const Tensor& t : tensors) {
    const auto goes_in = [&](const std::vector<Tensor>& batch) {
      return batch[0].device() == t.device() && batch[0].dtype() == t.dtype();
    };
    auto batch = std::find_if(batches.begin(), batches.end(), goes_in);
    if (batch == batches.end()) batch = batches.insert(batches.end(), std::vector<Tensor>());
    batch->push_back(t.detach());
  }
  for (const std::vector<Tensor>& batch : batches) {
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
    throw Error("DistributedDataParallel: expected a module, a group and buckets of some size");
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
  if (!options_.broadcast_buffers || !reducer_->syncs || !module_->is_training() ||
      !GradMode::is_enabled() || group_->size() == 1) {
    return;
  }
  broadcast_coalesced(*group_, module_->buffers());
}

DataParallel::NoSync DataParallel::no_sync() {
  const auto end = [reducer = reducer_, before = std::exchange(reducer_->syncs, false)](void*) {
    reducer->syncs = before;
  };
  return {nullptr, end};
}

}  // namespace ambit::distributed
