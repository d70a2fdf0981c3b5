// What $AMBIT_SIM asks for.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ambit::sim {

/// The devices of all requests together: each takes address space, and a thread once it is used.
inline constexpr int kMaxDevices = 64;

/// Simulated devices of one name.
struct Request {
  std::string name;
  int count;
};

/// Read "cuda:2,npu:1". Errors: BackendError for anything else, a name given twice, no device or
/// more than kMaxDevices.
std::vector<Request> parse_requests(std::string_view text);

}  // namespace ambit::sim
