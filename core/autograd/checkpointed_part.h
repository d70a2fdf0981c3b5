// A part of a network that is computed again in backward (activation_checkpoint.h).
#pragma once

#include <ambit/detail/record.h>
#include <ambit/random.h>

#include <functional>
#include <mutex>
#include <vector>

namespace ambit {

/// Holds a function and its inputs instead of the tensors that the function's ops save. Each Saved
/// of such an op holds its CheckpointedPart and a number: the function saves its tensors in the
/// same order each time. A CheckpointedPart is a Node only because a Saved can hold a Node; it is
/// in no graph.
class CheckpointedPart final : public Node {
 public:
  using Function = std::function<std::vector<Tensor>(const std::vector<Tensor>&)>;

  CheckpointedPart(Function function, TensorList inputs, bool preserve_rng_state);

  /// The part whose function this thread runs, or null.
  [[gnu::tls_model("initial-exec")]] static constinit thread_local CheckpointedPart* current;

  /// Call the function without saving its tensors.
  std::vector<Tensor> run(const std::vector<Tensor>& inputs);
  bool saves() const { return saves_; }  ///< false in run(), true if computed again
  /// Return the number of the next tensor that run() does not save.
  int next() { return static_cast<int>(count_++); }
  /// Keep the next tensor that is computed again.
  void keep(const Saved& saved) { kept_.push_back(saved); }
  /// Return tensor `number`; the first time, compute all of them.
  Tensor restore(int number);

  void apply(std::span<const Tensor>, std::span<Tensor>, std::span<const uint8_t>) override {}
  bool release() override { return false; }
  std::span<Edge> edges() override { return {}; }

 private:
  // Autocast and the default generator of one device.
  struct DeviceState {
    Device device;
    bool autocasts;
    DType autocast_dtype;
    Generator generator;  // a copy; undefined if random numbers are not preserved
  };

  void compute_again();

  Function function_;
  std::vector<Saved> inputs_;
  std::vector<DeviceState> devices_;
  size_t count_ = 0;
  bool saves_ = false, is_computed_ = false;
  std::vector<Saved> kept_;
  std::mutex mutex_;  // guards kept_ and is_computed_: threads may run backward of one graph
};

}  // namespace ambit
