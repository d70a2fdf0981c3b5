// Optimizer: parameters in groups with options, and state per parameter. A concrete optimizer
// defines its state and how a batch of parameters is updated; checks, moves of state and
// bookkeeping are here.
#pragma once

#include <ambit/serialize.h>
#include <ambit/tensor.h>
#include <ambit/value.h>

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace ambit::serialize {
class InputArchive;
class OutputArchive;
}  // namespace ambit::serialize

namespace ambit::optim {

/// Hyperparameters of one group: SGDOptions, AdamOptions, ... Functions that a user-defined class
/// does not override throw NotImplementedError, except check(), which accepts everything.
class AMBIT_API OptimizerOptions {
 public:
  virtual ~OptimizerOptions();
  /// Return a copy of these options.
  virtual std::unique_ptr<OptimizerOptions> clone() const;
  /// Return the learning rate; schedulers use it for any optimizer.
  virtual double get_lr() const;
  /// Set the learning rate; the next step checks it.
  virtual void set_lr(double lr);
  /// Read the learning rate from a tensor of one element before each step, so that a write to it
  /// changes the rate, as for `lr` in torch.optim. Schedulers and set_lr() write to it. Copies of
  /// these options share it. Errors: ShapeError.
  void bind_lr(const Tensor& lr);
  /// Return the learning rate, read from the tensor that is bound, if one is.
  double current_lr() {
    read_lr();
    return get_lr();
  }
  /// Return the momentum, or Adam's beta1, which OneCycleLR sets; nullopt if there is none.
  virtual std::optional<double> get_momentum() const { return {}; }
  /// Set the momentum. Errors: NotImplementedError if there is none.
  virtual void set_momentum(double momentum);
  /// Errors: Error naming the value that is out of range.
  virtual void check() const {}
  /// Return the options under the names of PyTorch's optimizer of the same kind.
  virtual Value::Dict values() const;
  /// Set the options from a dict with these names. Errors: SerializationError for an option that is
  /// missing, of another type, or not supported by this optimizer.
  virtual void set_values(const Value& dict);
  /// Replace each option that equals its constructor's default, and so counts as not given, by that
  /// of `defaults`, of the same class. The classes here do so; by default nothing is replaced.
  virtual void inherit(const OptimizerOptions& /*defaults*/) {}
  /// Return whether reduced floating-point parameters have float32 master copies that are updated
  /// instead: steps that are small relative to the parameter would be rounded away. Their state is
  /// then float32. Set by the option master_weights(true), which all optimizers except LBFGS have.
  bool keeps_master_weights() const { return master_weights_; }
  /// Set keeps_master_weights().
  void keep_master_weights(bool on) { master_weights_ = on; }
  /// Return whether steps use -g instead of each gradient g. Set by the option maximize(true),
  /// which all optimizers except Muon have.
  bool maximizes() const { return maximize_; }
  /// Set maximizes().
  void set_maximize(bool on) { maximize_ = on; }

 protected:
  /// Values of keeps_master_weights() and maximizes().
  bool master_weights_ = false, maximize_ = false;

 private:
  friend class Optimizer;
  void read_lr();

  Tensor lr_tensor_;         // undefined if lr is not a tensor
  double lr_of_tensor_ = 0;  // get_lr() when it was read or written
};

/// Options that are cloned by their copy constructor.
template <class Derived>
class OptimizerCloneableOptions : public OptimizerOptions {
 public:
  /// Return a copy of these options.
  std::unique_ptr<OptimizerOptions> clone() const override {
    return std::make_unique<Derived>(static_cast<const Derived&>(*this));
  }
};

/// Parameters that share options. A group without options uses the optimizer's defaults; a group
/// with options inherits those that are not given (OptimizerOptions::inherit).
class AMBIT_API OptimizerParamGroup {
 public:
  /// Group parameters, with their own options if given.
  OptimizerParamGroup(std::vector<Tensor> params);
  OptimizerParamGroup(std::vector<Tensor> params, std::unique_ptr<OptimizerOptions> options);
  OptimizerParamGroup(const OptimizerParamGroup& o);
  OptimizerParamGroup(OptimizerParamGroup&&) noexcept;
  OptimizerParamGroup& operator=(const OptimizerParamGroup&) = delete;
  OptimizerParamGroup& operator=(OptimizerParamGroup&&) noexcept;
  ~OptimizerParamGroup();

