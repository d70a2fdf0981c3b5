// Module's tree: registration, names and paths, traversal, train and printing.
#include <ambit/detail/memory_errors.h>
#include <ambit/detail/printable.h>
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

// Throws if memory runs out: the mangled symbol would be written to files as the module's name.
std::string demangle(const char* symbol) {
  constexpr int kNoMemory = -1;
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(symbol, nullptr, nullptr, &status), std::free);
  if (status == kNoMemory) {
    throw OutOfMemoryError("Module: expected free memory for the name of a class, got none");
  }
  return text ? text.get() : symbol;
}

// "app::(anonymous namespace)::NetImpl" becomes "Net".
std::string class_name(const std::type_info& type) {
  std::string name = demangle(type.name());
  name.resize(std::min(name.size(), name.find('<')));
  if (const size_t colon = name.rfind("::"); colon != std::string::npos) name.erase(0, colon + 2);
  if (name.size() > 4 && name.ends_with("Impl")) name.resize(name.size() - 4);
  return name;
}

// Indent a child's lines by two columns.
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

Module::Module() : Module(std::string()) {}
Module::Module(std::string name) : name_(std::move(name)), scope_(std::make_shared<NameScope>()) {}
Module::Module(const Module&) = default;
Module& Module::operator=(const Module&) = default;

// Children without other owners are queued instead of destroyed here, because recursion would be as
// deep as the module nesting. use_count() does not order accesses of other owners. That suffices,
// because only this function uses the two members that it writes, and the destruction of `last`
// acquires the other accesses.
Module::~Module() {
  static constinit thread_local Module* queue = nullptr;
  static constinit thread_local bool draining = false;
  for (auto& [name, child] : children_) {
    if (child.use_count() != 1) continue;
    Module* const m = child.get();
    m->next_to_destroy_ = std::exchange(queue, m);
    m->self_ = std::move(child);
  }
  if (draining) return;
  draining = true;
  while (Module* const m = queue) {
    queue = m->next_to_destroy_;
    const std::shared_ptr<Module> last = std::move(m->self_);
  }
  draining = false;
}

std::string Module::name() const { return name_.empty() ? class_name(typeid(*this)) : name_; }

// --- registration

void Module::check_name(const char* op, const std::string& name) const {
  if (name.empty() || name.find('.') != std::string::npos) {
    throw Error(fmt::format("{}: expected a name without dots, got \"{}\"", op, printable(name)));
  }
  if (parameters_.contains(name) || buffers_.contains(name) || children_.contains(name)) {
    throw Error(fmt::format("{}: expected a new name, got \"{}\", which {} has already", op,
                            printable(name), this->name()));
  }
}

void Module::check_child(const char* op, const std::string& name, const Module* child) const {
  if (!child)
    throw Error(fmt::format("{}: expected a module for \"{}\", got null", op, printable(name)));
  if (child->holds(this)) {
    throw Error(fmt::format("{}: expected a module that does not hold {}, got {} for \"{}\"", op,
                            this->name(), child->name(), printable(name)));
  }
}

bool Module::holds(const Module* module) const {
  if (module == this) return true;
  if (!module->is_held_) return false;  // a module without a parent is not contained in *this
  return std::any_of(children_.begin(), children_.end(),
                     [module](const auto& child) { return child.value()->holds(module); });
}

void Module::name_tensor(const std::string& name, const Tensor& tensor) const {
  if (tensor.defined() && tensor.name().empty()) set_name_in_scope(tensor, name, scope_);
}

// A module that is registered twice keeps its first path.
void Module::place(const std::string& name, Module& child) const {
  child.is_held_ = true;
  if (child.scope_->parent) return;
  // A module cannot contain itself, but its scope may be an ancestor, because copies of a module
  // share a scope. A scope with one reference is not an ancestor, which avoids the walk for deep
  // modules.
  if (child.scope_.use_count() > 1) {
    for (const NameScope* s = scope_.get(); s; s = s->parent.get()) {
      if (s == child.scope_.get()) return;
    }
  }
  child.scope_->name = name;
  child.scope_->parent = scope_;
}

Tensor& Module::register_parameter(std::string name, Tensor tensor, bool requires_grad) try {
  check_name("register_parameter", name);
  if (tensor.defined()) {
    if (!tensor.is_leaf()) {
      throw Error(
          fmt::format("register_parameter: expected a leaf for \"{}\", got the result of an "
                      "op; detach() it",
                      printable(name)));
    }
    tensor.requires_grad_(requires_grad);
    name_tensor(name, tensor);
  }
  return parameters_.insert(std::move(name), std::move(tensor));
} catch (const std::bad_alloc&) {
  throw_out_of_host_memory("register_parameter");
}

Tensor& Module::register_buffer(std::string name, Tensor tensor, bool persistent) try {
  check_name("register_buffer", name);
  name_tensor(name, tensor);
  if (!persistent) not_persistent_.reserve(not_persistent_.size() + 1);
  Tensor& kept = buffers_.insert(name, std::move(tensor));
  if (!persistent) not_persistent_.push_back(std::move(name));
  return kept;
} catch (const std::bad_alloc&) {
  throw_out_of_host_memory("register_buffer");
}

