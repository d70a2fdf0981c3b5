// Module: a tree of named parameters, buffers and submodules. A module has no device of its own;
// its tensors do. There is no virtual forward(): each class declares its own, and holders call it
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

/// Names that a non-strict load_state_dict() did not find, and names that it did not expect.
struct IncompatibleKeys {
  /// Dotted names, as in state_dict().
  std::vector<std::string> missing_keys, unexpected_keys;
};

struct QuantizableWeight;

/// Base of all modules. Copies of a Module share its tensors and submodules; clone() copies them.
class AMBIT_API Module : public std::enable_shared_from_this<Module> {
 public:
  /// The default name is that of the class, without namespace and "Impl".
  Module();
  explicit Module(std::string name);
  Module(const Module&);
  Module& operator=(const Module&);
  virtual ~Module();

  /// Return the name, for example "Linear".
  std::string name() const;
  /// Return the mode that train() set last; initially true.
  bool is_training() const { return is_training_; }

  // --- building: names must be non-empty, without dots and unused, else Error. Tensor::name()
  // becomes the dotted path, which errors quote; a tensor or module that is registered twice keeps
  // its first path.

  /// Register a tensor to train, a leaf that requires grad if `requires_grad`; return the
  /// registered tensor. An undefined tensor reserves the name of an omitted parameter. Errors:
  /// Error for a tensor that an op produced; DTypeError if requires_grad and the dtype is not
  /// floating point.
  Tensor& register_parameter(std::string name, Tensor tensor, bool requires_grad = true);
  /// Register a tensor that is moved with the module but not trained. It is saved if `persistent`.
  Tensor& register_buffer(std::string name, Tensor tensor, bool persistent = true);
  /// Register a submodule and return it. Errors: Error also for null and for a module that contains
  /// this one.
  template <class M>
  std::shared_ptr<M> register_module(std::string name, std::shared_ptr<M> module) {
    add_module(std::move(name), module);
    return module;
  }
  template <class M>
  std::shared_ptr<M> register_module(std::string name, const ModuleHolder<M>& module) {
    return register_module(std::move(name), module.ptr());
  }
  /// Replace a registered module and return the new one; members of the class still hold the old
  /// one. Errors: Error if no module has the name, for null, and for a module that contains this
  /// one.
  template <class M>
  std::shared_ptr<M> replace_module(const std::string& name, std::shared_ptr<M> module) {
    set_module(name, module);
    return module;
  }
  template <class M>
  std::shared_ptr<M> replace_module(const std::string& name, const ModuleHolder<M>& module) {
    return replace_module(name, module.ptr());
  }

  /// Unregister a submodule; members of the class may still hold it. Errors: Error if no module has
  /// the name.
  void unregister_module(std::string name);

  // --- listing: depth first, each tensor and module once, without undefined tensors; with recurse
  // including all modules below, under dotted names: "conv1.weight"
  /// Return the registered parameters.
  std::vector<Tensor> parameters(bool recurse = true) const;
  /// Return the parameters with their dotted names.
  OrderedDict<std::string, Tensor> named_parameters(bool recurse = true) const;
  /// Return the registered buffers.
  std::vector<Tensor> buffers(bool recurse = true) const;
  /// Return the buffers with their dotted names.
  OrderedDict<std::string, Tensor> named_buffers(bool recurse = true) const;
  /// Return the modules registered here, without their submodules.
  std::vector<std::shared_ptr<Module>> children() const;
  /// Return children() with the names under which they are registered.
  OrderedDict<std::string, std::shared_ptr<Module>> named_children() const { return children_; }
  /// Return this module, if include_self, and all below; names begin with `prefix`, that of this
  /// module is "" or `prefix`. Errors: Error with include_self if no shared_ptr owns this module.
  std::vector<std::shared_ptr<Module>> modules(bool include_self = true) const;
  /// Return modules() with their dotted names.
  OrderedDict<std::string, std::shared_ptr<Module>> named_modules(const std::string& prefix = {},
                                                                  bool include_self = true) const;
  /// Call `function` with this module, then with all below, once per registration; also with their
  /// paths ("" or `prefix` for this module) if it accepts them. Errors: Error from the overloads
  /// with shared_ptr if no shared_ptr owns this module.
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
  /// Switch this module and all below to training or evaluation mode.
  virtual void train(bool on = true);
  /// Switch this module and all below to evaluation mode.
  void eval() { train(false); }
  /// Reset the gradients of all parameters to undefined, or, with set_to_none false, to zero.
  void zero_grad(bool set_to_none = true);

