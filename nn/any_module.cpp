// AnyModule and AnyValue.
#include <ambit/nn/any_module.h>

#include <cxxabi.h>
#include <fmt/format.h>

#include <cstdlib>
#include <string>

namespace ambit::nn {
namespace {

std::string name_of(const std::type_info& type) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(
      abi::__cxa_demangle(type.name(), nullptr, nullptr, &status), std::free);
  return name ? name.get() : type.name();
}

void check_held(const std::shared_ptr<Module>& module) {
  if (!module) throw Error("AnyModule: expected a module, got an empty one");
}

}  // namespace

void throw_other_type(const char* what, const std::type_info& expected, const std::type_info& got) {
  throw Error(fmt::format("{}: expected {}, got {}", what, name_of(expected), name_of(got)));
}

void AnyModule::throw_other_argument(size_t position, const std::type_info& expected,
                                     const std::type_info& got) {
  throw_other_type(fmt::format("forward: argument {}", position).c_str(), expected, got);
}

void AnyModule::throw_other_class(const std::type_info& asked) const {
  check_held(module_);
  throw_other_type("AnyModule", asked, typeid(*module_));
}

void AnyModule::check_count(size_t expected, size_t got) {
  if (expected != got) {
    throw Error(fmt::format("forward: expected {} argument{}, got {}", expected,
                            expected == 1 ? "" : "s", got));
  }
}

AnyModule::Defaults AnyModule::undefined(size_t first, size_t end) {
  Defaults all;
  for (size_t i = first; i < end; ++i) all.emplace_back(i, Tensor());
  return all;
}

void AnyModule::add(const Defaults& defaults, std::vector<AnyValue>& values) {
  for (const auto& [given, value] : defaults) {
    if (values.size() == given) values.push_back(value);
  }
}

const std::type_info& AnyModule::type_info() const {
  check_held(module_);
  const Module& module = *module_;
  return typeid(module);
}

Tensor AnyModule::forward_one(Tensor x) const {
  if (forward_) return forward_(*module_, std::move(x));
  return result<Tensor>(any_forward(std::move(x)));
}

AnyValue AnyModule::call(std::vector<AnyValue> values) const {
  check_held(module_);
  if (forward_ && values.size() == 1) {
    if (Tensor* x = values[0].try_get<Tensor>()) {
      return AnyValue(forward_(*module_, std::move(*x)));
    }
  }
  if (call_) return call_(*module_, values);
  check_count(1, values.size());
  throw_other_argument(0, typeid(Tensor), values[0].type_info());
}

AnyModule AnyModule::clone(const std::optional<Device>& device) const {
  AnyModule copy = *this;
  if (module_) copy.module_ = module_->clone(device);
  return copy;
}

}  // namespace ambit::nn
