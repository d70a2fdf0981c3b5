#include "terminal/program.h"

#include <ambit/error.h>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <sstream>
#include <string_view>
#include <system_error>

#include "terminal/profile.h"

namespace terminal {
namespace {

// Quote a word for a shell's command line if necessary.
std::string quoted(const std::string& word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=,+@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string result = "'";
  for (const char c : word) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

// If one of the three standard descriptors is closed, the next file that is opened would get its
// number and then the program's output. Reserve the number with a descriptor that cannot be
// written.
void occupy_standard_descriptors() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(fd, F_GETFD) < 0) ::open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

}  // namespace

int run_program(const char* name, const std::function<int()>& body) {
  occupy_standard_descriptors();
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  try {
    const int exit_code = run_profiled(body);
    check_stdout();
    return exit_code;
  } catch (const ambit::Error& e) {
    print_notice(fmt::format("{}: {}\n", name, e.what()));
    if (e.explain() != e.what()) print_notice(fmt::format("{}\n", e.explain()));
  } catch (const std::exception& e) {
    print_notice(fmt::format("{}: {}\n", name, e.what()));
  }
  return 1;
}

void print_notice(const std::string& text) { std::fputs(text.c_str(), stderr); }

void check_stdout() {
  // Write errors such as a full disk may show only on flush.
  errno = 0;
  if (std::fflush(stdout) == 0 && !std::ferror(stdout)) return;
  throw std::system_error(errno ? errno : EIO, std::generic_category(), "stdout");
}

void print_asked(const CLI::App& app, const CLI::Success& asked) {
  std::ostringstream text;
  app.exit(asked, text, text);
  fmt::print("{}", text.str());
  check_stdout();
}

void parse_command_line(CLI::App& app, int argc, char** argv) {
  add_profile_option(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& e) {  // --help
    print_asked(app, e);
    std::exit(0);
  } catch (const CLI::ParseError& e) {
    print_notice(fmt::format("{}: {} (--help lists the options)\n", app.get_name(), e.what()));
    std::exit(kWrongUsage);
  }
  begin_profile();
}

std::string command_to_resume(const std::vector<std::string>& arguments, const std::string& file) {
  std::string command;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--resume") {
      ++i;  // skip its file too
    } else if (!arguments[i].starts_with("--resume=")) {
      command += quoted(arguments[i]) + " ";
    }
  }
  return command + "--resume " + quoted(file);
}

}  // namespace terminal
