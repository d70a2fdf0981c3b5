// What every app does alike: read its command line, and end with a message.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Success;
}  // namespace CLI

namespace terminal {

/// The exit code where the command line is wrong: nothing has been done.
inline constexpr int kWrongUsage = 2;

/// Run the program and return its exit code, `body`'s or 1 after an exception or where its output
/// could not be written. What went wrong is printed in one line behind the program's name; then,
/// for errors of ambit that know more, what they explain. Standard output is passed on line by
/// line, whoever reads it.
int run_program(const char* name, const std::function<int()>& body);

/// Print on stderr. Where that cannot be written nobody is told: no reason to end a training.
void print_notice(const std::string& text);

/// Throw std::system_error if something that was printed on stdout could not be written.
void check_stdout();

/// Print what the command line asks for in the place of a run: the help, the version.
/// Errors: std::system_error.
void print_asked(const CLI::App& app, const CLI::Success& asked);

/// Read the options, --profile among them, which begins here and ends with run_program(). Ends the
/// program for --help (0; 1 where that cannot be written) and for a
/// mistake (kWrongUsage), which it names.
void parse_command_line(CLI::App& app, int argc, char** argv);

/// Return the command that started the program, quoted for a shell, with `--resume file` in the
/// place of an earlier one.
std::string command_to_resume(const std::vector<std::string>& arguments, const std::string& file);

}  // namespace terminal
