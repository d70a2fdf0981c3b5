// What the command line says.
#pragma once

#include <string>

#include "training/options.h"

namespace quickstart {

struct Options : training::Options {
  std::string out = "cifar_net.safetensors";
};

/// Read the options. Ends the program for --help (0) and for a mistake (2), which it names.
Options parse_options(int argc, char** argv);

}  // namespace quickstart
