// What was measured, as a table or as JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace bench {

/// One side of a row: ambit, a peer or the floor.
struct Side {
  std::string name;
  double seconds = 0;                  ///< of one run
  std::optional<double> peak_bytes{};  ///< that a process of its own held for the work
  std::string way{};                   ///< of several in which it could be done, the fastest
};

/// The side of ambit in float32, beside rows of 16 bits.
inline constexpr const char* kFloat32 = "float32";

struct Measured {
  std::string row;
  double amount = 0;  ///< as in Row
  std::string unit;
  std::vector<Side> sides{};  ///< the first one is ambit; those that do not do the work are missing
  bool quiet = true;          ///< whether the machine did nothing else meanwhile
  std::string failure{};      ///< why there is nothing, or nothing to trust; else empty
};

struct Report {
  std::string device;
  std::vector<std::string> against;  ///< versions of those that ambit is compared with
  std::vector<std::string> columns;  ///< names of the sides, ambit first
  std::vector<Measured> rows;
};

std::string text_of(const Report& report);
/// The table alone, for a README.
std::string markdown_of(const Report& report);
std::string json_of(const Report& report);

}  // namespace bench
