// What DistributedDataParallel does beside averaging gradients: parameters and buffers in step.
#include <ambit/autograd.h>
#include <ambit/distributed/data_parallel.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>

#include "bytes.h"
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

// What of this rank's lines is not as rank 0's, of which each ends with a newline.
std::string difference(const std::vector<std::string>& mine, const std::string& rank0, int rank) {
  std::istringstream theirs(rank0);
  const auto text = [](const std::string& line) { return line.empty() ? "none" : line; };
  for (size_t i = 0;; ++i) {
    const std::string own = i < mine.size() ? mine[i] : "";
    std::string line;
    std::getline(theirs, line);
    if (own != line) {
      return fmt::format("expected {} on rank {}, as on rank 0, got {}", text(line), rank,
                         text(own));
    }
    if (own.empty()) return "";
  }
}

void compare(ProcessGroup& group, const Named& tensors) {
  const Device device = tensors[0].second.device();
  const std::vector<std::string> mine = lines_of(tensors);
  const std::string all = fmt::format("{}\n", fmt::join(mine, "\n"));
  const std::string found = difference(mine, broadcast_bytes(group, all, device, 0), group.rank());
  for (int r = 0; r < group.size(); ++r) {
    const std::string theirs = broadcast_bytes(group, found, device, r);
    if (!theirs.empty()) throw DistributedError("DistributedDataParallel: " + theirs);
  }
}

template <class Dict>
void append(Named& all, const Dict& dict) {
  for (const auto& item : dict) all.emplace_back(item.key(), item.value());
}

}  // namespace

std::string broadcast_bytes(ProcessGroup& group, const std::string& bytes, Device device,
                            int root) {
  const Tensor length = full({1}, static_cast<int64_t>(bytes.size()), device);
  group.broadcast(length, root)->wait();
  Tensor all = zeros({length.item<int64_t>()}, TensorOptions(kUInt8));
  if (group.rank() == root) {
    std::copy(bytes.begin(), bytes.end(), static_cast<char*>(all.data_ptr()));
  }
  all = all.to(device);
  group.broadcast(all, root)->wait();
  all = all.cpu();
  return {static_cast<const char*>(all.data_ptr()), static_cast<size_t>(all.numel())};
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
