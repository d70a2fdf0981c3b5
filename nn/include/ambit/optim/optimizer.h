// Optimizer: parameters in groups with options, and state per parameter. A concrete optimizer says
// which state it keeps and how parameters are updated, many at once; checks, moves and bookkeeping
// are here.
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

/// Hyperparameters of one group: SGDOptions, AdamOptions, ... What a program's own options do not
/// override throws NotImplementedError, but check(), which takes any.
class AMBIT_API OptimizerOptions {
 public:
  virtual ~OptimizerOptions();
  virtual std::unique_ptr<OptimizerOptions> clone() const;
  /// Return the learning rate, as schedules read it from options of any optimizer.
  virtual double get_lr() const;
  /// Set it; the next step checks it.
  virtual void set_lr(double lr);
  /// Return the momentum, or Adam's first beta, which OneCycleLR sets; none where there is none.
  virtual std::optional<double> get_momentum() const { return {}; }
  /// Set it. Errors: NotImplementedError where there is none.
  virtual void set_momentum(double momentum);
  /// Errors: Error naming the value that is out of range.
  virtual void check() const {}
  /// Return the options under the names that they have in PyTorch's optimizer of this kind.
  virtual Value::Dict values() const;
  /// Take them from a dict of those names. Errors: SerializationError for one that is missing, not
  /// of its type, or asks for what this optimizer does not do.
  virtual void set_values(const Value& dict);
  /// Replace each option that has its constructor's default, which counts as not given, by that of
  /// `defaults`, options of the same class. The classes here do so, others keep theirs.
  virtual void inherit(const OptimizerOptions& /*defaults*/) {}
  /// Whether 16-bit parameters have copies in float32, which are what is updated: a step that is
  /// small beside the parameter would be rounded away. Their state is float32 then. Set by
  /// master_weights(true) of the options of SGD, Adam, AdamW, Adagrad and RMSprop.
  bool keeps_master_weights() const { return master_weights_; }
  void keep_master_weights(bool on) { master_weights_ = on; }

 protected:
  bool master_weights_ = false;
};

/// Options that are cloned by their copy constructor.
template <class Derived>
class OptimizerCloneableOptions : public OptimizerOptions {
 public:
  std::unique_ptr<OptimizerOptions> clone() const override {
    return std::make_unique<Derived>(static_cast<const Derived&>(*this));
  }
};

/// Parameters that share options. Without options of its own a group takes the optimizer's; from
/// its own it inherits those that are not given (OptimizerOptions::inherit).
class AMBIT_API OptimizerParamGroup {
 public:
  OptimizerParamGroup(std::vector<Tensor> params);
  OptimizerParamGroup(std::vector<Tensor> params, std::unique_ptr<OptimizerOptions> options);
  OptimizerParamGroup(const OptimizerParamGroup& o);
  OptimizerParamGroup(OptimizerParamGroup&&) noexcept;
  OptimizerParamGroup& operator=(const OptimizerParamGroup&) = delete;
  OptimizerParamGroup& operator=(OptimizerParamGroup&&) noexcept;
  ~OptimizerParamGroup();

  std::vector<Tensor>& params() { return params_; }
  const std::vector<Tensor>& params() const { return params_; }
  bool has_options() const { return options_ != nullptr; }
  /// Errors: Error without options.
  OptimizerOptions& options() const;
  void set_options(std::unique_ptr<OptimizerOptions> options);
  /// What schedulers keep of the group, under PyTorch's names: "initial_lr", and OneCycleLR's
  /// "max_lr", "min_lr", "max_momentum", "base_momentum". Checkpoints hold it.
  std::map<std::string, double>& schedule() { return schedule_; }
  const std::map<std::string, double>& schedule() const { return schedule_; }

 private:
  std::vector<Tensor> params_;
  std::unique_ptr<OptimizerOptions> options_;
  std::map<std::string, double> schedule_;
};

struct StateTensor;

/// What an optimizer keeps for one parameter.
struct AMBIT_API OptimizerParamState {
  static constexpr size_t kMax = 4;

