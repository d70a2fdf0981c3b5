// The command-line tool: what runs where, and whether a backend keeps its promises.
#include <ambit/api.h>
#include <fmt/format.h>

#include <exception>

#include "commands.h"

int main(int argc, char** argv) {
  CLI::App tool("Look at ambit's devices and backends, and check them.", "ambit");
  tool.set_version_flag("--version", "ambit " AMBIT_VERSION);
  tool.require_subcommand(1);
  tool.footer(
      "ambit <subcommand> --help says more. Exit codes: 0 all is well, 1 something is not, "
      "2 it could\nnot be done.");
  int exit_code = 0;
  add_info(tool, exit_code);
  add_ops(tool, exit_code);
  add_conformance(tool, exit_code);
  try {
    tool.parse(argc, argv);
  } catch (const CLI::Success& e) {  // --help, --version
    return tool.exit(e);
  } catch (const CLI::ParseError& e) {
    fmt::print(stderr, "ambit: {} (--help lists the options)\n", e.what());
    return 2;
  } catch (const std::exception& e) {
    fmt::print(stderr, "ambit: {}\n", e.what());
    return 2;
  }
  return exit_code;
}