  /// Return the parameters.
  std::vector<Tensor>& params() { return params_; }
  const std::vector<Tensor>& params() const { return params_; }
  /// Return whether the group has its own options; all groups of an optimizer have.
  bool has_options() const { return options_ != nullptr; }
  /// Return the options. Errors: Error if the group has none.
  OptimizerOptions& options() const;
  /// Replace the options.
  void set_options(std::unique_ptr<OptimizerOptions> options);
  /// State that schedulers keep per group, under PyTorch's names: "initial_lr", and OneCycleLR's
  /// "max_lr", "min_lr", "max_momentum", "base_momentum". Checkpoints contain it.
  std::map<std::string, double>& schedule() { return schedule_; }
  const std::map<std::string, double>& schedule() const { return schedule_; }

 private:
  std::vector<Tensor> params_;
  std::unique_ptr<OptimizerOptions> options_;
  std::map<std::string, double> schedule_;
};

struct StateTensor;

/// State of one parameter.
struct AMBIT_API OptimizerParamState {
  /// Largest number of state tensors of a parameter.
  static constexpr size_t kMax = 4;

  std::array<Tensor, kMax> tensors;    ///< in the order of names; undefined: none yet
  Tensor master;                       ///< float32 copy of the parameter, if kept
  uint32_t master_version = 0;         ///< version of the parameter when it was set from master
  uint32_t master_replaced = 0;        ///< replacement count of the parameter's data at that time
  std::span<const StateTensor> names;  ///< the optimizer's state_tensors()
  bool fresh = true;                   ///< no update yet: tensors are uninitialised
  Tensor param;                        ///< the parameter; keeps the map's key valid

  /// Return a tensor by PyTorch's name, such as "momentum_buffer"; undefined if not created.
  /// Errors: Error for a name that this optimizer does not have.
  const Tensor& operator[](std::string_view name) const;

