// Module's tree: registering, names and paths, walking, train and print.
#include <ambit/nn/module.h>

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <ostream>
#include <sstream>
#include <unordered_set>
#include <utility>

namespace ambit::nn {
namespace {

// Without memory there is no name: the symbol would get into files, whose modules nobody knows
// then.
std::string demangle(const char* symbol) {
  constexpr int kNoMemory = -1;
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(symbol, nullptr, nullptr, &status), std::free);
  if (status == kNoMemory) {
    throw OutOfMemoryError("Module: expected memory for the name of a class, got none left");
  }
  return text ? text.get() : symbol;
}

// "app::(anonymous namespace)::NetImpl" is Net to its users.
std::string class_name(const std::type_info& type) {
  std::string name = demangle(type.name());
  name.resize(std::min(name.size(), name.find('<')));
  if (const size_t colon = name.rfind("::"); colon != std::string::npos) name.erase(0, colon + 2);
  if (name.size() > 4 && name.ends_with("Impl")) name.resize(name.size() - 4);
  return name;
}

// The lines of a child go two columns to the right of its parent's.
std::string indent(const std::string& text) {
  std::string out;
  for (const char c : text) {
    out += c;
    if (c == '\n') out += "  ";
  }
  return out;
}

std::string join(const std::string& path, const std::string& name) {
  return path.empty() ? name : path + "." + name;
}

}  // namespace

void throw_empty_holder(const std::type_info& module) {
  throw Error(fmt::format("{}: expected a module, got an empty holder", class_name(module)));
}

Module::~Module() = default;

std::string Module::name() const { return name_.empty() ? class_name(typeid(*this)) : name_; }

// --- registering

void Module::check_name(const char* op, const std::string& name) const {
  if (name.empty() || name.find('.') != std::string::npos) {
    throw Error(fmt::format("{}: expected a name without dots, got \"{}\"", op, name));
  }
  if (parameters_.contains(name) || buffers_.contains(name) || children_.contains(name)) {
    throw Error(fmt::format("{}: expected a new name, got \"{}\", which {} has already", op, name,
                            this->name()));
  }
}

void Module::check_child(const char* op, const std::string& name, const Module* child) const {
  if (!child) throw Error(fmt::format("{}: expected a module for \"{}\", got null", op, name));
  if (child->holds(this)) {
    throw Error(fmt::format("{}: expected a module that does not hold {}, got {} for \"{}\"", op,
                            this->name(), child->name(), name));
  }
}

bool Module::holds(const Module* module) const {
  if (module == this) return true;
  return std::any_of(children_.begin(), children_.end(),
                     [module](const auto& child) { return child.value()->holds(module); });
}

std::string Module::path_to(const std::string& name) const { return join(path_, name); }

void Module::name_tensor(const std::string& name, const Tensor& tensor) const {
  if (tensor.defined() && tensor.name().empty()) tensor.set_name(path_to(name));
}

Tensor& Module::register_parameter(std::string name, Tensor tensor, bool requires_grad) {
  check_name("register_parameter", name);
  if (tensor.defined()) {
    if (!tensor.is_leaf()) {
      throw Error(
          fmt::format("register_parameter: expected a leaf for \"{}\", got the result of an "
                      "op; detach() it",
                      name));
    }
    tensor.requires_grad_(requires_grad);
    name_tensor(name, tensor);
  }
  return parameters_.insert(std::move(name), std::move(tensor));
}

Tensor& Module::register_buffer(std::string name, Tensor tensor, bool persistent) {
  check_name("register_buffer", name);
  name_tensor(name, tensor);
  if (!persistent) not_persistent_.push_back(name);
  return buffers_.insert(std::move(name), std::move(tensor));
}

void Module::add_module(std::string name, std::shared_ptr<Module> module) {
  check_name("register_module", name);
  check_child("register_module", name, module.get());
  if (module->path_.empty()) module->place(path_to(name));
  children_.insert(std::move(name), std::move(module));
}

void Module::set_module(const std::string& name, std::shared_ptr<Module> module) {
  if (!children_.contains(name)) {
    throw Error(fmt::format("replace_module: expected the name of a module of {}, got \"{}\"",
                            this->name(), name));
  }
  check_child("replace_module", name, module.get());
  if (module->path_.empty()) module->place(path_to(name));
  children_[name] = std::move(module);
}

