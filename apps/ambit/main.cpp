// The command-line tool: what runs where, and whether a backend keeps its promises.
#include <ambit/api.h>
#include <fmt/format.h>

#include <exception>

#include "commands.h"

int main(int argc, char** argv) {
  CLI::App tool("ambit: look at devices and backends, and check them.", "ambit");
  tool.set_version_flag("--version", "ambit " AMBIT_VERSION);
  tool.require_subcommand(1);
  int exit_code = 0;
  add_info(tool, exit_code);
  add_ops(tool, exit_code);
  add_conformance(tool, exit_code);
  try {
    CLI11_PARSE(tool, argc, argv);
  } catch (const std::exception& e) {
    fmt::print(stderr, "ambit: {}\n", e.what());
    return 1;
  }
  return exit_code;
}
