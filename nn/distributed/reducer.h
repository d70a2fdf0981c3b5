// Averages gradients over ranks in buckets, while backward runs. Private to nn.
#pragma once

#include <ambit/detail/leaf_listener.h>
#include <ambit/distributed/data_parallel.h>

#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ambit::distributed {

class Reducer final : public LeafGradListener {
 public:
  Reducer(std::vector<std::pair<std::string, Tensor>> params, std::shared_ptr<ProcessGroup> group,
          const DistributedDataParallelOptions& options);

  bool begin(std::span<const Tensor> leaves, bool create_graph) override;
  void ready(const Tensor& leaf, const Tensor& gradient) override;
  void end() override;
  void abandon() noexcept override;

  bool syncs = true;  // false in the scope of a NoSync

 private:
  struct Bucket {
    std::vector<size_t> params;
    Tensor flat;
    size_t pending = 0;  // number of gradients still missing
    std::shared_ptr<Work> work;
  };
  struct Slot {
    size_t bucket = 0;
    int64_t offset = 0;
    bool is_ready = false, is_used = false;
  };

  void make_buckets();
  Tensor view(size_t param) const;
  void fill(size_t param, const Tensor& gradient);
  void start_full_buckets();
  void exchange_used();

  std::vector<std::pair<std::string, Tensor>> params_;
  std::shared_ptr<ProcessGroup> group_;
  const DistributedDataParallelOptions options_;
  std::unordered_map<const TensorImpl*, size_t> index_;
  std::vector<Slot> slots_;      // one for each parameter
  std::vector<Bucket> buckets_;  // in the order of their exchange
  size_t next_ = 0;              // next bucket to start: the same on all ranks
};

}  // namespace ambit::distributed
