// What DistributedDataParallel does beside averaging gradients: parameters and buffers in step.
#include <ambit/autograd.h>
#include <ambit/distributed/data_parallel.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "reducer.h"

namespace ambit::distributed {
namespace {

using Named = std::vector<std::pair<std::string, Tensor>>;

// A line for each tensor: "fc1.weight float32[3, 4]".
std::vector<std::string> lines_of(const Named& tensors) {
  std::vector<std::string> lines;
  for (const auto& [name, t] : tensors) {
    lines.push_back(fmt::format("{} {}{}", name, ambit::name(t.dtype()), str(t.sizes())));
  }
  return lines;
}

// Exchanged on the device that tensors of the group may be on.
Tensor bytes_of(const std::string& text, int64_t size, Device device) {
  Tensor t = zeros({size}, TensorOptions(kUInt8));
  std::memcpy(t.data_ptr(), text.data(), std::min(text.size(), static_cast<size_t>(size)));
  return t.to(device);
}

std::string text_of(const Tensor& bytes) {
  const Tensor host = bytes.cpu();
  const auto* const first = static_cast<const char*>(host.data_ptr());
  return {first, strnlen(first, static_cast<size_t>(host.numel()))};
}

std::string join(const std::vector<std::string>& lines) {
  std::string all;
  for (const std::string& line : lines) all += line + "\n";
  return all;
}

// What of this rank's lines is not as rank 0's.
std::string difference(const std::vector<std::string>& mine, const std::string& rank0, int rank) {
  size_t at = 0;
  for (size_t i = 0;; ++i) {
    const size_t end = rank0.find('\n', at);
    const std::string theirs = end == std::string::npos ? "" : rank0.substr(at, end - at);
    const std::string own = i < mine.size() ? mine[i] : "";
    if (own != theirs) {
      const auto text = [](const std::string& line) { return line.empty() ? "none" : line; };
      return fmt::format("expected {} on rank {}, as on rank 0, got {}", text(theirs), rank,
                         text(own));
    }
    if (own.empty()) return "";
    at = end + 1;
  }
}

void compare(ProcessGroup& group, const Named& tensors) {
  const Device device = tensors[0].second.device();
  const std::vector<std::string> mine = lines_of(tensors);
  const std::string all = join(mine);
  const Tensor length = full({1}, static_cast<int64_t>(all.size()), device);
  group.broadcast(length)->wait();
  const auto size = length.item<int64_t>();
  const Tensor rank0 = bytes_of(all, size, device);
  group.broadcast(rank0)->wait();
  constexpr int64_t kMostText = 500;  // of an error
  const Tensor found = bytes_of(difference(mine, text_of(rank0), group.rank()), kMostText, device);
  std::vector<Tensor> of_all;
  for (int r = 0; r < group.size(); ++r) of_all.push_back(zeros_like(found));
  group.allgather(of_all, found)->wait();
  for (const Tensor& t : of_all) {
    if (const std::string text = text_of(t); !text.empty()) {
      throw DistributedError("DistributedDataParallel: " + text);
    }
  }
}

template <class Dict>
void append(Named& all, const Dict& dict) {
  for (const auto& item : dict) all.emplace_back(item.key(), item.value());
}

}  // namespace

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
    std::vector<Tensor> flats;
    for (const Tensor& t : batch) flats.push_back(t.reshape({-1}));
    const Tensor flat = cat(flats);
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
  append(all, module_->named_parameters());
  for (const auto& [name, t] : all) {
    if (t.requires_grad()) params.emplace_back(name, t);
  }
  append(all, module_->named_buffers());
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

DataParallel::~DataParallel() = default;

void DataParallel::before_forward() {
  if (!options_.broadcast_buffers || !reducer_->syncs || !module_->is_training() ||
      !GradMode::is_enabled() || group_->size() == 1) {
    return;
  }
  broadcast_coalesced(*group_, module_->buffers());
}

DataParallel::NoSync::NoSync(std::shared_ptr<Reducer> reducer)
    : reducer_(std::move(reducer)), before_(std::exchange(reducer_->syncs, false)) {}
DataParallel::NoSync::~NoSync() {
  if (reducer_) reducer_->syncs = before_;
}

}  // namespace ambit::distributed
