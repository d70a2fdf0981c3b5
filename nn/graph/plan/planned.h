// A program prepared for inputs of fixed sizes.
#pragma once

#include <ambit/detail/packed_constants.h>
#include <ambit/detail/planned_memory.h>

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "constants.h"
#include "library.h"
#include "memory_text.h"
#include "per_image.h"

namespace ambit::graph {

/// Packed forms of the state and of the constants, for one version of the state.
struct PackedState {
  PackedConstants forms{};
  std::vector<StateVersion> versions{};
};

/// The tensors of a graph, and constants computed from them.
struct PlannedState {
  std::vector<Tensor> tensors{};  ///< in the order of Program::state
  std::shared_ptr<Constants> constants{};
  std::shared_ptr<PackedState> packed{};
};

/// The inputs that a plan expects.
class ExpectedInputs {
 public:
  ExpectedInputs(const Program& program, TensorList inputs);
  /// Errors: Error, DTypeError, ShapeError, DeviceMismatchError.
  void check(TensorList inputs) const;
  const Scalar& number(size_t i) const { return inputs_[i].number; }

 private:
  struct Expected {
    std::string name;
    DType dtype;
    Dims sizes;
    Device device;
    bool is_number;
    Scalar number;  // its value
  };
  void check(const Expected& expected, const Tensor& input) const;

  std::vector<Expected> inputs_;
};

/// Runs a program call by call, in planned memory.
class PlannedCalls final : public Planned {
 public:
  /// Requires inputs that fit the program.
  PlannedCalls(std::shared_ptr<const Program> program, PlannedState state, TensorList inputs,
               const Mode& mode);

  std::vector<Tensor> run(TensorList inputs) override;
  const Program& program() const override { return *program_; }
  size_t memory_bytes() const override { return memory_.arena_bytes(); }
  std::string memory_text() const override {
    const size_t packed = state_.packed ? state_.packed->forms.bytes() : 0;
    return graph::memory_text(*program_, memory_, mode_.device, packed);
  }

 private:
  void find_sources();
  void find_written(TensorList inputs);
  void refresh_state();
  void refresh_packed();
  /// Return the content of a position in the state, the inputs and the constants.
  Slot content_of(size_t source, TensorList inputs) const;
  /// Compute the outputs. `run`: the run of memory_; null: memory of the backend. `keeps`: change
  /// only copies of buffers and inputs.
  std::vector<Tensor> compute(TensorList inputs, PlannedMemory::Run* run, bool keeps);
  void update(TensorList inputs);

  const std::shared_ptr<const Program> program_;
  const PlannedState state_;
  std::vector<Tensor> detached_;  // the memory of the state, without gradients
  const Mode mode_;
  const ExpectedInputs expected_;
  // Positions are those in the state, followed by the inputs and the constants.
  std::vector<size_t> sources_;         // position of each input of the block
  std::vector<size_t> update_targets_;  // position of each update's target
  std::vector<bool> is_written_;        // by position
  std::vector<bool> is_constant_;  // true for each output that is a constant, which a run copies
  PlannedMemory memory_;
  std::mutex mutex_;         // guards slots_ and the memory
  std::vector<Slot> slots_;  // by value
};

/// Runs a program on some images of the batch at a time, so that the tensors between inputs and
/// outputs fit into the caches and their memory does not grow with the batch.
class PlannedSlices final : public Planned {
 public:
  /// `slice`: images at a time, less than `images`.
  PlannedSlices(BatchProgram program, const PlannedState& state, TensorList inputs,
                const Mode& mode, int64_t images, int64_t slice);

  std::vector<Tensor> run(TensorList inputs) override;
  const Program& program() const override { return *program_; }
  size_t memory_bytes() const override;
  std::string memory_text() const override;

 private:
  std::vector<Tensor> inputs_of(TensorList inputs, int64_t first, int64_t count) const;
  /// Return outputs for all images, without values; `part`: the outputs of a slice.
  std::vector<Tensor> allocate(const std::vector<Tensor>& part) const;

  const std::shared_ptr<const Program> program_;
  const Mode mode_;
  const ExpectedInputs expected_;
  const int64_t images_, slice_;
  const std::vector<bool> is_batch_input_, is_batch_output_;
  PlannedMemory outputs_;
  std::mutex mutex_;
  std::unique_ptr<PlannedCalls> body_, rest_;
};

}  // namespace ambit::graph
