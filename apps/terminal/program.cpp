#include "terminal/program.h"

#include <ambit/error.h>

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string_view>

namespace terminal {
namespace {

// As a word of a shell's command line: quoted where the shell would read it otherwise.
std::string quoted(const std::string& word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=,+@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string result = "'";
  for (const char c : word) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

}  // namespace

int run_program(const char* name, const std::function<int()>& body) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  try {
    return body();
  } catch (const ambit::Error& e) {
    fmt::print(stderr, "{}: {}\n", name, e.what());
    if (e.explain() != e.what()) fmt::print(stderr, "{}\n", e.explain());
  } catch (const std::exception& e) {
    fmt::print(stderr, "{}: {}\n", name, e.what());
  }
  return 1;
}

void parse_command_line(CLI::App& app, int argc, char** argv) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& e) {  // --help
    std::exit(app.exit(e));
  } catch (const CLI::ParseError& e) {
    fmt::print(stderr, "{}: {} (--help lists the options)\n", app.get_name(), e.what());
    std::exit(1);
  }
}

std::string command_to_resume(const std::vector<std::string>& arguments, const std::string& file) {
  std::string command;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--resume") {
      ++i;  // and its file
    } else if (!arguments[i].starts_with("--resume=")) {
      command += quoted(arguments[i]) + " ";
    }
  }
  return command + "--resume " + quoted(file);
}

}  // namespace terminal
