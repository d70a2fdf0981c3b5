// c10d::ProcessGroup: an ambit::distributed::ProcessGroup under c10d's names. Its lists contain one
// tensor, or one list of tensors, because a rank works with one device; Error for longer lists.
#pragma once

#include <torch/csrc/distributed/c10d/Work.hpp>

#include <ambit/distributed/process_group.h>
#include <ambit/error.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace c10d {

/// Collectives start and return. Errors: those of ambit::distributed::ProcessGroup.
class ProcessGroup {
 public:
  using Work = c10d::Work;
  using Tensors = std::vector<ambit::Tensor>;

  explicit ProcessGroup(std::shared_ptr<ambit::distributed::ProcessGroup> group)
      : group_(std::move(group)) {}
  virtual ~ProcessGroup() = default;

  int getRank() const { return group_->rank(); }
  int getSize() const { return group_->size(); }

  c10::intrusive_ptr<Work> broadcast(const Tensors& tensors, const BroadcastOptions& opts = {}) {
    return work(group_->broadcast(one("broadcast", tensors), root(opts)), opts);
  }
  c10::intrusive_ptr<Work> allreduce(const Tensors& tensors, const AllreduceOptions& opts = {}) {
    return work(group_->allreduce(one("allreduce", tensors), opts.reduceOp), opts);
  }
  c10::intrusive_ptr<Work> reduce(const Tensors& tensors, const ReduceOptions& opts = {}) {
    return work(group_->reduce(one("reduce", tensors), root(opts), opts.reduceOp), opts);
  }
  c10::intrusive_ptr<Work> allgather(const std::vector<Tensors>& outputs, const Tensors& inputs,
                                     const AllgatherOptions& opts = {}) {
    return work(group_->allgather(one("allgather", outputs), one("allgather", inputs)), opts);
  }
  /// Ranks other than root pass no outputs.
  c10::intrusive_ptr<Work> gather(const std::vector<Tensors>& outputs, const Tensors& inputs,
                                  const GatherOptions& opts = {}) {
    const Tensors to = outputs.empty() ? Tensors() : one("gather", outputs);
    return work(group_->gather(to, one("gather", inputs), root(opts)), opts);
  }
  /// Ranks other than root pass no inputs.
  c10::intrusive_ptr<Work> scatter(const Tensors& outputs, const std::vector<Tensors>& inputs,
                                   const ScatterOptions& opts = {}) {
    const Tensors from = inputs.empty() ? Tensors() : one("scatter", inputs);
    return work(group_->scatter(one("scatter", outputs), from, root(opts)), opts);
  }
  c10::intrusive_ptr<Work> reduce_scatter(const Tensors& outputs,
                                          const std::vector<Tensors>& inputs,
                                          const ReduceScatterOptions& opts = {}) {
    constexpr const char* kOp = "reduce_scatter";
    return work(group_->reduce_scatter(one(kOp, outputs), one(kOp, inputs), opts.reduceOp), opts);
  }
  /// outputs[r] = rank r's inputs[rank].
  c10::intrusive_ptr<Work> alltoall(const Tensors& outputs, const Tensors& inputs,
                                    const AllToAllOptions& opts = {}) {
    return work(group_->alltoall(outputs, inputs), opts);
  }
  c10::intrusive_ptr<Work> send(const Tensors& tensors, int dstRank, int tag) {
    return c10::make_intrusive<Work>(group_->send(one("send", tensors), dstRank, tag));
  }
  c10::intrusive_ptr<Work> recv(const Tensors& tensors, int srcRank, int tag) {
    return c10::make_intrusive<Work>(group_->recv(one("recv", tensors), srcRank, tag),
                                     kUnsetTimeout, srcRank);
  }
  c10::intrusive_ptr<Work> barrier(const BarrierOptions& opts = {}) {
    return work(group_->barrier(), opts);
  }

 protected:
  std::shared_ptr<ambit::distributed::ProcessGroup> group_;

 private:
  template <class T>
  static const T& one(const char* op, const std::vector<T>& list) {
    if (list.size() != 1) {
      throw ambit::Error(std::string(op) + ": expected a list of one element, got a list of " +
                         std::to_string(list.size()));
    }
    return list[0];
  }
  template <class Options>
  static int root(const Options& opts) {
    return static_cast<int>(opts.rootRank);
  }
  template <class Options>
  static c10::intrusive_ptr<Work> work(ambit::distributed::WorkPtr begun, const Options& opts) {
    return c10::make_intrusive<Work>(std::move(begun), opts.timeout);
  }
};

}  // namespace c10d
