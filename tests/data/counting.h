// A dataset with distinguishable samples, and the batches that a loader makes of it.
#pragma once

#include <ambit/data/data.h>
#include <ambit/ops/creation.h>

#include <cstdint>
#include <optional>
#include <vector>

/// Sample i is ([i, -i], i).
class Counting : public ambit::data::datasets::Dataset<Counting> {
 public:
  explicit Counting(size_t size) : size_(size) {}
  ambit::data::Example<> get(size_t i) override {
    const auto v = static_cast<int64_t>(i);
    return {ambit::tensor({v, -v}, ambit::kFloat32), ambit::tensor(v)};
  }
  std::optional<size_t> size() const override { return size_; }

 private:
  size_t size_;
};

/// Return the targets of all batches.
template <class Loader>
std::vector<std::vector<int64_t>> targets_of(Loader& loader) {
  std::vector<std::vector<int64_t>> out;
  for (auto& batch : loader) {
    out.emplace_back();
    for (int64_t i = 0; i < batch.target.size(0); ++i) {
      out.back().push_back(batch.target[i].template item<int64_t>());
    }
  }
  return out;
}
