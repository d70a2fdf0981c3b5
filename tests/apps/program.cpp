#include "program.h"

#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "tests/child_process.h"
#include "tests/temporary_folder.h"

namespace {

// In the child, between fork and exec: remove variables that would change the output.
void prepare_child(const ProgramSettings& settings) {
  // A background job of a shell ignores SIGINT, and its children would inherit that.
  ::signal(SIGINT, SIG_DFL);
  for (const char* name :
       {"AMBIT_SIM", "AMBIT_DATA", "AMBIT_FALLBACK", "LC_ALL", "LC_MESSAGES", "LANG"}) {
    ::unsetenv(name);
  }
  for (const std::string& variable : settings.environment) {
    const size_t equals = variable.find('=');
    ::setenv(variable.substr(0, equals).c_str(), variable.substr(equals + 1).c_str(), 1);
  }
  if (settings.file_bytes > 0) {
    ::signal(SIGXFSZ, SIG_IGN);  // exceeding the size limit is then a write error
    const rlimit most{settings.file_bytes, settings.file_bytes};
    if (::setrlimit(RLIMIT_FSIZE, &most) != 0) ::_exit(127);
  }
  if (::chdir(settings.folder.c_str()) != 0) ::_exit(127);
}

}  // namespace

Program::Program(const std::string& name, const std::vector<std::string>& arguments,
                 const ProgramSettings& settings)
    : errors_file_(settings.folder + "/stderr") {
  std::istringstream start(emulator() + AMBIT_APPS "/" + name);
  std::vector<std::string> words(std::istream_iterator<std::string>(start), {});
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);

  int ends[2] = {-1, -1};
  if (settings.columns > 0) {
    winsize size{.ws_row = 24, .ws_col = static_cast<unsigned short>(settings.columns)};
    pid_ = ::forkpty(&output_, nullptr, nullptr, &size);
  } else {
    if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("pipe failed");
    pid_ = ::fork();
  }
  if (pid_ < 0) throw std::runtime_error("fork failed");
  if (pid_ == 0) {
    prepare_child(settings);
    if (settings.columns == 0) {
      ::dup2(ends[1], STDOUT_FILENO);
      ::dup2(::open(errors_file_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDERR_FILENO);
      if (settings.stderr_closed) ::close(STDERR_FILENO);
    }
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  if (settings.columns == 0) {
    ::close(ends[1]);
    output_ = ends[0];
  }
}

Program::~Program() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  ::close(output_);
}

// Reading from a terminal whose program has ended is an error; reading from a pipe returns 0.
bool Program::read_more() {
  std::array<char, 4096> chunk;
  const ssize_t n = ::read(output_, chunk.data(), chunk.size());
  if (n <= 0) return false;
  printed_.append(chunk.data(), static_cast<size_t>(n));
  return true;
}

void Program::wait_for(const std::string& text) {
  while (printed_.find(text) == std::string::npos) {
    if (!read_more()) {
      throw std::runtime_error("ended without printing '" + text + "':\n" + printed_ +
                               read_bytes(errors_file_));
    }
  }
}

void Program::send(int signal) { ::kill(pid_, signal); }

void Program::wait_until_not_caught(int signal) const {
  for (uint64_t caught = ~uint64_t{0}; caught >> (signal - 1) & 1; std::this_thread::yield()) {
    std::ifstream status("/proc/" + std::to_string(pid_) + "/status");
    std::string word;
    while (status >> word && word != "SigCgt:") {
    }
    status >> std::hex >> caught;
    if (!status) throw std::runtime_error("the program has ended");
  }
}

ProgramResult Program::finish() {
  while (read_more()) {
  }
  int status = 0;
  ::waitpid(pid_, &status, 0);
  pid_ = -1;
  ProgramResult result{.output = printed_, .errors = read_bytes(errors_file_)};
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
  return result;
}

ProgramResult run_program(const std::string& name, const std::vector<std::string>& arguments,
                          const ProgramSettings& settings) {
  return Program(name, arguments, settings).finish();
}
