// What the command line says.
#pragma once

#include <cstdint>
#include <string>

namespace quickstart {

struct Options {
  std::string device;  ///< empty: cuda:0 if there is one, else cpu
  std::string data;    ///< empty: $AMBIT_DATA, else ./data
  bool download = false;
  int64_t epochs = 2;
  size_t batch_size = 4;
  double lr = 0.001;
  uint64_t seed = 0;
  size_t limit = 0;          ///< images of each part; 0: all
  int64_t log_every = 2000;  ///< mini-batches
  std::string out = "cifar_net.safetensors";
};

/// Read the options. Ends the program for --help (0) and for a mistake (1), which it names.
Options parse_options(int argc, char** argv);

}  // namespace quickstart
