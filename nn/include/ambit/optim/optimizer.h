// Optimizer: parameters in groups with options, and state per parameter. A concrete optimizer says
// which state it keeps and how parameters are updated, many at once; checks, moves and bookkeeping
// are here.
#pragma once

#include <ambit/serialize.h>
#include <ambit/tensor.h>
#include <ambit/value.h>

#include <array>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace ambit::optim {

/// Hyperparameters of one group: SGDOptions, AdamOptions, AdamWOptions.
class AMBIT_API OptimizerOptions {
 public:
  virtual ~OptimizerOptions();
  virtual std::unique_ptr<OptimizerOptions> clone() const = 0;
  /// Return the learning rate, as schedules read it from options of any optimizer.
  virtual double get_lr() const = 0;
  /// Set it; the next step checks it.
  virtual void set_lr(double lr) = 0;
  /// Errors: Error naming the value that is out of range.
  virtual void check() const = 0;
  /// Return the options under the names that they have in PyTorch's optimizer of this kind.
  virtual Value::Dict values() const = 0;
  /// Take them from a dict of those names. Errors: SerializationError for one that is missing, not
  /// of its type, or asks for what this optimizer does not do.
  virtual void set_values(const Value& dict) = 0;
};

/// Parameters that share options. Without options of its own a group takes the optimizer's.
class AMBIT_API OptimizerParamGroup {
 public:
  OptimizerParamGroup(std::vector<Tensor> params) : params_(std::move(params)) {}
  OptimizerParamGroup(std::vector<Tensor> params, std::unique_ptr<OptimizerOptions> options)
      : params_(std::move(params)), options_(std::move(options)) {}
  OptimizerParamGroup(const OptimizerParamGroup& o);
  OptimizerParamGroup(OptimizerParamGroup&&) = default;
  OptimizerParamGroup& operator=(const OptimizerParamGroup&) = delete;
  OptimizerParamGroup& operator=(OptimizerParamGroup&&) = default;
  ~OptimizerParamGroup();

  std::vector<Tensor>& params() { return params_; }
  const std::vector<Tensor>& params() const { return params_; }
  bool has_options() const { return options_ != nullptr; }
  /// Errors: Error without options.
  OptimizerOptions& options() const;
  void set_options(std::unique_ptr<OptimizerOptions> options) { options_ = std::move(options); }

 private:
  std::vector<Tensor> params_;
  std::unique_ptr<OptimizerOptions> options_;
};

/// Base of the optimizers. Its tensors are shared with the module: what step() writes, the module
/// has. To write one: name the state in state_tensors(), make it in prepare(), and update a batch
/// of parameters in update().
class AMBIT_API Optimizer {
 public:
  /// Computes the loss and, by backward(), the gradients, before a step.
  using LossClosure = std::function<Tensor()>;

  virtual ~Optimizer();
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  /// Update every parameter that has a gradient, in place and unrecorded, those of one group,
  /// device, dtype and stage together; first run `closure`, if any, with gradients on, and return
  /// its loss, else an undefined tensor. State follows a parameter that has moved. All is checked,
  /// and all memory allocated, before the first update: after an error the same step can be tried
  /// again. Errors: Error (options), DeviceMismatchError, DTypeError, ShapeError (param, grad),
  /// OutOfMemoryError; those of closure. Source: torch.optim.Optimizer.step.
  Tensor step(const LossClosure& closure = {});
  /// Drop the gradients, or, with set_to_none false, fill them with zeros where they are.
  void zero_grad(bool set_to_none = true);

  /// Add parameters with options of their own, or else copies of defaults(). Errors: Error for
  /// options out of range or of another optimizer, and for a parameter that is undefined, not a
  /// leaf, or here already; then nothing is added.
  void add_param_group(const OptimizerParamGroup& group);
  /// Return the groups, to read or to set options: `sgd.param_groups()[0].options().set_lr(0.01)`.
  std::vector<OptimizerParamGroup>& param_groups() { return groups_; }
  const std::vector<OptimizerParamGroup>& param_groups() const { return groups_; }
  /// Return the parameters of all groups, in order: their positions are those of state_dict().
  std::vector<Tensor> parameters() const;
  /// Return the options for groups that are added without; changing them changes no group there is.
  OptimizerOptions& defaults() { return *defaults_; }
  const OptimizerOptions& defaults() const { return *defaults_; }

