// find_device_mismatches: one walk over the module's tensors, one over the optimizer's.
#include <ambit/detail/printable.h>
#include <ambit/nn/device_mismatches.h>
#include <ambit/optim/optimizer.h>

#include <fmt/format.h>

#include <ostream>
#include <unordered_map>

namespace ambit::nn {
namespace {

using Kind = DeviceMismatch::Kind;

class Search {
 public:
  /// A mismatch is a tensor on a device other than `expected`.
  explicit Search(const Tensor& expected) : expected_(expected.device()) {}

  void look_at(Kind kind, const std::string& name, const Tensor& t, std::string state = {}) {
    if (!t.defined() || t.device() == expected_) return;
    mismatches_.push_back({kind, name, std::move(state), t.device(), expected_});
  }
  void look_at_parameter(const std::string& name, const Tensor& parameter) {
    look_at(Kind::parameter, name, parameter);
    look_at(Kind::gradient, name, parameter.grad());
  }
  std::vector<DeviceMismatch> result() { return std::move(mismatches_); }

 private:
  Device expected_;
  std::vector<DeviceMismatch> mismatches_;
};

// Return the names of the optimizer's parameters: as in the module, else by position.
std::vector<std::string> names_of(const std::vector<Tensor>& trained,
                                  const OrderedDict<std::string, Tensor>& held) {
  std::unordered_map<const TensorImpl*, std::string> known;
  for (const auto& [name, parameter] : held) known.emplace(parameter.impl(), name);
  std::vector<std::string> names;
  for (size_t i = 0; i < trained.size(); ++i) {
    const auto found = known.find(trained[i].impl());
    names.push_back(found != known.end() ? found->second : fmt::format("optimizer.{}", i));
  }
  return names;
}

// True for step counts, which optimizers keep on the host. They are recognised by their dtype:
// other state has its parameter's dtype.
bool is_count(const Tensor& state) { return state.dtype() == kInt64; }

std::vector<DeviceMismatch> search(const Module& module, const optim::Optimizer* optimizer) {
  const auto parameters = module.named_parameters(), buffers = module.named_buffers();
  if (parameters.is_empty() && buffers.is_empty()) return {};
  Search search((parameters.is_empty() ? buffers : parameters).begin()->value());
  for (const auto& [name, parameter] : parameters) search.look_at_parameter(name, parameter);
  for (const auto& [name, buffer] : buffers) search.look_at(Kind::buffer, name, buffer);
  if (!optimizer) return search.result();

  const std::vector<Tensor> trained = optimizer->parameters();
  const std::vector<std::string> names = names_of(trained, parameters);
  for (size_t i = 0; i < trained.size(); ++i) {
    if (!parameters.contains(names[i])) search.look_at_parameter(names[i], trained[i]);
  }
  for (const auto& [key, state] : optimizer->state_dict()) {  // "3.momentum_buffer"
    if (is_count(state)) continue;
    const size_t dot = key.find('.');
    search.look_at(Kind::optimizer_state, names[std::stoul(key.substr(0, dot))], state,
                   key.substr(dot + 1));
  }
  return search.result();
}

std::string text_of(const DeviceMismatch& mismatch) {
  switch (mismatch.kind) {
    case Kind::parameter:
      return "parameter " + mismatch.name;
    case Kind::buffer:
      return "buffer " + mismatch.name;
    case Kind::gradient:
      return "gradient of " + mismatch.name;
    case Kind::optimizer_state:
      break;
  }
  return mismatch.state + " of " + mismatch.name;
}

}  // namespace

std::vector<DeviceMismatch> find_device_mismatches(const Module& module) {
  return search(module, nullptr);
}
std::vector<DeviceMismatch> find_device_mismatches(const Module& module,
                                                   const optim::Optimizer& optimizer) {
  return search(module, &optimizer);
}

std::ostream& operator<<(std::ostream& os, const DeviceMismatch& mismatch) {
  return os << printable(text_of(mismatch)) << ": on " << mismatch.device << ", expected "
            << mismatch.expected;
}
std::ostream& operator<<(std::ostream& os, const std::vector<DeviceMismatch>& mismatches) {
  for (const DeviceMismatch& mismatch : mismatches) os << mismatch << '\n';
  return os;
}

}  // namespace ambit::nn
