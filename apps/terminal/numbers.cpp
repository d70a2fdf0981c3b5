#include "terminal/numbers.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <string>

namespace terminal {
namespace {

// Return nullopt if the text is not a number that T can represent.
template <class T>
std::optional<T> parse(const std::string& text) {
  T value{};
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && rest == end ? std::optional(value) : std::nullopt;
}

}  // namespace

CLI::Validator whole_number(uint64_t least, uint64_t most) {
  const auto check = [least, most](const std::string& text) {
    const bool octal = text.size() > 1 && text[0] == '0';
    const auto value = parse<uint64_t>(text);
    if (value && !octal && *value >= least && *value <= most) return std::string();
    return fmt::format("expected a whole number from {} to {}, got {}", least, most, text);
  };
  return CLI::Validator(check, "");
}

CLI::Validator finite_number(double least, double most) {
  const auto check = [least, most](const std::string& text) {
    const auto value = parse<double>(text);
    if (value && std::isfinite(*value) && *value >= least && *value <= most) return std::string();
    if (most == std::numeric_limits<double>::max()) {
      return fmt::format("expected a finite number of at least {}, got {}", least, text);
    }
    return fmt::format("expected a number from {} to {}, got {}", least, most, text);
  };
  return CLI::Validator(check, "");
}

}  // namespace terminal