// Rename what was named through this module; what bears another name was registered elsewhere
// first.
void Module::place(const std::string& path) {
  const std::string before = std::exchange(path_, path);
  for (const Tensors* tensors : {&parameters_, &buffers_}) {
    for (const auto& [name, tensor] : *tensors) {
      if (tensor.defined() && tensor.name() == join(before, name)) tensor.set_name(path_to(name));
    }
  }
  for (const auto& [name, child] : children_) {
    if (child->path_ == join(before, name)) child->place(path_to(name));
  }
}

// --- walking

// A module that is registered twice is visited twice, under both prefixes.
void Module::visit(const Visitor& visitor, const std::string& prefix) const {
  visitor(prefix, *this);
  for (const auto& [name, child] : children_) child->visit(visitor, prefix + name + ".");
}

Module::Tensors Module::collect(Tensors Module::*member, bool recurse) const {
  Tensors all;
  std::unordered_set<const TensorImpl*> seen;
  const Visitor add = [&](const std::string& prefix, const Module& module) {
    for (const auto& [name, tensor] : module.*member) {
      if (tensor.defined() && seen.insert(tensor.impl()).second) all.insert(prefix + name, tensor);
    }
  };
  if (recurse) {
    visit(add);
  } else {
    add({}, *this);
  }
  return all;
}

OrderedDict<std::string, Tensor> Module::named_parameters(bool recurse) const {
  return collect(&Module::parameters_, recurse);
}
OrderedDict<std::string, Tensor> Module::named_buffers(bool recurse) const {
  return collect(&Module::buffers_, recurse);
}
std::vector<Tensor> Module::parameters(bool recurse) const {
  return named_parameters(recurse).values();
}
std::vector<Tensor> Module::buffers(bool recurse) const { return named_buffers(recurse).values(); }

std::vector<std::shared_ptr<Module>> Module::children() const { return children_.values(); }

std::vector<std::shared_ptr<Module>> Module::modules(bool include_self) const {
  return named_modules({}, include_self).values();
}

OrderedDict<std::string, std::shared_ptr<Module>> Module::named_modules(const std::string& prefix,
                                                                        bool include_self) const {
  OrderedDict<std::string, std::shared_ptr<Module>> all;
  std::unordered_set<const Module*> seen;
  const Visitor add = [&](const std::string& path, const Module& module) {
    if (!seen.insert(&module).second || (&module == this && !include_self)) return;
    const auto pointer = std::const_pointer_cast<Module>(module.weak_from_this().lock());
    if (!pointer) {
      throw Error(
          fmt::format("modules: expected {} to be held by a shared_ptr, got one that is not; "
                      "leave it out with include_self = false",
                      module.name()));
    }
    all.insert(path.empty() ? path : path.substr(0, path.size() - 1), pointer);
  };
  visit(add, prefix.empty() ? prefix : prefix + ".");
  return all;
}

void Module::apply(const std::function<void(Module&)>& function) {
  apply([&function](const std::string&, Module& module) { function(module); });
}

void Module::apply(const std::function<void(const std::string&, Module&)>& function,
                   const std::string& prefix) {
  function(prefix, *this);
  for (auto& [name, child] : children_) {
    child->apply(function, join(prefix, name));
  }
}

void Module::train(bool on) {
  is_training_ = on;
  for (auto& [name, child] : children_) child->train(on);
}

void Module::zero_grad(bool set_to_none) {
  for (const Tensor& parameter : parameters()) {
    if (!parameter.grad().defined()) continue;
    if (set_to_none) {
      parameter.mutable_grad().reset();
    } else {
      parameter.mutable_grad() = parameter.grad().detach().zero_();
    }
  }
}

// --- printing

void Module::pretty_print(std::ostream& os) const {
  os << name();
  if (children_.is_empty()) os << "()";
}

std::ostream& operator<<(std::ostream& os, const Module& module) {
  module.pretty_print(os);
  if (module.children_.is_empty()) return os;
  os << "(\n";
  for (const auto& [name, child] : module.children_) {
    std::ostringstream text;
    text << *child;
    os << "  (" << name << "): " << indent(text.str()) << "\n";
  }
  return os << ")";
}

}  // namespace ambit::nn
