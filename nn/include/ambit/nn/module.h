// Module: a tree of parameters, buffers and submodules with names. It knows no device: its tensors
// do. A module has no virtual forward(); each class declares its own, and holders call it
// (module_holder.h).
#pragma once

#include <ambit/detail/name_scope.h>
#include <ambit/nn/module_holder.h>
#include <ambit/nn/ordered_dict.h>
#include <ambit/serialize.h>
#include <ambit/tensor.h>

#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ambit::serialize {
class InputArchive;
class OutputArchive;
}  // namespace ambit::serialize

namespace ambit::nn {

/// What a state dict that was loaded without `strict` lacked, and had too much.
struct IncompatibleKeys {
  std::vector<std::string> missing_keys, unexpected_keys;
};

struct QuantizableWeight;

/// Base of all modules. Copies of a Module share its tensors and submodules; clone() makes others.
class AMBIT_API Module : public std::enable_shared_from_this<Module> {
 public:
  /// The name is the class's, without namespace and "Impl", unless one is given.
  Module();
  explicit Module(std::string name);
  Module(const Module&);
  Module& operator=(const Module&);
  virtual ~Module();

  /// Return the name: "Linear".
  std::string name() const;
  /// Return what train() set last; at first true.
  bool is_training() const { return is_training_; }

  // --- building: names are neither empty nor dotted nor taken, else Error. Tensors get their
  // dotted path as Tensor::name(), which errors quote; a tensor or module registered twice keeps
  // its first.

  /// Add a tensor that is trained, a leaf that requires grad if `requires_grad`; return it as it is
  /// kept. An undefined tensor holds the name of a parameter that is left out. Errors: Error for a
  /// tensor that an op made; DTypeError for a gradient of what is not floating point.
  Tensor& register_parameter(std::string name, Tensor tensor, bool requires_grad = true);
  /// Add a tensor that is saved and moved with the module but not trained. Not `persistent`: not
  /// saved.
  Tensor& register_buffer(std::string name, Tensor tensor, bool persistent = true);
  /// Add a submodule and return it. Errors: Error also for null and for a module that holds this
  /// one.
  template <class M>
  std::shared_ptr<M> register_module(std::string name, std::shared_ptr<M> module) {
    add_module(std::move(name), module);
    return module;
  }
  template <class M>
  std::shared_ptr<M> register_module(std::string name, const ModuleHolder<M>& module) {
    return register_module(std::move(name), module.ptr());
  }
  /// Put another module in the place of a registered one, which members of the class still hold;
  /// return it. Errors: Error where no module bears the name; for null; for one that holds this.
  template <class M>
  std::shared_ptr<M> replace_module(const std::string& name, std::shared_ptr<M> module) {
    set_module(name, module);
    return module;
  }
  template <class M>
  std::shared_ptr<M> replace_module(const std::string& name, const ModuleHolder<M>& module) {
    return replace_module(name, module.ptr());
  }

  /// Take a submodule out, which members of the class may still hold. Errors: Error where no module
  /// bears the name.
  void unregister_module(std::string name);

  // --- what there is: depth first, each tensor and module once, undefined tensors never;
  // with recurse those of all modules below too, under dotted names: "conv1.weight"
  std::vector<Tensor> parameters(bool recurse = true) const;
  OrderedDict<std::string, Tensor> named_parameters(bool recurse = true) const;
  std::vector<Tensor> buffers(bool recurse = true) const;
  OrderedDict<std::string, Tensor> named_buffers(bool recurse = true) const;
  /// Return the modules registered here, without those below them.
  std::vector<std::shared_ptr<Module>> children() const;
  OrderedDict<std::string, std::shared_ptr<Module>> named_children() const { return children_; }
  /// Return this module, unless left out, and all below, names with `prefix` in front, this one's
  /// "" or `prefix`. Errors: Error with include_self for a module that no shared_ptr holds.
  std::vector<std::shared_ptr<Module>> modules(bool include_self = true) const;
  OrderedDict<std::string, std::shared_ptr<Module>> named_modules(const std::string& prefix = {},
                                                                  bool include_self = true) const;
  /// Call `function` with this module, then with all below it, once for each time they are
  /// registered; with their paths if it takes them, "" or `prefix` for this one. Errors: Error from
  /// a function of pointers for a module that no shared_ptr holds.
  void apply(const std::function<void(Module&)>& function);
  void apply(const std::function<void(const Module&)>& function) const;
  void apply(const std::function<void(const std::string& path, Module&)>& function,
             const std::string& prefix = {});
  void apply(const std::function<void(const std::string& path, const Module&)>& function,
             const std::string& prefix = {}) const;
  void apply(const std::function<void(const std::shared_ptr<Module>&)>& function) const;
  void apply(
      const std::function<void(const std::string& path, const std::shared_ptr<Module>&)>& function,
      const std::string& prefix = {}) const;

  // --- state
  /// Switch this module and all below to training or evaluation, for layers where they differ.
  virtual void train(bool on = true);
  void eval() { train(false); }
  /// Drop the gradients of all parameters, or, with set_to_none false, zero those that are there.
  void zero_grad(bool set_to_none = true);

  /// Move all parameters, their gradients and all buffers, keeping their identity, so that an
  /// optimizer made before goes on working. A dtype is for floating-point tensors; the others keep
  /// theirs. Nothing is moved when one cannot be. Then to() of each module below is called, so that
  /// one that overrides it can move what it has not registered.
  /// Errors: DTypeError, those of Tensor::to.
  virtual void to(Device device, bool non_blocking = false);
  virtual void to(DType dtype, bool non_blocking = false);
  virtual void to(Device device, DType dtype, bool non_blocking = false);
  void half() { to(kHalf); }
  void bfloat16() { to(kBFloat16); }
  void cpu() { to(kCPU); }
  /// Move to cuda:<index>.
  void cuda(int index = 0);

