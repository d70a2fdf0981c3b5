#include <ambit/autograd.h>
#include <ambit/detail/memory_errors.h>
#include <ambit/detail/printable.h>
#include <ambit/error.h>
#include <ambit/graph/graph.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/serialize.h>

#include <fmt/format.h>

#include <map>
#include <ostream>
#include <unordered_map>

#include "call.h"
#include "nn/graph/onnx/library.h"
#include "pt2_reader.h"
#include "pt2_writer.h"
#include "sizes.h"

namespace ambit::graph {
namespace {

constexpr size_t kMostLevels = 200;  // of a dotted name

// True if any call was exported in training mode.
bool trains(const Block& block) {
  for (const Node& node : block.nodes) {
    for (const char* name : {"training", "train", "training_mode"}) {
      const int i = parameter_index(*node.function, name);
      if (i < 0) continue;
      const Argument& a = node.arguments[static_cast<size_t>(i)];
      const bool is_constant = a.kind == Argument::Kind::flag || a.kind == Argument::Kind::integer;
      if (is_constant && a.integer != 0) return true;
    }
    for (const Argument& a : node.arguments) {
      if (a.block && trains(*a.block)) return true;
    }
  }
  return false;
}

// Check that t has the dtype and sizes that the program was exported with: they determine the
// dtypes of all other values.
void check_state(const Value& expected, const State& s, const Tensor& t, const std::string& path) {
  const auto refuse = [&](const std::string& cause) {
    throw SerializationError(
        fmt::format("graph::save: cannot write '{}': {}", one_line(path), cause));
  };
  if (t.device().is_meta()) refuse("expected tensors with values, got one on meta");
  bool fits = expected.dtype == t.dtype() && t.dim() == std::ssize(expected.sizes);
  for (size_t d = 0; fits && d < expected.sizes.size(); ++d) {
    fits = expected.sizes[d].number == t.sizes()[d];
  }
  if (fits) return;
  refuse(fmt::format("expected '{}' as {}, as the program was exported, got {}{}", s.name,
                     graph::str(expected), ambit::name(t.dtype()), ambit::str(t.sizes())));
}

bool is_onnx(const std::string& path) {
  return path.ends_with(".onnx") || file_kind(path) == "an ONNX model";
}

}  // namespace

GraphImpl::GraphImpl(std::shared_ptr<const Program> program, const std::vector<Tensor>& state)
    : Module("Graph"), program_(std::move(program)), state_(state) {
  std::map<std::string, nn::Module*> modules;  // by path
  for (size_t i = 0; i < state_.size(); ++i) register_state(i, modules);
  Module::train(trains(program_->block));
}

void GraphImpl::register_state(size_t index, std::map<std::string, nn::Module*>& modules) {
  const State& s = program_->state[index];
  const std::string& name = s.name;
  nn::Module* parent = this;
  size_t begin = 0, levels = 0;
  for (size_t dot = name.find('.'); dot != name.npos; dot = name.find('.', begin)) {
    if (++levels > kMostLevels) {
      throw Error(fmt::format("expected names of at most {} parts, got more", kMostLevels));
    }
    nn::Module*& child = modules[name.substr(0, dot)];
    if (!child) {
      const auto made = std::make_shared<nn::Module>("Module");
      parent->register_module(name.substr(begin, dot - begin), made);
      child = made.get();
    }
    parent = child;
    begin = dot + 1;
  }
  const std::string last = name.substr(begin);
  if (s.is_parameter) {
    parent->register_parameter(last, state_[index], s.requires_grad);
  } else {
    parent->register_buffer(last, state_[index], s.is_persistent);
  }
}

void GraphImpl::check_input(size_t index, const Tensor& input) const {
  const Value& expected = program_->block.values[program_->inputs[index].value];
  const bool is_number = !expected.dtype;
  const auto wrong = [&] {
    return fmt::format(
        "Graph: expected the input '{}' as {}, got {}", expected.name,
        is_number ? "int64[], an integer" : str(expected),
        input.defined() ? fmt::format("{}{}", ambit::name(input.dtype()), ambit::str(input.sizes()))
                        : "an undefined tensor");
  };
  if (!input.defined()) throw Error(wrong());
  // After to(dtype), floating-point inputs have the dtype of the parameters.
  DType dtype = expected.dtype.value_or(kInt64);
  for (size_t i = 0; i < state_.size() && is_floating_point(dtype); ++i) {
    if (!program_->state[i].is_parameter || !state_[i].is_floating_point()) continue;
    if (program_->block.values[program_->state[i].value].dtype == dtype) dtype = state_[i].dtype();
    break;
  }
  if (input.dtype() != dtype) throw DTypeError(wrong());
  const size_t dims = is_number || expected.is_open ? 0 : expected.sizes.size();
  bool fits = expected.is_open || input.dim() == static_cast<int64_t>(dims);
  for (size_t d = 0; fits && d < dims; ++d) {
    const Size& size = expected.sizes[d];
    fits = !size.expression.empty() || size.number == input.sizes()[d];
  }
  if (!fits) throw ShapeError(wrong());
}

void GraphImpl::check_sizes(TensorList inputs) const {
  Symbols symbols;
  const auto each = [&](auto visit) {
    for (size_t i = 0; i < inputs.size(); ++i) {
      const Value& expected = program_->block.values[program_->inputs[i].value];
      for (size_t d = 0; d < expected.sizes.size(); ++d) {
        visit(expected, expected.sizes[d],
              expected.dtype ? inputs[i].sizes()[d] : inputs[i].item<int64_t>());
      }
    }
  };
  each([&](const Value&, const Size& size, int64_t actual) { symbols.bind(size, actual); });
  each([&](const Value& input, const Size& size, int64_t actual) {
    const std::optional<int64_t> expected = symbols.evaluate(size);
    if (!expected || *expected == actual) return;
    throw ShapeError(fmt::format("Graph: expected the size {} = {} in the input '{}', got {}",
                                 graph::str(size), *expected, input.name, actual));
  });
  for (const auto& [symbol, value] : symbols.all()) {
    const auto range = program_->ranges.find(symbol);
    if (range == program_->ranges.end()) continue;
    const Range& r = range->second;
    if ((r.min && value < *r.min) || (r.max && value > *r.max)) {
      throw ShapeError(fmt::format("Graph: expected {} from {} to {}, got {}", symbol,
                                   r.min.value_or(0), r.max ? std::to_string(*r.max) : "any size",
                                   value));
    }
  }
}

// Check the inputs and return the mode of a run.
Mode GraphImpl::check(TensorList inputs) const {
  const Program& p = *program_;
  if (inputs.size() != p.inputs.size()) {
    throw Error(fmt::format("Graph: expected {} inputs, got {}", p.inputs.size(), inputs.size()));
  }
  for (size_t i = 0; i < inputs.size(); ++i) check_input(i, inputs[i]);
  check_sizes(inputs);
  Mode mode;
  mode.training = training_;
  if (!state_.empty()) mode.device = state_[0].device();
  for (size_t i = inputs.size(); state_.empty() && i-- > 0;) {
    if (p.block.values[p.inputs[i].value].dtype) mode.device = inputs[i].device();
  }
  return mode;
}

std::vector<Tensor> GraphImpl::forward(TensorList inputs) {
  const Mode mode = check(inputs);
  const Program& p = *program_;
  return typed_memory_errors("Graph", [&] {
    std::unordered_map<uint32_t, Tensor> given;  // the inputs to which updates are copied
    std::unordered_map<uint32_t, Slot> values;
    const auto give = [&](uint32_t v, const Tensor& t) -> Slot& {
      given.emplace(v, t);
      return values[v] = {t, {}};
    };
    for (size_t i = 0; i < state_.size(); ++i) give(p.state[i].value, state_[i]);
    for (size_t i = 0; i < inputs.size(); ++i) {
      const Input& input = p.inputs[i];
      Slot& slot = give(input.value, inputs[i]);
      if (!p.block.values[input.value].dtype) {
        slot = {{}, inputs[i].item()};
      } else if (input.is_contiguous && !input.is_written) {
        // A program exported with contiguous tensors may lack calls of contiguous() that had no
        // effect then.
        slot.tensor = inputs[i].contiguous();
      }
    }
    // The slots own the contiguous copies, which are freed after their last use.
    std::vector<Slot> slots;
    for (const uint32_t v : p.block.inputs) slots.push_back(std::move(values[v]));
    const std::vector<Slot> results = run(p.block, std::move(slots), mode);
    std::vector<Tensor> out;
    const size_t first = results.size() - p.outputs.size();  // updates come before the outputs
    for (size_t i = first; i < results.size(); ++i) {
      const Slot& r = results[i];
      out.push_back(r.number ? scalar_tensor(*r.number, TensorOptions(r.number->dtype()))
                             : r.tensor);
    }
    const NoGradGuard no_grad;
    for (size_t i = 0; i < p.updates.size(); ++i) {
      const Update& update = p.updates[i];
      if (update.counts_steps && training_ == false) continue;
      copy_(given[update.to], results[i].tensor);
    }
    return out;
  });
}

Tensor GraphImpl::forward(const Tensor& input) {
  if (program_->inputs.size() != 1 || program_->outputs.size() != 1) {
    throw Error(fmt::format(
        "Graph: expected a graph of one input and one output, got {} and {}: call forward() with a "
        "list of inputs",
        program_->inputs.size(), program_->outputs.size()));
  }
  return forward(TensorList(input))[0];
}

void GraphImpl::train(bool on) {
  Module::train(on);
  training_ = on;
}

std::shared_ptr<nn::Module> GraphImpl::clone(const std::optional<Device>& device) const {
  return typed_memory_errors("clone", [&]() -> std::shared_ptr<nn::Module> {
    std::unordered_map<const TensorImpl*, Tensor> copies;  // tied tensors stay tied
    std::vector<Tensor> state;
    for (const Tensor& t : state_) {
      Tensor& copy = copies[t.impl()];
      if (!copy.defined()) {
        const NoGradGuard no_grad;
        copy = t.detach().to(device.value_or(t.device()), t.dtype(), false, true);
      }
      state.push_back(copy);
    }
    const auto out = std::make_shared<GraphImpl>(program_, state);
    for (size_t i = 0; i < state_.size(); ++i) {
      out->state_[i].requires_grad_(state_[i].requires_grad());
    }
    out->training_ = training_;
    out->Module::train(is_training());
    return out;
  });
}

void GraphImpl::assign_clone(const nn::Module& other, const std::optional<Device>& device) {
  const std::shared_ptr<nn::Module> copy = other.clone(device);
  const auto* same = dynamic_cast<const GraphImpl*>(copy.get());
  if (!same) throw_other_class(*copy);
  *this = *same;
}

std::vector<std::string> GraphImpl::input_names() const {
  std::vector<std::string> out;
  for (const Input& input : program_->inputs) {
    out.push_back(program_->block.values[input.value].name);
  }
  return out;
}

std::vector<std::string> GraphImpl::output_names() const {
  std::vector<std::string> out;
  for (const Argument& a : program_->outputs) {
    out.push_back(a.kind == Argument::Kind::value
                      ? program_->block.values[static_cast<size_t>(a.integer)].name
                      : "");
  }
  return out;
}

void GraphImpl::pretty_print(std::ostream& os) const {
  os << fmt::format("Graph(inputs={}, outputs={}, calls={})", program_->inputs.size(),
                    program_->outputs.size(), program_->block.nodes.size());
}

Graph load(const std::string& path, Device map_location) {
  LoadedProgram loaded = is_onnx(path) ? onnx::library().read(path) : read_pt2(path);
  std::unordered_map<const TensorImpl*, Tensor> moved;
  for (Tensor& t : loaded.state) {
    Tensor& there = moved[t.impl()];
    if (!there.defined()) there = t.to(map_location);
    t = there;
  }
  try {
    return Graph(std::make_shared<const Program>(std::move(loaded.program)), loaded.state);
  } catch (const OutOfMemoryError&) {
    throw;
  } catch (const Error& e) {  // the module refuses a name
    throw SerializationError(
        fmt::format("graph::load: cannot read '{}': {}", one_line(path), one_line(e.what())));
  }
}

void save(const GraphImpl& net, const std::string& path) {
  const bool is_onnx = path.ends_with(".onnx");
  if (!is_onnx && !path.ends_with(".pt2")) {
    throw SerializationError(fmt::format(
        "graph::save: expected a name that ends in .pt2 or .onnx, got '{}': ambit::save() "
        "writes parameters and buffers alone",
        one_line(path)));
  }
  const bool is_from_onnx = !net.program_->model.empty();
  if (net.program_->document.empty() && !is_from_onnx) {
    throw NotImplementedError("graph::save: expected a graph of load() or capture(), got another");
  }
  if (is_from_onnx && !is_onnx) {
    throw NotImplementedError(
        fmt::format("graph::save: expected a name that ends in .onnx for a graph of an ONNX model, "
                    "got '{}'",
                    one_line(path)));
  }
  for (size_t i = 0; i < net.state_.size(); ++i) {
    const State& s = net.program_->state[i];
    check_state(net.program_->block.values[s.value], s, net.state_[i], path);
  }
  const auto write = is_onnx ? onnx::library().write : write_pt2;
  write(*net.program_, net.state_, net.training_, path);
}

}  // namespace ambit::graph
