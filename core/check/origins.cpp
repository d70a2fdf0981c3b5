#include "origins.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>

#include "blocks.h"
#include "source.h"

namespace ambit::check {
namespace {

struct Operand {
  Origin origin;
  bool is_on_host = false;
};

struct Origins {
  std::vector<Operand> operands;  // of each argument, list elements too
  SharedStack thrown;
};

thread_local std::vector<Operand> pending;

std::mutex mutex;
// By the error's address. Leaked: errors may outlive globals.
auto* const kept = new std::unordered_map<const DeviceMismatchError*, std::shared_ptr<Origins>>;

std::shared_ptr<Origins> find(const DeviceMismatchError& error) {
  const std::lock_guard lock(mutex);
  const auto found = kept->find(&error);
  return found == kept->end() ? nullptr : found->second;
}

// The innermost call of the program; none if its line is unknown.
std::optional<SourceCall> place_of(const SharedStack& stack) {
  if (!stack) return std::nullopt;
  const std::vector<SourceCall> calls = program_calls(stack);
  if (calls.empty() || calls[0].line == 0) return std::nullopt;
  return calls[0];
}

std::string innermost_forward(const std::vector<SourceCall>& calls) {
  for (const SourceCall& call : calls) {
    if (std::string name = function_name(call.function); is_forward(name)) return name;
  }
  return {};
}

std::string call_text(const char* verb, const SharedStack& stack, const std::string& suffix) {
  const std::optional<SourceCall> place = place_of(stack);
  if (!place) return {};
  const std::string name = short_name(api_function(stack));
  const std::string function = function_name(place->function);
  return fmt::format("\n       {} {}{} in {}{}", verb, name.empty() ? "" : "by " + name + " at ",
                     line_text(*place), function, suffix);
}

std::string line_of(const Operand& operand, const ArgumentInfo& argument) {
  const Origin& origin = operand.origin;
  const bool has_module = argument.parameter.empty() && !origin.module.empty();
  return call_text("made", origin.made, has_module ? ", module " + origin.module : "") +
         (origin.moved ? call_text("moved", origin.moved, ", from " + origin.from.str()) : "");
}

// Return the suggested change of the line that made the operand on the host. A parameter's name
// without a dot means that its module is not registered in another module.
std::string change_of(const Origins& origins, const Operand& operand, const ArgumentInfo& differing,
                      const ArgumentInfo& like) {
  const std::optional<SourceCall> place = place_of(operand.origin.made);
  const std::string name = place ? short_name(api_function(operand.origin.made)) : "";
  if (name.empty() || operand.origin.moved) return {};
  const std::string at = line_text(*place);
  const std::vector<SourceCall> made = program_calls(operand.origin.made);
  const std::string forward =
      origins.thrown ? innermost_forward(program_calls(origins.thrown)) : "";
  const bool is_member = std::ranges::any_of(made, [&](const SourceCall& call) {
    return is_constructor_of(forward, function_name(call.function));
  });
  const bool is_parameter = !differing.parameter.empty();
  if (is_parameter && (!is_member || differing.parameter.find('.') != std::string::npos)) return {};
  if (is_member) {
    return fmt::format("{}: {}(\"name\", {}(...)), so that to() moves it", at,
                       is_parameter ? "register_module" : "register_buffer", name);
  }
  const std::string device = !innermost_forward(made).empty() && like.parameter.empty()
                                 ? like.name + ".device()"
                                 : "\"" + like.device.str() + "\"";
  const std::vector<SharedStack>& factories = operand.origin.factories;
  const std::optional<SourceCall> factory =
      factories.size() == 1 ? place_of(factories[0]) : std::nullopt;
  if (!factory) return fmt::format("{}: {}(...).to({})", at, name, device);
  return fmt::format("{}: {}(..., {})", line_text(*factory), short_name(api_function(factories[0])),
                     device);
}

}  // namespace

void next_operands(std::span<const DeviceArg> args) {
  pending.clear();
  for (const DeviceArg& arg : args) {
    for (size_t i = 0; i < arg.count; ++i) {
      const Tensor& t = arg.tensors[i];
      pending.emplace_back();
      if (!t.defined()) continue;
      pending.back() = {Blocks::get().origin_of(t.storage()->native_data()), t.is_cpu()};
    }
  }
}

void keep_origins(const DeviceMismatchError& error) {
  auto origins = std::make_shared<Origins>();
  origins->operands = std::exchange(pending, {});
  origins->thrown = shared_stack();
  const std::lock_guard lock(mutex);
  (*kept)[&error] = std::move(origins);
}

void copy_origins(const DeviceMismatchError& from, const DeviceMismatchError& to) {
  const std::lock_guard lock(mutex);
  const auto found = kept->find(&from);
  if (found == kept->end()) return;
  std::shared_ptr<Origins> origins = found->second;  // an insertion invalidates `found`
  (*kept)[&to] = std::move(origins);
}

void drop_origins(const DeviceMismatchError& error) {
  const std::lock_guard lock(mutex);
  kept->erase(&error);
}

// Without addr2line, no source line is known.
MismatchOrigins origins_of(const DeviceMismatchError& error,
                           std::span<const ArgumentInfo> arguments, size_t expected,
                           size_t actual) try {
  MismatchOrigins texts;
  const std::shared_ptr<Origins> origins = find(error);
  if (!origins || origins->operands.size() != arguments.size()) return texts;
  for (size_t i = 0; i < arguments.size(); ++i) {
    texts.lines.push_back(line_of(origins->operands[i], arguments[i]));
  }
  for (const auto& [differing, like] : {std::pair(expected, actual), std::pair(actual, expected)}) {
    if (!arguments[differing].device.is_cpu() || arguments[like].device.is_meta()) continue;
    texts.change =
        change_of(*origins, origins->operands[differing], arguments[differing], arguments[like]);
  }
  return texts;
} catch (const Error&) {
  return {};
}

SharedStack maker_on_host(const DeviceMismatchError& error) {
  const std::shared_ptr<Origins> origins = find(error);
  SharedStack maker;
  if (!origins) return maker;
  for (const Operand& operand : origins->operands) {
    if (operand.is_on_host && operand.origin.made) maker = operand.origin.made;
  }
  return maker;
}

}  // namespace ambit::check