  std::array<Tensor, kMax> tensors;                  // in the order of names; undefined: not yet
  Tensor master;                                     // the parameter in float32, where that is kept
  uint32_t master_version = 0, master_replaced = 0;  // of the parameter when it was rounded to that
  std::span<const StateTensor> names;                // the optimizer's
  bool fresh = true;                                 // no update yet: what there is holds nothing
  Tensor param;                                      // whose state it is: keeps the map's key alive

  /// Return a tensor by PyTorch's name, such as "momentum_buffer"; undefined where there is none.
  /// Errors: Error for a name that this optimizer does not have.
  const Tensor& operator[](std::string_view name) const;
};

/// A tensor kept per parameter: of its shape, dtype (float32 beside master weights) and device, or
/// one number, which state dicts have as int64 on cpu.
struct StateTensor {
  const char* name;
  bool like_param = true;
  bool optional = false;  ///< kept with some options only
};

/// Base of the optimizers. Its tensors are shared with the module: what step() writes, the module
/// has. To write one: name the state in state_tensors(), make it in prepare(), and update a batch
/// of parameters in update(); or override step(), as libtorch's do, and keep what state there is.
class AMBIT_API Optimizer {
 public:
  /// Computes the loss and, by backward(), the gradients, before a step.
  using LossClosure = std::function<Tensor()>;

  virtual ~Optimizer();
  Optimizer(Optimizer&&) noexcept;
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  /// Update every parameter that has a gradient, in place and unrecorded, those of one group,
  /// device, dtype and stage together; first run `closure`, if any, with gradients on, and return
  /// its loss, else an undefined tensor. State follows a parameter that has moved. All is checked,
  /// and all memory allocated, before the first update: after an error the same step can be tried
  /// again. Errors: Error (options), DeviceMismatchError, DTypeError, ShapeError (param, grad),
  /// OutOfMemoryError; those of closure. Source: torch.optim.Optimizer.step.
  virtual Tensor step(LossClosure closure = {});
  /// Drop the gradients, or, with set_to_none false, fill them with zeros where they are.
  void zero_grad(bool set_to_none = true);

  /// Add parameters with copies of defaults(), or with options of their own: of these, fields that
  /// equal their constructor's default count as not given, and are those of defaults(), as in
  /// libtorch 2.15: `AdamOptions().weight_decay(0.1)` sets the weight decay alone. Errors: Error
  /// for options out of range or of another optimizer, and for a parameter that is undefined, not a
  /// leaf, or here already; then nothing is added.
  void add_param_group(const OptimizerParamGroup& group);
  /// Add them as a group with the default options. Errors: those of add_param_group().
  void add_parameters(const std::vector<Tensor>& parameters);
  /// Return the groups, to read or to set options: `sgd.param_groups()[0].options().set_lr(0.01)`.
  std::vector<OptimizerParamGroup>& param_groups() { return param_groups_; }
  const std::vector<OptimizerParamGroup>& param_groups() const { return param_groups_; }
  /// Return the parameters of all groups, in order: their positions are those of state_dict().
  std::vector<Tensor> parameters() const;
  /// Return how many parameters there are.
  size_t size() const;
  /// Return what is kept for each parameter that was updated or prepared for it, by its impl().
  const std::unordered_map<const TensorImpl*, OptimizerParamState>& state() const { return state_; }
  /// Return the options for groups that are added without; changing them changes no group there is.
  OptimizerOptions& defaults() { return *defaults_; }
  const OptimizerOptions& defaults() const { return *defaults_; }
  /// Return the number of this optimizer, which no other of the process has, also none that is made
  /// later at the same address. A move hands it on.
  uint64_t id() const { return id_; }

  /// Return the state under "<position of the parameter>.<name>", such as "0.momentum_buffer",
  /// master weights as "0.master_weight". Options are not part of it: the program sets them.
  virtual StateDict state_dict() const;
  /// Replace the state by copies. Errors: Error listing everything that does not fit; then nothing
  /// has changed.
  virtual void load_state_dict(const StateDict& dict);

  /// Return options and state as PyTorch's Optimizer.state_dict() has them, for save_checkpoint():
  /// {"state": {0: {"momentum_buffer": tensor}}, "param_groups": [{"lr": 0.1, "params": [0]}]}.
  Value checkpoint() const;
  /// Replace options and state by those of a checkpoint, ambit's or PyTorch's. Options that only
  /// say how PyTorch computes ("foreach", "fused", "capturable"), "param_names", and others that
  /// are None or False are passed over. Errors: Error or SerializationError for what does not fit,
  /// which names each other option that this optimizer lacks; then nothing has changed.
  void load_checkpoint(const Value& checkpoint);
  /// The same as libtorch's archives have it: `archive << optimizer`, `archive >> optimizer`.
  void save(serialize::OutputArchive& archive) const;
  void load(serialize::InputArchive& archive);

