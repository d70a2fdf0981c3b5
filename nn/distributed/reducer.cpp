#include "reducer.h"

#include <ambit/autograd.h>
#include <ambit/backend/alias.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <fmt/format.h>

#include <algorithm>

namespace ambit::distributed {

Reducer::Reducer(std::vector<std::pair<std::string, Tensor>> params,
                 std::shared_ptr<ProcessGroup> group, const DistributedDataParallelOptions& options)
    : params_(std::move(params)), group_(std::move(group)), options_(options) {
  for (size_t i = 0; i < params_.size(); ++i) index_[params_[i].second.impl()] = i;
  make_buckets();
}

void Reducer::make_buckets() {
  buckets_.clear();
  slots_.assign(params_.size(), {});
  size_t bytes = 0;
  for (size_t i = params_.size(); i-- > 0;) {
    const Tensor& p = params_[i].second;
    // The first bucket to be full is small, so that the exchange starts early.
    const double whole = options_.bucket_cap_mb;
    const double cap_mb = buckets_.size() == 1 ? std::min(1.0, whole) : whole;
    const auto goes_in = [&] {
      const Tensor& first = params_[buckets_.back().params[0]].second;
      return p.dtype() == first.dtype() && p.device() == first.device() &&
             static_cast<double>(bytes + p.nbytes()) <= cap_mb * (1 << 20);
    };
    if (buckets_.empty() || !goes_in()) {
      buckets_.emplace_back();
      bytes = 0;
    }
    slots_[i] = {buckets_.size() - 1, static_cast<int64_t>(bytes / p.itemsize())};
    buckets_.back().params.push_back(i);
    bytes += p.nbytes();
  }
  for (Bucket& b : buckets_) {
    int64_t count = 0;
    for (const size_t i : b.params) count += params_[i].second.numel();
    b.flat = zeros({count}, params_[b.params[0]].second.options());
  }
}

Tensor Reducer::view(size_t param) const {
  const Slot& slot = slots_[param];
  const Tensor& p = params_[param].second;
  return alias(buckets_[slot.bucket].flat, p.sizes(), contiguous_strides(p.sizes()), slot.offset);
}

bool Reducer::begin(std::span<const Tensor> leaves, bool create_graph) {
  if (!syncs) return false;
  if (create_graph) {
    throw NotImplementedError(
        "backward: expected create_graph = false for parameters of a DistributedDataParallel, "
        "whose exchange has no gradient, got true");
  }
  const auto has_moved = [this](const Bucket& b) {
    return std::any_of(b.params.begin(), b.params.end(), [&](size_t i) {
      const Tensor& p = params_[i].second;
      return p.device() != b.flat.device() || p.dtype() != b.flat.dtype();
    });
  };
  if (std::any_of(buckets_.begin(), buckets_.end(), has_moved)) make_buckets();
  for (Slot& slot : slots_) slot.is_ready = slot.is_used = false;
  for (const Tensor& leaf : leaves) slots_[index_.at(leaf.impl())].is_used = true;
  std::string unused;
  for (size_t i = 0; i < params_.size(); ++i) {
    if (!slots_[i].is_used) unused += (unused.empty() ? "" : ", ") + params_[i].first;
  }
  if (!unused.empty() && !options_.find_unused_parameters) {
    throw AutogradError(fmt::format(
        "backward: expected a loss in which all parameters of the DistributedDataParallel take "
        "part, got one without {}; set find_unused_parameters, or no_sync()",
        unused));
  }
  for (Bucket& b : buckets_) b.pending = b.params.size();
  next_ = 0;
  for (size_t i = params_.size(); i-- > 0;) {
    if (!slots_[i].is_used) fill(i, Tensor());
  }
  start_full_buckets();
  return true;
}

// Write this rank's summand to the bucket: the gradient, if any, plus the accumulated `.grad`.
void Reducer::fill(size_t param, const Tensor& gradient) {
  const NoGradGuard no_grad;
  const Tensor to = view(param);
  const Tensor& gathered = params_[param].second.grad();
  if (!gathered.defined()) {
    gradient.defined() ? to.copy_(gradient) : to.zero_();
  } else {
    if (!gathered.is_set_to(to)) to.copy_(gathered);
    if (gradient.defined()) to.add_(gradient);
  }
  slots_[param].is_ready = true;
  --buckets_[slots_[param].bucket].pending;
}

void Reducer::ready(const Tensor& leaf, const Tensor& gradient) {
  fill(index_.at(leaf.impl()), gradient);
  // Advance pending transfers here: a separate communicator thread would compete for this core.
  for (size_t b = 0; b < next_; ++b) buckets_[b].work->is_completed();
  start_full_buckets();
}

void Reducer::start_full_buckets() {
  while (next_ < buckets_.size() && buckets_[next_].pending == 0) {
    Bucket& b = buckets_[next_++];
    b.work = group_->allreduce(b.flat, ReduceOp::AVG);
  }
}

// Exchange which parameters were used on any rank.
void Reducer::exchange_used() {
  const size_t n = slots_.size();
  Tensor used = zeros({static_cast<int64_t>(n)}, TensorOptions(kBool).device(kCPU));
  for (size_t i = 0; i < n; ++i) used.data_ptr<bool>()[i] = slots_[i].is_used;
  used = used.to(buckets_[0].flat.device());  // the device that the group's communicator uses
  group_->allreduce(used)->wait();
  used = used.cpu();
  for (size_t i = 0; i < n; ++i) slots_[i].is_used = used.data_ptr<bool>()[i];
}

void Reducer::end() {
  // The graph contains these parameters, but they received no gradient: it is zero.
  for (size_t i = params_.size(); i-- > 0;) {
    if (!slots_[i].is_ready) fill(i, Tensor());
  }
  start_full_buckets();
  if (options_.find_unused_parameters) exchange_used();
  for (Bucket& b : buckets_) b.work->wait();
  for (size_t i = 0; i < params_.size(); ++i) {
    Tensor& grad = params_[i].second.mutable_grad();
    const Tensor to = view(i);
    if (slots_[i].is_used && !(grad.defined() && grad.is_set_to(to))) grad = to;
  }
  for (Bucket& b : buckets_) b.work.reset();
}

void Reducer::abandon() noexcept {
  if (!syncs) return;
  group_->abort(fmt::format("backward: expected it to succeed on rank {}, got an error there",
                            group_->rank()));
  for (Bucket& b : buckets_) b.work.reset();
}

}  // namespace ambit::distributed
