// Command-line options of `ambit conformance`.
#pragma once

#include <cstdint>
#include <string>

namespace conformance {

enum class Format { table, md, json };

struct Options {
  std::string device;   // "npu:0"
  std::string backend;  // path of a plugin; empty: ambit finds it
  std::string filter;   // substring of the names of the cases to run
  Format format = Format::table;
  bool list = false;        // names only
  double timeout_s = 60;    // per case
  size_t max_failures = 0;  // the run ends after that many; 0: no limit
  uint64_t seed = 1;        // of the operands' random numbers

  // Hidden: the process is a worker, sends results to this pipe and starts with the case `first`.
  int results_fd = -1;
  size_t first = 0;
};

}  // namespace conformance