  /// Return the state under "<position of the parameter>.<name>", such as "0.momentum_buffer".
  /// Options are not part of it: the program sets them.
  StateDict state_dict() const;
  /// Replace the state by copies. Errors: Error listing everything that does not fit; then nothing
  /// has changed.
  void load_state_dict(const StateDict& dict);

  /// Return options and state as PyTorch's Optimizer.state_dict() has them, for save_checkpoint():
  /// {"state": {0: {"momentum_buffer": tensor}}, "param_groups": [{"lr": 0.1, "params": [0]}]}.
  Value checkpoint() const;
  /// Replace options and state by those of a checkpoint, ambit's or PyTorch's; options that only
  /// say how PyTorch computes ("foreach", "fused") are passed over. Errors: Error or
  /// SerializationError for what does not fit; then nothing has changed.
  void load_checkpoint(const Value& checkpoint);

 protected:
  static constexpr size_t kMaxState = 3;

  /// A tensor kept per parameter: of its shape, dtype and device, or one int64 number on cpu.
  struct StateTensor {
    const char* name;
    bool like_param = true;
  };
  struct State {
    std::array<Tensor, kMaxState> tensors;  // in the order of state_tensors(); undefined: not yet
    bool fresh = true;                      // no update yet: what prepare() made holds nothing
    Tensor param;                           // whose state it is: keeps the map's key alive
  };
  /// What one update covers: parameters of a group on one device, of one dtype, at one stage.
  /// Everything is contiguous.
  struct Batch {
    std::vector<Tensor> params, grads;
    std::array<std::vector<Tensor>, kMaxState> state;  // in the order of state_tensors()
    int64_t stage = 0;
    void clear();
  };

  Optimizer(const std::vector<OptimizerParamGroup>& groups,
            std::unique_ptr<OptimizerOptions> defaults);

  virtual const char* step_name() const = 0;  ///< as errors name it
  /// Return what is kept per parameter, kMaxState at most, always the same.
  virtual std::span<const StateTensor> state_tensors() const = 0;
  /// Allocate what `state` lacks: a step allocates for all parameters before it updates the first.
  /// Where it throws, `state` is as it was.
  virtual void prepare(const Tensor& param, State& state,
                       const OptimizerOptions& options) const = 0;
  /// Return what tells apart parameters that cannot be updated together, such as their steps.
  virtual int64_t stage(const State& state) const = 0;
  /// Write the batch's parameters and state in place, all by one kernel call, without allocating.
  virtual void update(const Batch& batch, const OptimizerOptions& options) const = 0;

 private:
  struct Work {  // of a step, for one parameter
    const Tensor* param;
    const OptimizerOptions* options;
    size_t position;  // of the parameter among all
    State* state = nullptr;
    int64_t stage = 0;
    bool goes_with(const Work& o) const;
  };
  /// What goes into one update, with its operands.
  struct Update {
    std::span<const Work> work;
    Batch batch;
  };
  void plan();
  void gather(std::span<const Work> work, Batch& batch) const;
  void apply(const Update& update) const;
  State& state_of(const Work& work);
  void follow(const Tensor& param, State& state) const;
  void check_group(const OptimizerParamGroup& group) const;
  void check_and_add(const OptimizerParamGroup& group);
  void copy_state(const Tensor& param, State& state) const;
  Value state_value(const State& state) const;
  static std::string misfit(const Tensor& param, const StateTensor& which, const Tensor& value);

  std::vector<OptimizerParamGroup> groups_;
  std::unique_ptr<OptimizerOptions> defaults_;
  std::unordered_map<const TensorImpl*, State> state_;
  // Kept between steps, for their memory and to spare the map's search: where in state_ the
  // parameter at each position has its own, and what the step at hand works on.
  std::vector<State*> state_at_;
  std::vector<Work> work_;
  std::vector<Update> updates_;
};

}  // namespace ambit::optim
