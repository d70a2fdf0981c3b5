// Sequential, ModuleList, ModuleDict, ParameterList, ParameterDict and Functional.
#include <ambit/detail/memory_errors.h>
#include <ambit/error.h>
#include <ambit/nn/containers.h>
#include <ambit/nn/functional_module.h>
#include <ambit/nn/module_list.h>
#include <ambit/nn/sequential.h>

#include <fmt/format.h>

namespace ambit::nn {
namespace {

void check_index(const char* what, size_t i, size_t size) {
  if (i >= size) {
    throw IndexError(fmt::format("{}: expected an index below its size {}, got {}", what, size, i));
  }
}

}  // namespace

// --- Sequential

Sequential::Sequential(std::initializer_list<NamedAnyModule> modules)
    : NamedHolder(std::make_shared<SequentialImpl>(modules)) {}

SequentialImpl::SequentialImpl(std::initializer_list<NamedAnyModule> modules) {
  for (const auto& [name, module] : modules) push_back(name, module);
}

SequentialImpl::SequentialImpl(const OrderedDict<std::string, AnyModule>& modules) {
  for (const auto& [name, module] : modules) push_back(name, module);
}

void SequentialImpl::push_back(AnyModule module) {
  push_back(std::to_string(modules_.size()), std::move(module));
}

void SequentialImpl::push_back(std::string name, AnyModule module) {
  register_module(std::move(name), module.ptr());
  modules_.push_back(std::move(module));
}

void SequentialImpl::extend(const SequentialImpl& other) {
  for (size_t i = 0, n = other.size(); i < n; ++i) push_back(other.modules_[i]);
}

Tensor SequentialImpl::forward_one(Tensor x) {
  if (modules_.empty()) throw Error("Sequential: expected at least one module, got none");
  for (size_t i = 0; i < modules_.size(); ++i) {
    const AnyModule& module = modules_[i];
    if (!module.forward_) return AnyModule::result<Tensor>(run(i, {AnyValue(std::move(x))}));
    x = module.forward_(*module.module_, std::move(x));
  }
  return x;
}

AnyValue SequentialImpl::run(size_t first, std::vector<AnyValue> inputs) {
  if (modules_.empty()) throw Error("Sequential: expected at least one module, got none");
  for (size_t i = first;; ++i) {
    AnyValue y = modules_[i].call(std::move(inputs));
    if (i + 1 == modules_.size()) return y;
    inputs.assign(1, std::move(y));
  }
}

std::shared_ptr<Module> SequentialImpl::ptr(size_t i) const {
  check_index("Sequential", i, size());
  return modules_[i].ptr();
}

// The modules are the only state, and clone() copies them.
void SequentialImpl::reset() {}

std::shared_ptr<Module> SequentialImpl::clone(const std::optional<Device>& device) const {
  return typed_memory_errors("clone", [&] {
    auto copy = std::make_shared<SequentialImpl>(*this);
    copy->forget_state();
    copy->modules_.clear();
    const auto names = named_children().keys();
    for (size_t i = 0; i < size(); ++i) copy->push_back(names[i], modules_[i].clone(device));
    return copy;
  });
}

// --- ModuleList

void ModuleListImpl::push_back(std::shared_ptr<Module> module) {
  register_module(std::to_string(modules_.size()), module);
  modules_.push_back(std::move(module));
}

void ModuleListImpl::extend(const ModuleListImpl& other) {
  for (size_t i = 0, n = other.size(); i < n; ++i) push_back(other.modules_[i]);
}

std::shared_ptr<Module> ModuleListImpl::ptr(size_t i) const {
  check_index("ModuleList", i, size());
  return modules_[i];
}

// The modules are the only state, and clone() copies them.
void ModuleListImpl::reset() {}

std::shared_ptr<Module> ModuleListImpl::clone(const std::optional<Device>& device) const {
  return typed_memory_errors("clone", [&] {
    auto copy = std::make_shared<ModuleListImpl>(*this);
    copy->forget_state();
    copy->modules_.clear();
    for (const auto& module : modules_) copy->push_back(module->clone(device));
    return copy;
  });
}

// --- ModuleDict

void ModuleDictImpl::insert(const std::string& key, std::shared_ptr<Module> module) {
  if (contains(key)) {
    replace_module(key, std::move(module));
  } else {
    register_module(key, std::move(module));
  }
}

void ModuleDictImpl::reset() {}

std::shared_ptr<Module> ModuleDictImpl::clone(const std::optional<Device>& device) const {
  return typed_memory_errors("clone", [&] {
    auto copy = std::make_shared<ModuleDictImpl>(*this);
    copy->forget_state();
    for (const auto& [key, module] : items()) copy->insert(key, module->clone(device));
    return copy;
  });
}

// --- ParameterList, ParameterDict

namespace {

// Maps each tensor of the original to one tensor of the copy.
class Copies {
 public:
  explicit Copies(const std::optional<Device>& device) : device_(device) {}
  Tensor of(const Tensor& p) {
    for (const auto& [original, copy] : made_) {
      if (original.is_same(p)) return copy;
    }
    const NoGradGuard no_grad;
    Tensor copy = p.detach().to(device_.value_or(p.device()), p.dtype(), false, /*copy=*/true);
    made_.emplace_back(p, copy.requires_grad_(p.requires_grad()));
    return copy;
  }

 private:
  std::optional<Device> device_;
  std::vector<std::pair<Tensor, Tensor>> made_;
};

}  // namespace

void ParameterListImpl::append(const Tensor& parameter) {
  list_.push_back(register_parameter(std::to_string(size()), parameter, parameter.requires_grad()));
}

Tensor ParameterListImpl::operator[](size_t i) const {
  check_index("ParameterList", i, size());
  return list_[i];
}

void ParameterListImpl::reset() {}

std::shared_ptr<Module> ParameterListImpl::clone(const std::optional<Device>& device) const {
  return typed_memory_errors("clone", [&] {
    auto copy = std::make_shared<ParameterListImpl>(*this);
    copy->forget_state();
    copy->list_.clear();
    Copies copies(device);
    for (const Tensor& p : list_) copy->append(copies.of(p));
    return copy;
  });
}

Tensor& ParameterDictImpl::insert(const std::string& key, const Tensor& parameter) {
  Tensor& kept = register_parameter(key, parameter, parameter.requires_grad());
  items_.insert(key, kept);
  return kept;
}

void ParameterDictImpl::assign(const OrderedDict<std::string, Tensor>& parameters) {
  const OrderedDict<std::string, Tensor> before = items_;
  clear();
  try {
    for (const auto& [key, p] : parameters) insert(key, p);
  } catch (...) {
    clear();
    for (const auto& [key, p] : before) insert(key, p);
    throw;
  }
}

void ParameterDictImpl::reset() {}

std::shared_ptr<Module> ParameterDictImpl::clone(const std::optional<Device>& device) const {
  return typed_memory_errors("clone", [&] {
    auto copy = std::make_shared<ParameterDictImpl>(*this);
    copy->forget_state();
    copy->items_ = {};
    Copies copies(device);
    for (const auto& [key, p] : items_) copy->insert(key, copies.of(p));
    return copy;
  });
}

// --- Functional

FunctionalImpl::FunctionalImpl(Function function) : function_(std::move(function)) {}
void FunctionalImpl::reset() {}

Tensor FunctionalImpl::forward(const Tensor& input) { return function_(input); }

}  // namespace ambit::nn
