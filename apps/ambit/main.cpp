// The command-line tool: shows devices and kernels, and tests and benchmarks backends.
#include <ambit/api.h>
#include <fmt/format.h>

#include <exception>
#include <string>
#include <vector>

#include "commands.h"
#include "terminal/profile.h"
#include "terminal/program.h"

namespace {

// CLI11's message does not name an unknown subcommand.
std::string text_of(const CLI::App& tool, const CLI::ParseError& e) {
  const std::vector<std::string> rest = tool.remaining();
  if (!tool.get_subcommands().empty() || rest.empty()) return e.what();
  return fmt::format("expected a subcommand, got \"{}\"", rest[0]);
}

void parse(CLI::App& tool, int argc, char** argv) {
  try {
    tool.parse(argc, argv);
  } catch (const CLI::Success& e) {  // --help, --version
    terminal::print_asked(tool, e);
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App tool("Show and check ambit's devices, backends and graphs.", "ambit");
  tool.set_version_flag("--version", "ambit " AMBIT_VERSION);
  tool.require_subcommand(1);
  tool.footer(
      "ambit <subcommand> --help has the options. Exit codes: 0 success, 1 a check failed, 2 wrong "
      "usage\nor an error.");
  tool.fallthrough();  // accept the tool's options after the subcommand
  terminal::add_profile_option(tool);
  tool.parse_complete_callback(terminal::begin_profile);  // before the subcommand runs
  int exit_code = 0;
  add_info(tool, exit_code);
  add_ops(tool, exit_code);
  add_conformance(tool, exit_code);
  add_bench(tool, exit_code);
  add_graph(tool, exit_code);
  add_check(tool, exit_code);
  add_accuracy(tool, exit_code);
  try {
    terminal::run_profiled([&] {
      parse(tool, argc, argv);
      return exit_code;
    });
    terminal::check_stdout();
  } catch (const CLI::ParseError& e) {
    terminal::print_notice(fmt::format("ambit: {} (--help lists the options)\n", text_of(tool, e)));
    return terminal::kWrongUsage;
  } catch (const std::exception& e) {
    terminal::print_notice(fmt::format("ambit: {}\n", e.what()));
    return 2;
  }
  return exit_code;
}
