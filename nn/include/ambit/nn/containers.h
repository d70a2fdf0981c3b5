// ModuleDict, ParameterList, ParameterDict: modules by name, parameters by position and by name.
// They have no forward().
#pragma once

#include <ambit/nn/cloneable.h>
#include <ambit/nn/ordered_dict.h>

#include <concepts>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ambit::nn {

/// Modules by name, in insertion order. clone() copies all of them.
class AMBIT_API ModuleDictImpl : public Cloneable<ModuleDictImpl> {
 public:
  /// Hold no modules, or these, in their order.
  ModuleDictImpl() = default;
  explicit ModuleDictImpl(
      const std::vector<std::pair<std::string, std::shared_ptr<Module>>>& modules) {
    update(modules);
  }
  explicit ModuleDictImpl(const OrderedDict<std::string, std::shared_ptr<Module>>& modules) {
    for (const auto& [key, module] : modules) insert(key, module);
  }

  /// Add a module, or replace the one of that name. Errors: those of register_module.
  void insert(const std::string& key, std::shared_ptr<Module> module);
  template <class M>
  void insert(const std::string& key, const ModuleHolder<M>& module) {
    insert(key, std::shared_ptr<Module>(module.ptr()));
  }
  /// Remove a module and return it. Errors: Error if there is no module of that name.
  std::shared_ptr<Module> pop(const std::string& key) {
    std::shared_ptr<Module> module = (*this)[key];
    unregister_module(key);
    return module;
  }
  /// Remove all modules.
  void clear() {
    for (const std::string& key : keys()) unregister_module(key);
  }
  /// Add the modules, replacing those of the same names. Errors: those of register_module; the
  /// modules before it have been added.
  void update(const std::vector<std::pair<std::string, std::shared_ptr<Module>>>& modules) {
    for (const auto& [key, module] : modules) insert(key, module);
  }
  /// As above, for an OrderedDict or another ModuleDict.
  template <class Items>
  void update(const Items& modules) {
    for (const auto& item : modules) insert(item.key(), item.value());
  }

  /// Return the number of modules.
  size_t size() const { return items().size(); }
  /// Return whether there are no modules.
  bool empty() const { return size() == 0; }
  /// Return whether there is a module of this name.
  bool contains(const std::string& key) const { return items().contains(key); }
  /// Return a module. Errors of both: Error if there is no module of that name.
  std::shared_ptr<Module> operator[](const std::string& key) const { return items()[key]; }
  /// Return the module as M, a module class or its holder. Errors: also Error if it is of another
  /// class.
  template <class M>
  auto& at(const std::string& key) const {
    const std::shared_ptr<Module> found = items()[key];
    auto* module = found->template as<M>();
    if (!module) throw_other_class(*found);
    return *module;
  }
  /// Return the names, in insertion order.
  std::vector<std::string> keys() const { return items().keys(); }
  /// Return the modules, in insertion order.
  std::vector<std::shared_ptr<Module>> values() const { return children(); }
  /// Return the names with their modules, in insertion order.
  OrderedDict<std::string, std::shared_ptr<Module>> items() const { return named_children(); }
  auto begin() const { return own_modules().begin(); }
  auto end() const { return own_modules().end(); }

  void reset() override;
  std::shared_ptr<Module> clone(const std::optional<Device>& device = {}) const override;
};
AMBIT_MODULE(ModuleDict);

/// Parameters named "0", "1", ... by position.
class AMBIT_API ParameterListImpl : public Cloneable<ParameterListImpl> {
 public:
  /// Hold no parameters, or these, in their order.
  ParameterListImpl() = default;
  explicit ParameterListImpl(TensorList parameters) { extend(parameters); }
  template <std::convertible_to<Tensor>... T>
  explicit ParameterListImpl(const Tensor& first, const T&... others) {
    append(first);
    (append(others), ...);
  }

  /// Append a parameter, keeping its requires_grad. Errors: those of register_parameter.
  void append(const Tensor& parameter);
  /// Append each parameter; see append().
  void extend(TensorList parameters) {
    for (const Tensor& p : parameters) append(p);
  }

  /// Return the number of parameters.
  size_t size() const { return list_.size(); }
  /// Return whether there are no parameters.
  bool is_empty() const { return list_.empty(); }
  /// Return parameter i. Errors: IndexError.
  Tensor operator[](size_t i) const;
  /// Same as operator[].
  Tensor at(size_t i) const { return (*this)[i]; }
  /// Return all parameters; one that was added twice is listed twice.
  const std::vector<Tensor>& list() const { return list_; }
  // Iterate over (name, parameter) entries, as libtorch does.
  auto begin() const { return own_parameters().begin(); }
  auto end() const { return own_parameters().end(); }

  void reset() override;
  std::shared_ptr<Module> clone(const std::optional<Device>& device = {}) const override;

 private:
  std::vector<Tensor> list_;
};
AMBIT_MODULE(ParameterList);

/// Parameters by name, in insertion order.
class AMBIT_API ParameterDictImpl : public Cloneable<ParameterDictImpl> {
 public:
  /// Hold no parameters, or these, in their order.
  ParameterDictImpl() = default;
  explicit ParameterDictImpl(const OrderedDict<std::string, Tensor>& parameters) {
    for (const auto& [key, p] : parameters) insert(key, p);
  }

  /// Add a parameter, keeping its requires_grad. Errors: those of register_parameter.
  Tensor& insert(const std::string& key, const Tensor& parameter);
  /// Add all entries of an OrderedDict or another ParameterDict, replacing parameters of the same
  /// name. Errors: those of register_parameter; then nothing has changed.
  template <class Items>
  void update(const Items& parameters) {
    OrderedDict<std::string, Tensor> all = items_;
    for (const auto& item : parameters) {
      if (all.contains(item.key())) {
        all[item.key()] = item.value();
      } else {
        all.insert(item.key(), item.value());
      }
    }
    assign(all);
  }
  /// Remove a parameter and return it. Errors: Error if there is no parameter of that name.
  Tensor pop(const std::string& key) {
    Tensor p = items_[key];
    unregister_parameter(key);
    items_.erase(key);
    return p;
  }
  /// Remove all parameters.
  void clear() {
    for (const std::string& key : keys()) pop(key);
  }

  /// Return the number of parameters.
  size_t size() const { return items_.size(); }
  /// Return whether there are no parameters.
  bool empty() const { return size() == 0; }
  /// Return whether there is a parameter of this name.
  bool contains(const std::string& key) const { return items_.contains(key); }
  /// Return a parameter. Errors: Error if there is no parameter of that name.
  Tensor operator[](const std::string& key) const { return items_[key]; }
  /// Same as operator[].
  Tensor get(const std::string& key) const { return items_[key]; }
  /// Return the names, in insertion order.
  std::vector<std::string> keys() const { return items_.keys(); }
  /// Return all parameters; one that has two names is listed twice.
  std::vector<Tensor> values() const { return items_.values(); }
  /// Return the names with their parameters, in insertion order.
  const OrderedDict<std::string, Tensor>& items() const { return items_; }
  auto begin() const { return items_.begin(); }
  auto end() const { return items_.end(); }

  void reset() override;
  std::shared_ptr<Module> clone(const std::optional<Device>& device = {}) const override;

 private:
  void assign(const OrderedDict<std::string, Tensor>& parameters);

  OrderedDict<std::string, Tensor> items_;
};
AMBIT_MODULE(ParameterDict);

}  // namespace ambit::nn