  /// Move all parameters, their gradients and all buffers. They keep their identity, so existing
  /// optimizers stay valid. A dtype applies to floating-point tensors only. If one tensor cannot be
  /// moved, none is. Then to() of each submodule is called, so that an override can move
  /// unregistered state. Errors: DTypeError, those of Tensor::to.
  virtual void to(Device device, bool non_blocking = false);
  virtual void to(DType dtype, bool non_blocking = false);
  virtual void to(Device device, DType dtype, bool non_blocking = false);
  /// Convert floating-point tensors to float16.
  void half() { to(kHalf); }
  /// Convert floating-point tensors to bfloat16.
  void bfloat16() { to(kBFloat16); }
  /// Move to the cpu.
  void cpu() { to(kCPU); }
  /// Move to cuda:<index>.
  void cuda(int index = 0);

  /// Return parameters and persistent buffers under their dotted names, as aliases that are
  /// detached from the graph.
  StateDict state_dict() const;
  /// Copy tensors into the parameters and persistent buffers of the same names, on whatever device
  /// they are; return the missing and unexpected names. As in PyTorch, floating-point tensors are
  /// converted to the parameter's dtype, a tensor without dims accepts the first element of a 1-D
  /// tensor, and num_batches_tracked may be of any integer dtype and keeps its value if it is
  /// missing (files older than PyTorch 0.4.1).
  /// Errors: Error listing every wrong shape or dtype and, if strict, every missing and unexpected
  /// name; then nothing has changed.
  IncompatibleKeys load_state_dict(const StateDict& dict, bool strict = true);

  /// Write parameters, persistent buffers and, each as a nested archive, the submodules, in
  /// libtorch's format. Errors: those of OutputArchive.
  virtual void save(serialize::OutputArchive& archive) const;
  /// Read an archive written by save(), on whatever device the tensors are; names that the module
  /// does not have are ignored. Errors: SerializationError for a missing name, Error for a wrong
  /// shape or dtype; then no tensor has changed.
  virtual void load(serialize::InputArchive& archive);
  /// Return whether a parent module's save() includes this module; false for Functional.
  virtual bool is_serializable() const { return true; }

  /// Return a copy with its own tensors, on `device` if given. Errors: Error if the class is not a
  /// Cloneable (cloneable.h).
  virtual std::shared_ptr<Module> clone(const std::optional<Device>& device = {}) const;

  /// Return this as M, a module class or its holder, or null if of another class:
  /// `m.as<nn::Linear>()`.
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
  /// Assign a clone of `other`, which is of the same type; clone() calls it for submodules.
  virtual void assign_clone(const Module& other, const std::optional<Device>& device);
  /// First half of clone(): drop the tensors and submodules shared with the original.
  void forget_state();
  /// Second half, after reset(): copy tensors and submodules. Errors: Error if reset() registered
  /// different ones.
  void clone_state(const Module& from, const std::optional<Device>& device);
  /// Throw Error: this module and `other` are of different classes.
  [[noreturn]] void throw_other_class(const Module& other) const;
  /// For containers: return all parameters registered here, including duplicates and undefined
  /// tensors.
  const OrderedDict<std::string, Tensor>& own_parameters() const { return parameters_; }
  /// For containers: return the submodules registered here.
  const OrderedDict<std::string, std::shared_ptr<Module>>& own_modules() const { return children_; }
  /// For containers: remove a parameter.
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
  std::string name_;                  // if empty, the name is that of the class
  std::shared_ptr<NameScope> scope_;  // module and name of the first registration
  bool is_held_ = false;              // registered in another module, now or formerly
  std::shared_ptr<Module> self_;      // the module itself, while queued for destruction
  Module* next_to_destroy_ = nullptr;
  bool is_training_ = true;
};

/// Print the tree as PyTorch does: "Net(\n  (fc): Linear(in_features=2, ...)\n)".
AMBIT_API std::ostream& operator<<(std::ostream& os, const Module& module);

}  // namespace ambit::nn
