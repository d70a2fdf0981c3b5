// Error types, and the explanation of device mismatches.
#include <ambit/detail/check.h>
#include <ambit/detail/printable.h>
#include <ambit/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace ambit {

Error::Error(std::string text) : text_(printable_lines(std::move(text))) {}
Error::Error(const Error&) = default;
Error::~Error() = default;
const char* Error::what() const noexcept { return text_.c_str(); }
std::string Error::explain() const { return text_; }

#define AMBIT_ERROR(Name)            \
  Name::Name(const Name&) = default; \
  Name::~Name() = default;
AMBIT_ERROR(ShapeError)
AMBIT_ERROR(DTypeError)
AMBIT_ERROR(IndexError)
AMBIT_ERROR(NotImplementedError)
AMBIT_ERROR(OutOfMemoryError)
AMBIT_ERROR(BackendError)
AMBIT_ERROR(SerializationError)
AMBIT_ERROR(AutogradError)
AMBIT_ERROR(LinAlgError)
#undef AMBIT_ERROR

DeviceMismatchError::DeviceMismatchError(std::string op, std::vector<ArgumentInfo> arguments,
                                         size_t expected, size_t actual)
    : Error(fmt::format("expected device {} but got device {}", arguments[expected].device.str(),
                        arguments[actual].device.str())),
      op_(std::move(op)),
      arguments_(std::move(arguments)),
      expected_(expected),
      actual_(actual) {
  if (const CheckLibrary* check = check_library()) check->mismatch(*this);
}

// The check library keeps the origins of an error's operands by the error's address.
DeviceMismatchError::DeviceMismatchError(const DeviceMismatchError& e)
    : Error(e), op_(e.op_), arguments_(e.arguments_), expected_(e.expected_), actual_(e.actual_) {
  if (const CheckLibrary* check = check_library()) check->copied(e, *this);
}

DeviceMismatchError::~DeviceMismatchError() {
  if (const CheckLibrary* check = check_library()) check->destroyed(*this);
}

namespace {

// Suggest moving data to the module's parameters, not the module to the data, unless the module is
// still on the CPU. Parameters on meta have no values, so they need a state dict or to_empty().
std::string advice(const std::vector<ArgumentInfo>& arguments, size_t expected, size_t actual) {
  const ArgumentInfo &want = arguments[expected], &have = arguments[actual];
  for (const ArgumentInfo* a : {&want, &have}) {
    if (!a->device.is_meta() || a->parameter.empty()) continue;
    return fmt::format(
        "load_state_dict() of the module, or nn::to_empty(module, \"{}\"): {} is on meta, without "
        "values",
        (a == &want ? have : want).device.str(), printable(a->parameter));
  }
  if (!have.parameter.empty() && want.parameter.empty()) {
    if (have.device.is_cpu()) {
      return fmt::format("module.to(\"{}\"), where {} is", want.device.str(), want.name);
    }
    return fmt::format("{}.to(\"{}\"), where the module's parameters are", want.name,
                       have.device.str());
  }
  return fmt::format("{}.to(\"{}\")", have.name, want.device.str());
}

}  // namespace

std::string DeviceMismatchError::explain() const {
  size_t name_width = 0, type_width = 0, device_width = 0;
  for (const ArgumentInfo& a : arguments_) {
    name_width = std::max(name_width, a.name.size());
    type_width = std::max(type_width, a.type.size());
    device_width = std::max(device_width, a.device.str().size());
  }
  const CheckLibrary* const check = check_library();
  MismatchOrigins origins;
  if (check) origins = check->origins(*this, arguments_, expected_, actual_);
  std::string text = fmt::format("{}: {}", op_, what());
  for (size_t i = 0; i < arguments_.size(); ++i) {
    const ArgumentInfo& a = arguments_[i];
    const bool undefined = a.type == "undefined";
    std::string note;
    if (i == expected_) {
      note = "sets expected";
    } else if (!undefined && a.device != expected()) {
      note = "differs";
    }
    if (!a.parameter.empty())
      note += (note.empty() ? "parameter " : "; parameter ") + printable(a.parameter);
    std::string line =
        fmt::format("  #{} {:<{}}  {:<{}}  {:<{}}  {}", i, a.name, name_width, a.type, type_width,
                    undefined ? "" : a.device.str(), device_width, note);
    line.erase(line.find_last_not_of(' ') + 1);
    text += '\n' + line;
    if (i < origins.lines.size()) text += origins.lines[i];
  }
  const std::string& change = origins.change;
  return text + "\n  try: " + (change.empty() ? advice(arguments_, expected_, actual_) : change);
}

}  // namespace ambit
