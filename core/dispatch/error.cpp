// Error types, and the explanation of device mismatches.
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
AMBIT_ERROR(DeviceMismatchError)
#undef AMBIT_ERROR

DeviceMismatchError::DeviceMismatchError(std::string op, std::vector<ArgumentInfo> arguments,
                                         size_t expected, size_t actual)
    : Error(fmt::format("expected device {} but got device {}", arguments[expected].device.str(),
                        arguments[actual].device.str())),
      op_(std::move(op)),
      arguments_(std::move(arguments)),
      expected_(expected),
      actual_(actual) {}

namespace {

// Suggest moving data to the module's parameters, not the module to the data. Parameters on meta
// have no values, so they need a state dict or to_empty().
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
  }
  return text + "\n  try: " + advice(arguments_, expected_, actual_);
}

}  // namespace ambit
