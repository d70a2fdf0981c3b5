// A program prepared for inputs of fixed sizes.
#pragma once

#include <ambit/detail/planned_memory.h>
#include <ambit/graph/plan.h>

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "nn/graph/call.h"

namespace ambit::graph {

class Planned {
 public:
  /// `state`: the tensors of the graph. The inputs fit the program.
  Planned(std::shared_ptr<const Program> program, std::vector<Tensor> state, TensorList inputs,
          const Mode& mode, const PlanOptions& options);

  std::vector<Tensor> run(TensorList inputs);
  bool has_one_input_and_output() const {
    return program_->inputs.size() == 1 && program_->outputs.size() == 1;
  }
  const Program& program() const { return *program_; }
  const PlannedMemory& memory() const { return memory_; }
  Device device() const { return mode_.device; }
  /// Return the call that step `i` of the memory belongs to; null for inputs and outputs.
  const Node* node_of_step(uint32_t i) const {
    return i == 0 || i > program_->block.nodes.size() ? nullptr : &program_->block.nodes[i - 1];
  }

 private:
  /// The dtype, sizes and device that an input or a tensor of the state must have.
  struct Expected {
    explicit Expected(const Tensor& t) : dtype(t.dtype()), sizes(t.sizes()), device(t.device()) {}
    bool fits(const Tensor& t) const {
      return t.dtype() == dtype && t.sizes() == IntArrayRef(sizes) && t.device() == device;
    }

    DType dtype;
    Dims sizes;
    Device device;
  };

  void find_sources();
  void find_written(TensorList inputs);
  void check_inputs(TensorList inputs) const;
  void check_input(size_t i, const Tensor& input) const;
  void check_state();
  /// Return the content of a position in the state followed by the inputs.
  Slot content_of(size_t source, TensorList inputs) const;
  /// Compute the outputs. `run`: that of the memory, or null. `keeps`: change only copies of
  /// buffers and inputs.
  std::vector<Tensor> compute(TensorList inputs, PlannedMemory::Run* run, bool keeps);
  void update(TensorList inputs);

  const std::shared_ptr<const Program> program_;
  std::vector<Tensor> state_;     // of the graph
  std::vector<Tensor> detached_;  // the same memory without gradients
  const Mode mode_;
  std::vector<Expected> expected_inputs_, expected_state_;
  std::vector<Scalar> numbers_;  // by input: its value if it is a number
  // Positions are those in the state followed by the inputs.
  std::vector<size_t> sources_;         // by input of the block: position
  std::vector<size_t> update_targets_;  // by update: position
  std::vector<bool> is_written_;        // by position
  PlannedMemory memory_;
  std::mutex mutex_;         // guards slots_ and the memory
  std::vector<Slot> slots_;  // by value
};

}  // namespace ambit::graph
