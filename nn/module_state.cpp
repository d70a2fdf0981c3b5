// Module functions on all tensors: to(), state dicts, clone().
#include <ambit/autograd.h>
#include <ambit/detail/memory_errors.h>
#include <ambit/detail/printable.h>
#include <ambit/detail/record.h>
#include <ambit/nn/cloneable.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/shape.h>

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "state_mismatch.h"

namespace ambit::nn {

// --- moving

namespace {

// The module whose to() an ancestor's to() is calling after it has converted all tensors.
constinit thread_local const Module* converted = nullptr;

}  // namespace

void Module::to(Device device, bool non_blocking) {
  if (converted == this) return;
  convert(device, {}, non_blocking);
  convert_below(device, non_blocking);
}
void Module::to(DType dtype, bool non_blocking) {
  if (converted == this) return;
  convert({}, dtype, non_blocking);
  convert_below(dtype, non_blocking);
}
void Module::to(Device device, DType dtype, bool non_blocking) {
  if (converted == this) return;
  convert(device, dtype, non_blocking);
  convert_below(device, dtype, non_blocking);
}

// Iterative, since the tree may be deep. A module registered twice is called twice.
template <class... Args>
void Module::convert_below(Args... args) {
  std::vector<std::shared_ptr<Module>> waiting = children();
  while (!waiting.empty()) {
    const std::shared_ptr<Module> module = std::move(waiting.back());
    waiting.pop_back();
    const Module* const before = std::exchange(converted, module.get());
    try {
      module->to(args...);
    } catch (...) {
      converted = before;
      throw;
    }
    converted = before;
    for (auto& child : module->children()) waiting.push_back(std::move(child));
  }
}
void Module::cuda(int index) { to(Device(fmt::format("cuda:{}", index))); }

// All copies are made before the first tensor is changed, so that running out of memory leaves the
// module unchanged.
void Module::convert(std::optional<Device> device, std::optional<DType> dtype,
                     bool non_blocking) try {
  if (dtype && !is_floating_point(*dtype)) {
    throw DTypeError(fmt::format("to: expected a floating-point dtype for a module, got {}",
                                 ambit::name(*dtype)));
  }
  const NoGradGuard no_grad;
  std::vector<std::pair<Tensor, Tensor>> moves;
  const auto plan = [&](const Tensor& t) {
    const Device to_device = device.value_or(t.device());
    const DType to_dtype = t.is_floating_point() ? dtype.value_or(t.dtype()) : t.dtype();
    if (t.device() == to_device && t.dtype() == to_dtype) return;
    moves.emplace_back(t, t.detach().to(to_device, to_dtype, non_blocking));
  };
  for (const Tensor& parameter : parameters()) {
    plan(parameter);
    if (parameter.grad().defined()) plan(parameter.grad());
  }
  for (const Tensor& buffer : buffers()) plan(buffer);
  for (const auto& [tensor, moved] : moves) tensor.set_data(moved);
} catch (const std::bad_alloc&) {
  throw_out_of_host_memory("to");
}

// --- state dict

bool Module::is_persistent(const std::string& buffer) const {
  return std::find(not_persistent_.begin(), not_persistent_.end(), buffer) == not_persistent_.end();
}

// Tensors of a module registered twice are listed under both names, as in PyTorch, so that the
// names in a checkpoint do not depend on sharing.
StateDict Module::state_dict() const try {
  StateDict dict;
  visit([&dict](const std::string& prefix, const Module& module) {
    const auto add = [&](const std::string& name, const Tensor& tensor) {
      if (tensor.defined()) dict.emplace_back(prefix + name, tensor.detach());
    };
    for (const auto& [name, tensor] : module.parameters_) add(name, tensor);
    for (const auto& [name, tensor] : module.buffers_) {
      if (module.is_persistent(name)) add(name, tensor);
    }
  });
  return dict;
} catch (const std::bad_alloc&) {
  throw_out_of_host_memory("state_dict");
}

namespace {

std::string list(const char* what, const std::vector<std::string>& names) {
  return names.empty() ? ""
                       : fmt::format("\n  {}: {}", what,
                                     printable(fmt::format("{}", fmt::join(names, ", "))));
}

}  // namespace

namespace {

// Return `value` converted so that copying it into `target` allocates nothing. All failures happen
// here, before the first tensor of a module changes.
Tensor ready_to_copy(const Tensor& value, const Tensor& target) {
  check_in_place("load_state_dict", target);
  if (target.is_meta()) {  // meta tensors have no memory to copy into: `target` adopts this copy
    return value.detach().to(value.device(), target.dtype(), false, /*copy=*/true).contiguous();
  }
  Tensor ready = value.detach().to(target.dtype());
  if (target.device() != value.device()) {
    ready = target.is_contiguous() ? ready.contiguous() : ready.to(target.device());
  }
  for (const Tensor& t : {ready, target}) t.storage()->make_row_major();
  return ready;
}

}  // namespace

IncompatibleKeys Module::load_state_dict(const StateDict& dict, bool strict) {
  return typed_memory_errors("load_state_dict", [&] { return check_and_load(dict, strict); });
}

IncompatibleKeys Module::check_and_load(const StateDict& dict, bool strict) {
  IncompatibleKeys keys;
  std::string wrong;
  std::vector<std::pair<Tensor, Tensor>> copies;
  std::unordered_map<std::string, Tensor> values;
  for (const auto& [name, value] : dict) {
    if (!values.emplace(name, value).second)
      wrong += fmt::format("\n  {}: given twice", printable(name));
  }
  std::unordered_map<std::string, Tensor> on_meta;  // state_dict() returns aliases
  visit([&on_meta](const std::string& prefix, const Module& module) {
    for (const Tensors Module::*member : {&Module::parameters_, &Module::buffers_}) {
      for (const auto& [name, tensor] : module.*member) {
        if (tensor.defined() && tensor.is_meta()) on_meta.emplace(prefix + name, tensor);
      }
    }
  });
  std::unordered_set<std::string> known;
  for (const auto& [name, alias] : state_dict()) {
    const auto meta = on_meta.find(name);
    const Tensor& target = meta == on_meta.end() ? alias : meta->second;
    known.insert(name);
    const auto value = values.find(name);
    if (value != values.end()) {
      Tensor fits = fitted(target, value->second);
      wrong += state_mismatch(name, target, fits);
      copies.emplace_back(target, std::move(fits));
    } else if (!is_batch_count(name, target)) {
      keys.missing_keys.push_back(name);
    }
  }
  for (const auto& [name, value] : dict) {
    if (!known.contains(name)) keys.unexpected_keys.push_back(name);
  }
  if (strict) {
    wrong += list("missing", keys.missing_keys) + list("unexpected", keys.unexpected_keys);
  }
  if (!wrong.empty()) {
    throw Error(fmt::format("load_state_dict: expected the tensors of {}, got{}", name(), wrong));
  }
  const NoGradGuard no_grad;
  for (auto& [target, value] : copies) value = ready_to_copy(value, target);
  for (const auto& [target, value] : copies) {
    if (target.is_meta()) {
      target.set_data(value);
    } else {
      target.copy_(value);
    }
  }
  return keys;
}

// --- cloning

std::shared_ptr<Module> Module::clone(const std::optional<Device>&) const {
  throw Error(fmt::format("clone: expected a class derived from nn::Cloneable, got {}", name()));
}

std::shared_ptr<Module> CloneableBase::clone(const std::optional<Device>& device) const {
  return typed_memory_errors("clone", [&]() -> std::shared_ptr<Module> {
    const NoGradGuard no_grad;
    const std::shared_ptr<CloneableBase> copy = copied();
    copy->forget_state();
    copy->reset();
    copy->clone_state(*this, device);
    return copy;
  });
}

void Module::assign_clone(const Module& other, const std::optional<Device>& device) {
  other.clone(device);  // throws: `other` is not Cloneable
  throw_other_class(other);
}

void Module::throw_other_class(const Module& other) const {
  throw Error(fmt::format("{}: expected a module of another class, got {}", name(), other.name()));
}

void Module::forget_state() {
  parameters_.clear();
  buffers_.clear();
  not_persistent_.clear();
  children_.clear();
  scope_ = std::make_shared<NameScope>();
}

void Module::clone_state(const Module& from, const std::optional<Device>& device) {
  bool same = children_.keys() == from.children_.keys();
  for (Tensors Module::*member : {&Module::parameters_, &Module::buffers_}) {
    const Tensors &mine = this->*member, &theirs = from.*member;
    same = same && mine.keys() == theirs.keys();
    for (size_t i = 0; same && i < mine.size(); ++i) {
      same = mine[i].value().defined() == theirs[i].value().defined();
    }
  }
  if (!same) {
    throw Error(fmt::format(
        "clone: expected reset() of {} to register what the original has, got something else",
        name()));
  }
  for (const auto& [child, source] : from.children_) {
    if (children_[child] != source) continue;
    throw Error(fmt::format(
        "clone: expected reset() of {} to create {} again, got the module of the original", name(),
        child));
  }
  for (Tensors Module::*member : {&Module::parameters_, &Module::buffers_}) {
    for (const auto& [name, source] : from.*member) {
      if (!source.defined()) continue;
      const Tensor& target = (this->*member)[name];
      target.set_data(
          source.detach().to(device.value_or(source.device()), source.dtype(), false, true));
      target.requires_grad_(source.requires_grad());
    }
  }
  for (const auto& [name, source] : from.children_) {
    Module& child = *children_[name];
    child.assign_clone(*source, device);
    place(name, child);
  }
}

}  // namespace ambit::nn