  // As in libtorch, where each optimizer has a class of its own for its state and the map has
  // pointers to them: `static_cast<AdamParamState&>(*optimizer.state().at(p.impl())).exp_avg()`.
  // Errors: those of operator[].
  /// Return this state.
  OptimizerParamState& operator*() { return *this; }
  const OptimizerParamState& operator*() const { return *this; }
  /// Access a member of this state.
  OptimizerParamState* operator->() { return this; }
  const OptimizerParamState* operator->() const { return this; }
  /// Return a pointer to this state.
  OptimizerParamState* get() { return this; }
  const OptimizerParamState* get() const { return this; }
  /// An empty state, which belongs to no parameter.
  OptimizerParamState() = default;
  /// Move the state out of a pointer; libtorch's map holds pointers.
  OptimizerParamState(std::unique_ptr<OptimizerParamState> state)
      : OptimizerParamState(std::move(*state)) {}
  /// Return a copy that shares the tensors.
  std::unique_ptr<OptimizerParamState> clone() const {
    return std::make_unique<OptimizerParamState>(*this);
  }
  /// Return the number of updates, 0 before the first; set it. Errors: also Error before the state
  /// exists.
  int64_t step() const;
  void step(int64_t count);
#define AMBIT_STATE(name)                                        \
  const Tensor& name() const { return (*this)[#name]; }          \
  Tensor& name() { return const_cast<Tensor&>((*this)[#name]); } \
  void name(Tensor t) { name() = std::move(t); }
  /// Return or replace the state tensor of this name. Errors: those of operator[].
  /// @{
  AMBIT_STATE(exp_avg)
  AMBIT_STATE(exp_avg_sq)
  AMBIT_STATE(max_exp_avg_sq)
  AMBIT_STATE(momentum_buffer)
  AMBIT_STATE(square_avg)
  AMBIT_STATE(grad_avg)
  AMBIT_STATE(sum)
  /// @}
#undef AMBIT_STATE
};
// libtorch's names.
using AdamParamState = OptimizerParamState;
using AdamWParamState = OptimizerParamState;
using AdagradParamState = OptimizerParamState;
using RMSpropParamState = OptimizerParamState;
using SGDParamState = OptimizerParamState;

/// A state tensor of each parameter: either of its shape, dtype (float32 with master weights) and
/// device, or a count, which state dicts store as int64 on cpu, or a number, float64 on cpu.
struct StateTensor {
  const char* name;        ///< name in PyTorch's state dict
  bool like_param = true;  ///< has the parameter's shape, dtype and device
  bool optional = false;   ///< exists only with some options
  bool is_number = false;  ///< if not like_param: a number, not a count
};

/// Base of the optimizers. Parameters are shared with the module, so step() changes the module's
/// tensors. A derived class names its state in state_tensors(), creates it in prepare(), and
/// updates a batch of parameters in update(); or it overrides step(), as in libtorch, and manages
/// its state itself.
class AMBIT_API Optimizer {
 public:
  /// Computes the loss and, by backward(), the gradients; called by step().
  using LossClosure = std::function<Tensor()>;

  virtual ~Optimizer();
  Optimizer(Optimizer&&) noexcept;
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  /// Update every parameter that has a gradient, in place and without recording; parameters of the
  /// same group, device, dtype and batch_key() are updated together. First call `closure`, if
  /// given, with gradients enabled, and return its loss, else an undefined tensor. State is moved
  /// to its parameter's device. All checks and allocations precede the first update, so after an
  /// error the step can be repeated. Errors: Error (options), DeviceMismatchError, DTypeError,
  /// ShapeError (param, grad), OutOfMemoryError; those of closure. Source:
  /// torch.optim.Optimizer.step.
  virtual Tensor step(LossClosure closure = {});
  /// Reset the gradients to undefined, or, with set_to_none false, fill them with zeros.
  void zero_grad(bool set_to_none = true);

  /// Add parameters with copies of defaults(), or with their own options; fields that equal their
  /// constructor's default count as not given and are taken from defaults(), as in libtorch 2.15:
  /// `AdamOptions().weight_decay(0.1)` sets only the weight decay. Errors: Error for options out of
  /// range or of another optimizer, and for a parameter that is undefined, not a leaf, or already
  /// added; then nothing is added.
  void add_param_group(const OptimizerParamGroup& group);
  /// Add parameters as a group with the default options. Errors: those of add_param_group().
  void add_parameters(const std::vector<Tensor>& parameters);
  /// Return the groups, for reading or setting options:
  /// `sgd.param_groups()[0].options().set_lr(0.01)`.
  std::vector<OptimizerParamGroup>& param_groups() { return param_groups_; }
  const std::vector<OptimizerParamGroup>& param_groups() const { return param_groups_; }
  /// Return the parameters of all groups, in order; state_dict() uses their positions.
  std::vector<Tensor> parameters() const;
  /// Return the number of parameters.
  size_t size() const;
  /// State by the parameter's impl().
  using StateMap = std::unordered_map<void*, OptimizerParamState>;
  /// Return the state of each parameter that was updated or prepared. A program that replaces a
  /// parameter in a group moves its state to the new one's key.
  const StateMap& state() const { return state_; }
  StateMap& state() {
    is_shared_ = true;
    return state_;
  }
  /// Return the options for groups added without options; changing them does not affect existing
  /// groups.
  OptimizerOptions& defaults() { return *defaults_; }
  const OptimizerOptions& defaults() const { return *defaults_; }
  /// Return an identifier that is unique in the process, even among destroyed optimizers. A move
  /// transfers it.
  uint64_t id() const { return id_; }

  /// Return the state under "<position of the parameter>.<name>", such as "0.momentum_buffer",
  /// master weights as "0.master_weight". Options are not included.
  virtual StateDict state_dict() const;
  /// Replace the state by copies. Errors: Error listing every mismatch; then nothing has changed.
  virtual void load_state_dict(const StateDict& dict);

  /// Return options and state in the format of PyTorch's Optimizer.state_dict(), for
  /// save_checkpoint(): {"state": {0: {"momentum_buffer": tensor}}, "param_groups": [{"lr": 0.1,
  /// "params": [0]}]}.
  Value checkpoint() const;
  /// Replace options and state by those of a checkpoint of ambit or PyTorch. Options that only
  /// select PyTorch's implementation ("foreach", "fused", "capturable"), "param_names", and unknown
  /// options that are None or False are ignored. Errors: Error or SerializationError for a
  /// mismatch, naming each unknown option; then nothing has changed.
  void load_checkpoint(const Value& checkpoint);
  /// Write options and state in libtorch's archive format: `archive << optimizer`.
  void save(serialize::OutputArchive& archive) const;
  /// Replace options and state: `archive >> optimizer`. Errors: as load_checkpoint().
  void load(serialize::InputArchive& archive);

 protected:
  /// Largest numbers of state and scratch tensors of a parameter.
  static constexpr size_t kMaxState = OptimizerParamState::kMax, kScratch = 3;
  /// The state of one parameter.
  using State = OptimizerParamState;
  /// The name and kind of a state tensor.
  using StateTensor = optim::StateTensor;

  /// Operands of one update: parameters of a group on one device, of one dtype, with one
  /// batch_key(). All tensors are contiguous.
  struct Batch {
    std::vector<Tensor> params, grads;                 ///< lists of equal lengths
    std::array<std::vector<Tensor>, kMaxState> state;  ///< in the order of state_tensors()
    /// Scratch for an update by ops, scratch_tensors() of them: shaped like each parameter, but all
    /// parameters share one allocation.
    std::array<std::vector<Tensor>, kScratch> scratch;
    int64_t batch_key = 0;  ///< that of all parameters
    void clear();           ///< Release all tensors.
  };

  /// Train these groups, or these parameters as one group. Errors: those of add_param_group().
  Optimizer(const std::vector<OptimizerParamGroup>& groups,
            std::unique_ptr<OptimizerOptions> defaults);
  Optimizer(const std::vector<Tensor>& params, std::unique_ptr<OptimizerOptions> defaults);

  /// Errors: DeviceMismatchError, DTypeError, ShapeError if grad does not match param.
  static void check_gradient(const char* step, const Tensor& param, const Tensor& grad);

  virtual const char* step_name() const { return "step"; }  ///< name in error messages
  /// Return the state per parameter, at most kMaxState tensors, always the same ones.
  virtual std::span<const StateTensor> state_tensors() const { return {}; }
  /// Return the number of scratch tensors that update() uses, at most kScratch.
  virtual size_t scratch_tensors(const OptimizerOptions&) const { return 0; }
  /// Allocate the missing tensors of `state`; called for all parameters before the first update. If
  /// it throws, `state` is unchanged.
  virtual void prepare(const Tensor& /*param*/, State& /*state*/,
                       const OptimizerOptions& /*options*/) const {}
  /// Return a key, such as the step count; only parameters with equal keys are updated together.
  virtual int64_t batch_key(const State& /*state*/) const { return 0; }
  /// Update the batch's parameters and state in place, without allocating on the device. Errors:
  /// NotImplementedError if a class overrides neither this nor step().
  virtual void update(const Batch& batch, const OptimizerOptions& options) const;

  /// Return the "state" of checkpoint(): pairs of a parameter's position and a dict.
  virtual Value::Dict checkpoint_state() const;
  /// Load it. Errors: as load_checkpoint(); then nothing has changed.
  virtual void load_checkpoint_state(const Value::Dict& state);

  /// The groups, all with options.
  std::vector<OptimizerParamGroup> param_groups_;
  /// Options of groups that are added without options.
  std::unique_ptr<OptimizerOptions> defaults_;

 private:
  struct Work {  // of one step, for one parameter
    const Tensor* param;
    const OptimizerOptions* options;
    size_t position;  // index in parameters()
    State* state = nullptr;
    int64_t batch_key = 0;
    bool can_batch_with(const Work& o) const;
    /// Return the tensor that update() writes: the parameter, or its float32 master copy.
    const Tensor& updated() const { return state->master.defined() ? state->master : *param; }
  };
  /// One call of update() and its operands.
  struct Update {
    std::span<const Work> work;
    Batch batch;
  };
  void plan();
  void gather(std::span<const Work> work, Batch& batch) const;
  void apply(const Update& update) const;
  State& state_of(const Work& work);
  static void expect_lasting(const Tensor& param, State& state, const State& before);
  void move_state_to_param(const Tensor& param, State& state,
                           const OptimizerOptions& options) const;
  static bool has_master(const Tensor& param, const OptimizerOptions& options);
  static void keep_master(const Tensor& param, State& state);
  void check_group(const OptimizerParamGroup& group) const;
  void check_and_add(const OptimizerParamGroup& group);
  void copy_state(const Tensor& param, State& state) const;
  Value state_value(const State& state) const;
  static std::string misfit(const Tensor& param, DType dtype, const StateTensor& which,
                            const Tensor& value);

  uint64_t id_;
  StateMap state_;
  bool is_shared_ = false;  // the program has a reference to state_ and may erase entries
  // Kept between steps to reuse memory and avoid map lookups: a pointer into state_ for the
  // parameter at each position, and the work of the current step.
  std::vector<State*> state_at_;
  std::vector<Work> work_;
  std::vector<Update> updates_;
};

}  // namespace ambit::optim
