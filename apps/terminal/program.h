// Shared by all apps: parsing the command line, and error messages.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Success;
}  // namespace CLI

namespace terminal {

/// Exit code for a wrong command line; nothing has been done.
inline constexpr int kWrongUsage = 2;

/// Run the program and return its exit code: that of `body`, or 1 after an exception or if output
/// could not be written. Errors are printed in one line after the program's name, followed by the
/// explanation of ambit's errors, if any. Standard output is line-buffered even if it is not a
/// terminal.
int run_program(const char* name, const std::function<int()>& body);

/// Print on stderr. Write errors are ignored, so that a training continues.
void print_notice(const std::string& text);

/// Throw std::system_error if output to stdout could not be written.
void check_stdout();

/// Print the output of an option that replaces the run, such as --help or --version.
/// Errors: std::system_error.
void print_asked(const CLI::App& app, const CLI::Success& asked);

/// Parse the options. With --profile, start the profile, which run_program() ends. Exits for --help
/// (0; 1 if it cannot be printed) and for wrong usage (kWrongUsage), with a message.
void parse_command_line(CLI::App& app, int argc, char** argv);

/// Return the command that started the program, quoted for a shell, with `--resume file` instead
/// of an earlier one.
std::string command_to_resume(const std::vector<std::string>& arguments, const std::string& file);

}  // namespace terminal