 protected:
  static constexpr size_t kMaxState = OptimizerParamState::kMax, kScratch = 2;
  using State = OptimizerParamState;
  using StateTensor = optim::StateTensor;

  /// What one update covers: parameters of a group on one device, of one dtype, at one stage.
  /// Everything is contiguous.
  struct Batch {
    std::vector<Tensor> params, grads;
    std::array<std::vector<Tensor>, kMaxState> state;  // in the order of state_tensors()
    // Room for an update by ops, as scratch_tensors() asks for: of each parameter's shape, but one
    // memory for all.
    std::array<std::vector<Tensor>, kScratch> scratch;
    int64_t stage = 0;
    void clear();
  };

  Optimizer(const std::vector<OptimizerParamGroup>& groups,
            std::unique_ptr<OptimizerOptions> defaults);
  Optimizer(const std::vector<Tensor>& params, std::unique_ptr<OptimizerOptions> defaults);

  /// Errors: DeviceMismatchError, DTypeError, ShapeError where grad is not as param is.
  static void check_gradient(const char* step, const Tensor& param, const Tensor& grad);

  virtual const char* step_name() const { return "step"; }  ///< as errors name it
  /// Return what is kept per parameter, kMaxState at most, always the same.
  virtual std::span<const StateTensor> state_tensors() const { return {}; }
  /// Return how many scratch tensors update() takes, kScratch at most.
  virtual size_t scratch_tensors(const OptimizerOptions&) const { return 0; }
  /// Allocate what `state` lacks: a step allocates for all parameters before it updates the first.
  /// Where it throws, `state` is as it was.
  virtual void prepare(const Tensor& /*param*/, State& /*state*/,
                       const OptimizerOptions& /*options*/) const {}
  /// Return what tells apart parameters that cannot be updated together, such as their steps.
  virtual int64_t stage(const State& /*state*/) const { return 0; }
  /// Write the batch's parameters and state in place, without allocating on the device. Errors:
  /// NotImplementedError of an optimizer that overrides neither this nor step().
  virtual void update(const Batch& batch, const OptimizerOptions& options) const;

  /// Return what checkpoint() has as "state", and take it over: pairs of a parameter's position and
  /// a dict. Errors: as load_checkpoint(); then nothing has changed.
  virtual Value::Dict checkpoint_state() const;
  virtual void load_checkpoint_state(const Value::Dict& state);

  std::vector<OptimizerParamGroup> param_groups_;
  std::unique_ptr<OptimizerOptions> defaults_;

 private:
  struct Work {  // of a step, for one parameter
    const Tensor* param;
    const OptimizerOptions* options;
    size_t position;  // of the parameter among all
    State* state = nullptr;
    int64_t stage = 0;
    bool goes_with(const Work& o) const;
    /// Return what update() writes: the parameter, or its copy in float32.
    const Tensor& updated() const { return state->master.defined() ? state->master : *param; }
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
  static void expect_lasting(const Tensor& param, State& state, const State& before);
  void follow(const Tensor& param, State& state, const OptimizerOptions& options) const;
  static bool has_master(const Tensor& param, const OptimizerOptions& options);
  static void keep_master(const Tensor& param, State& state);
  void check_group(const OptimizerParamGroup& group) const;
  void check_and_add(const OptimizerParamGroup& group);
  void copy_state(const Tensor& param, State& state) const;
  Value state_value(const State& state) const;
  static std::string misfit(const Tensor& param, DType dtype, const StateTensor& which,
                            const Tensor& value);

  uint64_t id_;
  std::unordered_map<const TensorImpl*, State> state_;
  // Kept between steps, for their memory and to spare the map's search: where in state_ the
  // parameter at each position has its own, and what the step at hand works on.
  std::vector<State*> state_at_;
  std::vector<Work> work_;
  std::vector<Update> updates_;
};

}  // namespace ambit::optim
