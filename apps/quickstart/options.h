// Command-line options.
#pragma once

#include <string>

#include "training/options.h"

namespace quickstart {

struct Options : training::Options {
  std::string out = "cifar_net.safetensors";
};

/// Parse the options. Exits for --help (0) and for wrong usage (2), with a message.
Options parse_options(int argc, char** argv);

}  // namespace quickstart
