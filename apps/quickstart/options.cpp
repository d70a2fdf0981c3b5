#include "options.h"

#include <CLI/CLI.hpp>

#include "terminal/program.h"
#include "training/ranks.h"

namespace quickstart {

Options parse_options(int argc, char** argv) {
  Options o;
  o.epochs = 2;
  o.batch_size = 4;
  o.lr = 0.001;
  o.log_every = 2000;
  o.arguments.assign(argv, argv + argc);
  CLI::App app("Train the tutorial's image classifier, then test it.", "quickstart");
  training::add_options(app, o);
  app.add_option("--out", o.out, "file that the trained network is saved to")
      ->capture_default_str()
      ->type_name("FILE");
  // Check in a callback, because CLI11 does not validate defaults.
  app.callback([&] { training::check_out(o.out); });
  terminal::parse_command_line(app, argc, argv);
  training::Ranks::of_process().begin(o);
  return o;
}

}  // namespace quickstart
