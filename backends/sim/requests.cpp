#include "requests.h"

#include <ambit/detail/printable.h>
#include <ambit/error.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace ambit::sim {
namespace {

[[noreturn]] void refuse(std::string_view text, std::string_view why) {
  throw BackendError(fmt::format(
      "AMBIT_SIM: expected names and counts of devices such as \"cuda:2,npu:1\", got \"{}\"{}",
      printable(text), printable(why)));
}

Request parse_request(std::string_view item, std::string_view text) {
  const size_t colon = item.find(':');
  if (colon == std::string_view::npos) refuse(text, "");
  const std::string_view name = item.substr(0, colon), digits = item.substr(colon + 1);
  int count = 0;
  const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), count);
  const bool is_number = status == std::errc{} && end == digits.data() + digits.size();
  if (!is_number || count < 1) refuse(text, "");
  // Refused here, so that the error names the variable; the registry's error does not.
  if (name.empty()) refuse(text, "");
  return {std::string(name), count};
}

}  // namespace

std::vector<Request> parse_requests(std::string_view text) {
  std::vector<Request> requests;
  int devices = 0;
  for (std::string_view rest = text; rest.data();) {
    const size_t comma = rest.find(',');
    Request request = parse_request(rest.substr(0, comma), text);
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    if (std::any_of(requests.begin(), requests.end(),
                    [&](const Request& r) { return r.name == request.name; })) {
      refuse(text, fmt::format(", {} twice", request.name));
    }
    if (request.count > kMaxDevices - devices) {
      refuse(text, fmt::format(", more than {} devices", kMaxDevices));
    }
    devices += request.count;
    requests.push_back(std::move(request));
  }
  return requests;
}

}  // namespace ambit::sim
