// What the command line says.
#pragma once

#include <string>

#include "training/options.h"

namespace tudui {

/// The lesson's two ways to a GPU.
enum class Method {
  cuda,  ///< .cuda() on network, loss function and data, wherever cuda::is_available()
  to,    ///< .to(device)
};

enum class Language { en, zh };

struct Options : training::Options {
  Method method = Method::to;
  Language language = Language::en;
  bool shuffle = false;
  std::string logs = "logs_train";  ///< folder
  std::string out = ".";            ///< folder
};

/// Read the options. Ends the program for --help (0) and for a mistake (2), which it names.
Options parse_options(int argc, char** argv);

}  // namespace tudui
