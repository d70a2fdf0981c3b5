// ModuleList: modules of any class by position. It has no forward().
#pragma once

#include <ambit/nn/cloneable.h>

#include <concepts>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace ambit::nn {

/// Modules named "0", "1", ... by position. clone() copies all of them.
class AMBIT_API ModuleListImpl : public Cloneable<ModuleListImpl> {
 public:
  /// Hold no modules.
  ModuleListImpl() = default;
  /// Hold these modules or holders, of any classes.
  template <class... M>
  requires(sizeof...(M) > 0 && !(std::derived_from<std::remove_cvref_t<M>, ModuleListImpl> ||
                                 ...)) explicit ModuleListImpl(M&&... modules) {
    (push_back(std::forward<M>(modules)), ...);
  }

  /// Append a module, named by its position. Errors: those of register_module.
  void push_back(std::shared_ptr<Module> module);
  template <class M>
  void push_back(const ModuleHolder<M>& module) {
    push_back(std::shared_ptr<Module>(module.ptr()));
  }
  /// Own a module that is given by value: moved from, or copied.
  template <class M>
  requires std::derived_from<std::remove_cvref_t<M>, Module>
  void push_back(M&& module) {
    push_back(
        std::shared_ptr<Module>(std::make_shared<std::remove_cvref_t<M>>(std::forward<M>(module))));
  }
  /// Insert a module at position i; later ones move up by one and are renamed. Errors: also
  /// IndexError for i > size().
  void insert(size_t i, const std::shared_ptr<Module>& module) {
    if (i > size()) ptr(i);  // which throws
    push_back(module);
    modules_.pop_back();
    modules_.insert(modules_.begin() + static_cast<std::ptrdiff_t>(i), module);
    for (; i < size(); ++i) replace_module(std::to_string(i), modules_[i]);
  }
  template <class M>
  void insert(size_t i, const ModuleHolder<M>& module) {
    insert(i, std::shared_ptr<Module>(module.ptr()));
  }
  template <class M>
  requires std::derived_from<std::remove_cvref_t<M>, Module>
  void insert(size_t i, M&& module) {
    insert(i, std::shared_ptr<Module>(
                  std::make_shared<std::remove_cvref_t<M>>(std::forward<M>(module))));
  }
  /// Append the modules of another list; both lists then share them.
  void extend(const ModuleListImpl& other);
  /// As above, for any container of pointers or holders.
  template <class Container>
  void extend(const Container& modules) {
    for (const auto& module : modules) push_back(module);
  }

  /// Return the number of modules.
  size_t size() const { return modules_.size(); }
  /// Return whether there are no modules.
  bool is_empty() const { return modules_.empty(); }
  /// Return module i. Errors of both: IndexError.
  std::shared_ptr<Module> ptr(size_t i) const;
  /// Same as ptr(i).
  std::shared_ptr<Module> operator[](size_t i) const { return ptr(i); }
  /// Return module i as M, a module class or its holder. Errors: IndexError; Error if it is of
  /// another class.
  template <class M>
  auto& at(size_t i) const {
    auto* module = ptr(i)->as<M>();
    if (!module) throw_other_class(*ptr(i));
    return *module;
  }
  /// As at(), as a shared pointer.
  template <class M>
  auto ptr(size_t i) const {
    auto& module = at<M>(i);
    return std::shared_ptr<std::remove_reference_t<decltype(module)>>(ptr(i), &module);
  }
  auto begin() const { return modules_.begin(); }
  auto end() const { return modules_.end(); }

  void reset() override;
  std::shared_ptr<Module> clone(const std::optional<Device>& device = {}) const override;

 private:
  std::vector<std::shared_ptr<Module>> modules_;
};
AMBIT_MODULE(ModuleList);

}  // namespace ambit::nn
