// What the command line of `ambit bench` says.
#pragma once

#include <string>
#include <vector>

namespace bench {

struct Options {
  std::string device = "cpu";
  std::string filter;                // part of the names of the rows
  std::vector<std::string> against;  // names of peers
  double seconds = 1;                // for each side of a row
  bool memory = false;               // whether to measure peaks too
  bool loaded = false;               // whether other processes keep the cores busy
  bool distributed = false;          // whether to measure several ranks
  std::string model;                 // of a network, to predict more ranks

  // Hidden: the process is a child that runs one side of one row, named by the filter.
  std::string alone;
};

}  // namespace bench
