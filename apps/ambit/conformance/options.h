// What the command line of `ambit conformance` says.
#pragma once

#include <cstdint>
#include <string>

namespace conformance {

enum class Format { table, md, json };

struct Options {
  std::string device;   // "npu:0"
  std::string backend;  // a plugin's file; empty: ambit finds it
  std::string filter;   // part of the names of the cases to run
  Format format = Format::table;
  bool list = false;        // names only
  double timeout_s = 60;    // for each case
  size_t max_failures = 0;  // after which the run ends; 0: never
  uint64_t seed = 1;        // of the numbers that kernels are fed with

  // Hidden: the process is a worker, which sends its results to this pipe, the first case being ...
  int results_fd = -1;
  size_t first = 0;
};

}  // namespace conformance
