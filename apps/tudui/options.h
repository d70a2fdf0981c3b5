// Command-line options.
#pragma once

#include <string>

#include "training/options.h"

namespace tudui {

/// The lesson's two ways to use a GPU.
enum class Method {
  cuda,  ///< .cuda() on network, loss function and data, if cuda::is_available()
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

/// Parse the options. Exits for --help (0) and for wrong usage (2), with a message.
Options parse_options(int argc, char** argv);

}  // namespace tudui
