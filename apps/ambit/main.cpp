// The command-line tool: what runs where, and whether a backend keeps its promises.
#include <ambit/api.h>
#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <exception>
#include <string>
#include <system_error>
#include <vector>

#include "commands.h"

namespace {

// CLI11 does not name a subcommand that it does not know.
std::string text_of(const CLI::App& tool, const CLI::ParseError& e) {
  const std::vector<std::string> rest = tool.remaining();
  if (!tool.get_subcommands().empty() || rest.empty()) return e.what();
  return fmt::format("expected a subcommand, got \"{}\"", rest[0]);
}

}  // namespace

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
  add_bench(tool, exit_code);
  try {
    tool.parse(argc, argv);
    // What a full disk has not taken shows here at the earliest.
    if (std::fflush(stdout) != 0) throw std::system_error(errno, std::generic_category(), "stdout");
  } catch (const CLI::Success& e) {  // --help, --version
    return tool.exit(e);
  } catch (const CLI::ParseError& e) {
    fmt::print(stderr, "ambit: {} (--help lists the options)\n", text_of(tool, e));
    return 2;
  } catch (const std::exception& e) {
    fmt::print(stderr, "ambit: {}\n", e.what());
    return 2;
  }
  return exit_code;
}
