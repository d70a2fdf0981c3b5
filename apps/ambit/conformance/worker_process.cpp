#include "worker_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <system_error>
#include <utility>
#include <vector>

namespace conformance {
namespace {

constexpr size_t kWordsKept = 4096;  // bytes of stderr

int checked(int result, const char* what) {
  if (result < 0) throw std::system_error(errno, std::generic_category(), what);
  return result;
}

/// Return the words that start this program again, $AMBIT_EMULATOR first.
std::vector<std::string> program() {
  std::vector<std::string> words;
  if (const char* emulator = std::getenv("AMBIT_EMULATOR")) {
    std::istringstream in(emulator);
    for (std::string word; in >> word;) words.push_back(word);
  }
  // Under an emulator the link /proc/self/exe refers to the emulator, so pass the path of this
  // program.
  words.push_back(words.empty() ? "/proc/self/exe"
                                : std::filesystem::read_symlink("/proc/self/exe").string());
  return words;
}

std::vector<std::string> arguments(const Options& o, int results_fd) {
  std::vector<std::string> a = program();
  a.insert(a.end(), {"conformance", "--device", o.device, "--seed", std::to_string(o.seed),
                     "--worker", std::to_string(results_fd), "--first", std::to_string(o.first)});
  if (!o.backend.empty()) a.insert(a.end(), {"--backend", o.backend});
  if (!o.filter.empty()) a.insert(a.end(), {"--filter", o.filter});
  if (o.list) a.push_back("--list");
  return a;
}

/// In the child: become a worker. Uses only calls that are safe after fork.
[[noreturn]] void become_worker(char** argv, int results_fd, int errors_fd) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // the worker ends if the parent is killed
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  fcntl(results_fd, F_SETFD, 0);
  dup2(errors_fd, STDOUT_FILENO);  // a plugin's output must not get into the report
  dup2(errors_fd, STDERR_FILENO);
  execv(argv[0], argv);
  _exit(127);
}

}  // namespace

WorkerProcess::WorkerProcess(const Options& options) {
  int results[2], errors[2];
  checked(pipe2(results, O_CLOEXEC), "pipe");
  checked(pipe2(errors, O_CLOEXEC), "pipe");
  results_ = results[0];
  errors_ = errors[0];
  std::vector<std::string> words = arguments(options, results[1]);
  std::vector<char*> argv;
  for (std::string& w : words) argv.push_back(w.data());
  argv.push_back(nullptr);
  pid_ = checked(fork(), "fork");
  if (pid_ == 0) become_worker(argv.data(), results[1], errors[1]);
  close(results[1]);
  close(errors[1]);
}

WorkerProcess::~WorkerProcess() {
  kill();
  wait(Deadline::max());
  if (results_ >= 0) close(results_);
  if (errors_ >= 0) close(errors_);
}

/// Read the available data of both pipes. Return false at the deadline.
bool WorkerProcess::read_some(Deadline deadline) {
  using std::chrono::ceil, std::chrono::milliseconds;
  pollfd pipes[] = {{results_, POLLIN, 0}, {errors_, POLLIN, 0}};
  int timeout = -1;
  if (deadline != Deadline::max()) {
    const auto left = ceil<milliseconds>(deadline - std::chrono::steady_clock::now()).count();
    timeout = static_cast<int>(std::clamp<int64_t>(left, 0, 3'600'000));
  }
  const int ready = poll(pipes, 2, timeout);
  if (ready < 0 && errno != EINTR) checked(ready, "poll");
  if (ready <= 0) return ready < 0;
  const auto take = [](int& fd, const pollfd& pipe, std::string& to) {
    if (pipe.revents == 0) return;
    char buffer[4096];
    const ssize_t n = read(fd, buffer, sizeof(buffer));
    if (n > 0) to.append(buffer, static_cast<size_t>(n));
    if (n == 0) close(std::exchange(fd, -1));
  };
  take(results_, pipes[0], unread_);
  take(errors_, pipes[1], words_);
  if (words_.size() > kWordsKept) words_.erase(0, words_.size() - kWordsKept);
  return true;
}

WorkerProcess::Event WorkerProcess::read_line(std::string& line, Deadline deadline) {
  while (true) {
    if (const size_t end = unread_.find('\n'); end != unread_.npos) {
      line = unread_.substr(0, end);
      unread_.erase(0, end + 1);
      return Event::line;
    }
    if (results_ < 0) return Event::end;
    if (!read_some(deadline)) return Event::timeout;
  }
}

void WorkerProcess::kill() {
  if (pid_ > 0) ::kill(pid_, SIGKILL);
}

std::string WorkerProcess::wait(Deadline deadline) {
  if (pid_ <= 0) return "";
  bool in_time = true;
  // The worker's pipes close when it exits, so polling is not needed.
  while (in_time && (results_ >= 0 || errors_ >= 0)) in_time = read_some(deadline);
  if (!in_time) kill();
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  if (!in_time) return "did not end";
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    return fmt::format("ended by SIG{} ({})", sigabbrev_np(signal), strsignal(signal));
  }
  const int code = WEXITSTATUS(status);
  return code == 0 ? "" : fmt::format("exited with code {}", code);
}

std::string WorkerProcess::last_words() const {
  const size_t end = words_.find_last_not_of("\n ") + 1;  // 0 if there is nothing else
  const size_t start = words_.substr(0, end).find_last_of('\n') + 1;
  return words_.substr(start, end - start);
}

}  // namespace conformance
