// Parses $AMBIT_SIM.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ambit::sim {

/// Maximal total number of devices: each needs address space, and a thread once it is used.
inline constexpr int kMaxDevices = 64;

/// Simulated devices of one name.
struct Request {
  std::string name;
  int count;
};

/// Parse "cuda:2,npu:1". Errors: BackendError for invalid text, a repeated name, no device or more
/// than kMaxDevices.
std::vector<Request> parse_requests(std::string_view text);

}  // namespace ambit::sim
