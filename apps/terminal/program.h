// What every app does alike: read its command line, and end with a message.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace terminal {

/// Run the program and return its exit code, `body`'s or 1 after an exception. What that says is
/// printed in one line behind the program's name; then, for errors of ambit that know more, what
/// they explain. Standard output is passed on line by line, whoever reads it.
int run_program(const char* name, const std::function<int()>& body);

/// Print on stderr. Where that cannot be written nobody is told: no reason to end a training.
void print_notice(const std::string& text);

/// Read the options. Ends the program for --help (0) and for a mistake (1), which it names.
void parse_command_line(CLI::App& app, int argc, char** argv);

/// Return the command that started the program, quoted for a shell, with `--resume file` in the
/// place of an earlier one.
std::string command_to_resume(const std::vector<std::string>& arguments, const std::string& file);

}  // namespace terminal
