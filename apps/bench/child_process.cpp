#include "child_process.h"

#include <ambit/error.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <system_error>

namespace bench {
namespace {

std::string read_all(int fd) {
  std::string text;
  std::array<char, 4096> chunk;
  while (true) {
    const ssize_t n = read(fd, chunk.data(), chunk.size());
    if (n <= 0) return text;
    text.append(chunk.data(), static_cast<size_t>(n));
  }
}

}  // namespace

std::string output_of(std::vector<std::string> command) {
  std::vector<char*> argv;
  for (std::string& word : command) argv.push_back(word.data());
  argv.push_back(nullptr);
  int pipe[2];
  if (pipe2(pipe, O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, pipe[1], STDOUT_FILENO);
  pid_t pid = -1;
  // Not fork(): it would copy the page tables of this process, which costs more than the child
  // itself.
  const int error = posix_spawnp(&pid, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(pipe[1]);
  std::string output = error == 0 ? read_all(pipe[0]) : "";
  close(pipe[0]);
  if (error != 0) throw ambit::Error(fmt::format("{}: {}", command[0], strerror(error)));
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    throw ambit::Error(fmt::format("{}: expected it to exit with 0", command[0]));
  }
  return output;
}

std::string own_file() { return std::filesystem::read_symlink("/proc/self/exe").string(); }

}  // namespace bench
