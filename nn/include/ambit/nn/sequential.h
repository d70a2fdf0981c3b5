// Sequential: modules that run in order, each on the output of the previous one.
#pragma once

#include <ambit/nn/any_module.h>
#include <ambit/nn/cloneable.h>

#include <concepts>
#include <initializer_list>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace ambit::nn {

/// A module and its name in a Sequential.
using NamedAnyModule = std::pair<std::string, AnyModule>;

/// Modules that forward() calls in order: y = m[n-1](...m[1](m[0](x))). The shapes are those of the
/// modules. The first module may have several arguments of any types; each later one has a single
/// argument, the result of the previous one. clone() copies all modules.
class AMBIT_API SequentialImpl : public Cloneable<SequentialImpl> {
 public:
  /// Hold no modules.
  SequentialImpl() = default;
  /// Hold the modules under the names "0", "1", ...
  template <class... M>
  requires(sizeof...(M) > 0 && (std::convertible_to<M, AnyModule> && ...) &&
           !(std::derived_from<std::remove_cvref_t<M>, SequentialImpl> ||
             ...)) explicit SequentialImpl(M&&... modules) {
    (push_back(AnyModule(std::forward<M>(modules))), ...);
  }
  /// Hold the modules under these names.
  explicit SequentialImpl(std::initializer_list<NamedAnyModule> modules);
  explicit SequentialImpl(const OrderedDict<std::string, AnyModule>& modules);

  /// Append a module, named by its position unless a name is given. Errors: Error for an empty
  /// module; those of register_module.
  void push_back(AnyModule module);
  void push_back(std::string name, AnyModule module);
  /// Append the modules of another Sequential, named by their positions here; both share them.
  void extend(const SequentialImpl& other);
  /// As above, for any container of pointers or holders.
  template <class Container>
  void extend(const Container& modules) {
    for (const auto& module : modules) push_back(module);
  }

  /// Run the modules and return the last one's output as Result. Each module receives ownership of
  /// its input, so a forward() with a Tensor parameter by value can release it early. Errors: Error
  /// if there are no modules or a module does not accept its input; errors of the modules.
  template <class Result = Tensor, class... Inputs>
  Result forward(Inputs&&... inputs) {
    if constexpr (std::is_same_v<Result, Tensor> && sizeof...(Inputs) == 1 &&
                  (std::is_same_v<std::remove_cvref_t<Inputs>, Tensor> && ...)) {
      return forward_one(std::forward<Inputs>(inputs)...);
    } else {
      return AnyModule::result<Result>(
          run(0, AnyModule::values_of(std::forward<Inputs>(inputs)...)));
    }
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
  Tensor forward_one(Tensor x);
  AnyValue run(size_t first, std::vector<AnyValue> inputs);

  std::vector<AnyModule> modules_;
};

/// The holder of a SequentialImpl.
class Sequential : public NamedHolder<SequentialImpl, Sequential> {
 public:
  using Impl = SequentialImpl;
  using NamedHolder<SequentialImpl, Sequential>::NamedHolder;

  Sequential() = default;
  /// Sequential({{"conv", nn::Conv2d(3, 6, 5)}, {"relu", nn::ReLU()}})
  AMBIT_API Sequential(std::initializer_list<NamedAnyModule> modules);
};

}  // namespace ambit::nn
