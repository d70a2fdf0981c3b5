// Formats results as a table or as JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace bench {

/// One side of a row: ambit, a peer or the floor.
struct Side {
  std::string name;
  double seconds = 0;                  ///< of one run
  std::optional<double> peak_bytes{};  ///< of a separate process
  std::string way{};                   ///< the fastest of several variants
};

/// Name of ambit's float32 side, in rows of reduced floating-point types.
inline constexpr const char* kFloat32 = "float32";

struct Measured {
  std::string row;
  double amount = 0;  ///< as in Row
  std::string unit;
  std::vector<Side> sides{};  ///< ambit first; sides that do not support the work are missing
  bool quiet = true;          ///< no other load on the machine
  std::string failure{};      ///< why there is no result, or an invalid one; else empty
};

struct Report {
  std::string device;
  std::vector<std::string> against;  ///< versions of the peers
  std::vector<std::string> columns;  ///< names of the sides, ambit first
  std::vector<Measured> rows;
};

std::string text_of(const Report& report);
/// Return only the table, for a README.
std::string markdown_of(const Report& report);
std::string json_of(const Report& report);

}  // namespace bench
