// Command-line options of `ambit bench`.
#pragma once

#include <string>
#include <vector>

namespace bench {

struct Options {
  std::string device = "cpu";
  std::string filter;                // substring of the names of the rows
  std::vector<std::string> against;  // names of peers
  double seconds = 1;                // per side of a row
  bool memory = false;               // also measure peak memory
  bool loaded = false;               // measure while other processes keep the cores busy
  bool distributed = false;          // measure several ranks
  std::string model;                 // parameters of a network, to predict more ranks

  // Hidden: the process is a child that runs one side of the row named by the filter.
  std::string alone;
};

}  // namespace bench