  /// Return parameters and persistent buffers under their dotted names, as aliases outside the
  /// graph.
  StateDict state_dict() const;
  /// Copy tensors into the parameters and persistent buffers of those names, wherever they are;
  /// return which of the names of one side the other lacked. As in PyTorch, floating-point tensors
  /// of another dtype are converted, a tensor of no dims takes the first of one dim, a count of
  /// batches (num_batches_tracked) may be of any integer dtype, and keeps its value where it is
  /// missing: files before PyTorch 0.4.1 have none.
  /// Errors: Error listing every wrong shape or dtype and, if strict, every missing and unexpected
  /// name; then nothing has changed.
  IncompatibleKeys load_state_dict(const StateDict& dict, bool strict = true);

  /// Write parameters, persistent buffers and, each as an archive of its own, the modules below: as
  /// libtorch's do, whose archives these are. Errors: those of OutputArchive.
  virtual void save(serialize::OutputArchive& archive) const;
  /// Read what save() wrote, wherever the tensors are; names that the module has not are passed
  /// over. Errors: SerializationError for one that is not there, Error for a wrong shape or dtype;
  /// then no tensor has changed.
  virtual void load(serialize::InputArchive& archive);
  /// Return whether this module is part of what a module above it saves; functions are not.
  virtual bool is_serializable() const { return true; }

  /// Return a copy with tensors of its own, on `device` if given. Errors: Error for a class that is
  /// not a Cloneable (cloneable.h).
  virtual std::shared_ptr<Module> clone(const std::optional<Device>& device = {}) const;

  /// Return this as M, a module class or its holder, null if it is another: `m.as<nn::Linear>()`.
  template <class M>
  auto* as() {
    return dynamic_cast<typename ModuleOf<M>::type*>(this);
  }
  template <class M>
  const auto* as() const {
    return dynamic_cast<const typename ModuleOf<M>::type*>(this);
  }

  /// Print the module's own line without its submodules: "Linear(in_features=2, ...)".
  virtual void pretty_print(std::ostream& os) const;

 protected:
  /// Take over the content of a copy of `other`, which is of this type; what clone() does to
  /// children.
  virtual void assign_clone(const Module& other, const std::optional<Device>& device);
  /// First half of a clone: drop what the original still shares with this copy.
  void forget_state();
  /// Second half, behind reset(): copy tensors and submodules. Errors: Error when reset() made
  /// others.
  void clone_state(const Module& from, const std::optional<Device>& device);
  [[noreturn]] void throw_other_class(const Module& other) const;
  /// For containers: what is registered here, duplicates and undefined tensors too.
  const OrderedDict<std::string, Tensor>& own_parameters() const { return parameters_; }
  const OrderedDict<std::string, std::shared_ptr<Module>>& own_modules() const { return children_; }
  void unregister_parameter(const std::string& name) { parameters_.erase(name); }

 private:
  template <class M>
  struct ModuleOf {
    using type = M;
  };
  template <class M>
  requires requires { typename M::ContainedType; }
  struct ModuleOf<M> {
    using type = typename M::ContainedType;
  };
  using Tensors = OrderedDict<std::string, Tensor>;
  using Visitor = std::function<void(const std::string& prefix, const Module&)>;

  void add_module(std::string name, std::shared_ptr<Module> module);
  void set_module(const std::string& name, std::shared_ptr<Module> module);
  void release(const std::string& name, const std::shared_ptr<Module>& before);
  void expect_child(const char* op, const std::string& name) const;
  void check_name(const char* op, const std::string& name) const;
  void check_child(const char* op, const std::string& name, const Module* child) const;
  bool holds(const Module* module) const;
  IncompatibleKeys check_and_load(const StateDict& dict, bool strict);
  bool is_persistent(const std::string& buffer) const;
  void name_tensor(const std::string& name, const Tensor& tensor) const;
  void place(const std::string& name, Module& child) const;
  void visit(const Visitor& visitor, const std::string& prefix = {}) const;
  Tensors collect(Tensors Module::*member, bool recurse) const;
  void convert(std::optional<Device> device, std::optional<DType> dtype, bool non_blocking);
  template <class... Args>
  void convert_below(Args... args);
  void set_quantized(const QuantizableWeight& slot, const Tensor& q, const Tensor& scale);
  friend AMBIT_API std::ostream& operator<<(std::ostream& os, const Module& module);
  friend AMBIT_API std::vector<std::string> quantize_dynamic(Module& module);

  Tensors parameters_, buffers_;
  std::vector<std::string> not_persistent_;  // names of buffers
  OrderedDict<std::string, std::shared_ptr<Module>> children_;
  std::string name_;                  // empty: the class's
  std::shared_ptr<NameScope> scope_;  // where first registered
  bool is_held_ = false;              // by another module, now or once
  std::shared_ptr<Module> self_;      // while it waits for its end, the module itself
  Module* next_to_destroy_ = nullptr;
  bool is_training_ = true;
};

/// Print the tree as PyTorch does: "Net(\n  (fc): Linear(in_features=2, ...)\n)".
AMBIT_API std::ostream& operator<<(std::ostream& os, const Module& module);

}  // namespace ambit::nn