void Module::add_module(std::string name, std::shared_ptr<Module> module) try {
  check_name("register_module", name);
  check_child("register_module", name, module.get());
  children_.insert(name, module);
  place(name, *module);
} catch (const std::bad_alloc&) {
  throw_out_of_host_memory("register_module");
}

void Module::expect_child(const char* op, const std::string& name) const {
  if (!children_.contains(name)) {
    throw Error(fmt::format("{}: expected the name of a module of {}, got \"{}\"", op, this->name(),
                            printable(name)));
  }
}

// A removed child becomes a root again, unless it is registered here under another name.
void Module::release(const std::string& name, const std::shared_ptr<Module>& before) {
  if (before->scope_->parent != scope_ || before->scope_->name != name) return;
  before->scope_->parent = nullptr;
  before->scope_->name.clear();
  for (const auto& [other, child] : children_) {
    if (child == before) return place(other, *child);
  }
}

void Module::set_module(const std::string& name, std::shared_ptr<Module> module) try {
  expect_child("replace_module", name);
  check_child("replace_module", name, module.get());
  place(name, *module);
  const std::shared_ptr<Module> before = std::exchange(children_[name], std::move(module));
  if (children_[name] != before) release(name, before);
} catch (const std::bad_alloc&) {
  throw_out_of_host_memory("replace_module");
}

void Module::unregister_module(std::string name) {
  expect_child("unregister_module", name);
  const std::shared_ptr<Module> before = children_[name];
  children_.erase(name);
  release(name, before);
}

// --- traversal

// A module that is registered twice is visited twice, under both prefixes. Iterative, because
// nesting may be deep.
void Module::visit(const Visitor& visitor, const std::string& prefix) const {
  std::vector<std::pair<std::string, const Module*>> waiting{{prefix, this}};
  while (!waiting.empty()) {
    const auto [path, module] = std::move(waiting.back());
    waiting.pop_back();
    visitor(path, *module);
    const auto& children = module->children_.items();
    for (size_t i = children.size(); i-- > 0;) {  // so that the first child is on top of the stack
      waiting.emplace_back(path + children[i].key() + ".", children[i].value().get());
    }
  }
}

Module::Tensors Module::collect(Tensors Module::*member, bool recurse) const try {
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
} catch (const std::bad_alloc&) {
  throw_out_of_host_memory("named_parameters");
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
                                                                        bool include_self) const
    try {
  OrderedDict<std::string, std::shared_ptr<Module>> all;
  std::unordered_set<const Module*> seen;
  const Visitor add = [&](const std::string& path, const Module& module) {
    if (!seen.insert(&module).second || (&module == this && !include_self)) return;
    const auto pointer = std::const_pointer_cast<Module>(module.weak_from_this().lock());
    if (!pointer) {
      throw Error(
          fmt::format("modules: expected {} to be held by a shared_ptr, got one that is not; "
                      "pass include_self = false",
                      module.name()));
    }
    all.insert(path.empty() ? path : path.substr(0, path.size() - 1), pointer);
  };
  visit(add, prefix.empty() ? prefix : prefix + ".");
  return all;
} catch (const std::bad_alloc&) {
  throw_out_of_host_memory("named_modules");
}

void Module::apply(const std::function<void(Module&)>& function) {
  apply([&function](const std::string&, Module& module) { function(module); });
}

void Module::apply(const std::function<void(const Module&)>& function) const {
  apply([&function](const std::string&, const Module& module) { function(module); });
}

void Module::apply(const std::function<void(const std::shared_ptr<Module>&)>& function) const {
  apply(
      [&function](const std::string&, const std::shared_ptr<Module>& module) { function(module); });
}

void Module::apply(const std::function<void(const std::string&, Module&)>& function,
                   const std::string& prefix) {
  function(prefix, *this);
  for (auto& [name, child] : children_) {
    child->apply(function, join(prefix, name));
  }
}

void Module::apply(const std::function<void(const std::string&, const Module&)>& function,
                   const std::string& prefix) const {
  function(prefix, *this);
  for (const auto& [name, child] : children_) {
    std::as_const(*child).apply(function, join(prefix, name));
  }
}

void Module::apply(
    const std::function<void(const std::string&, const std::shared_ptr<Module>&)>& function,
    const std::string& prefix) const {
  const auto pointer = std::const_pointer_cast<Module>(weak_from_this().lock());
  if (!pointer) {
    throw Error(
        fmt::format("apply: expected {} to be held by a shared_ptr, got one that is not; "
                    "pass a function of Module&",
                    name()));
  }
  function(prefix, pointer);
  for (const auto& [name, child] : children_) child->apply(function, join(prefix, name));
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
    os << "  (" << printable(name) << "): " << indent(text.str()) << "\n";
  }
  return os << ")";
}

}  // namespace ambit::nn
