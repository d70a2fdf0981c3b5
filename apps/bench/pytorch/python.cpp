#include "python.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace bench::pytorch {
namespace {

// The allocator that PyTorch's tuning guide recommends; if it is not installed, the loader prints a
// warning on stderr and continues.
constexpr const char* kAllocator = "LD_PRELOAD=libtcmalloc_minimal.so.4";

// Return the script's path, next to this library.
std::string script() {
  Dl_info library{};
  if (dladdr(reinterpret_cast<const void*>(&interpreter), &library) == 0) return "pytorch.py";
  return (std::filesystem::path(library.dli_fname).parent_path() / "pytorch.py").string();
}

std::string json_of(const Specification& s, const std::string& way) {
  std::string text = "{\"what\": \"" + s.what + "\", \"way\": \"" + way +
                     "\", \"threads\": " + std::to_string(s.threads) + ", \"parameters\": [";
  for (const int64_t& parameter : s.parameters) {
    if (&parameter != s.parameters.data()) text += ", ";
    text += std::to_string(parameter);
  }
  text += "], \"operands\": [";
  for (const Operand& operand : s.operands) {
    if (&operand != s.operands.data()) text += ", ";
    text += "{\"name\": \"" + operand.name + "\", \"dtype\": \"" +
            (operand.labels ? "int64" : "float32") +
            "\", \"requires_grad\": " + (operand.requires_grad ? "true" : "false") +
            ", \"sizes\": [";
    for (const int64_t& size : operand.sizes) {
      if (&size != operand.sizes.data()) text += ", ";
      text += std::to_string(size);
    }
    text += "]}";
  }
  return text + "]}\n";
}

size_t bytes_of(const Operand& operand) {
  size_t bytes = operand.labels ? sizeof *operand.labels : sizeof *operand.values;
  for (const int64_t size : operand.sizes) bytes *= static_cast<size_t>(size);
  return bytes;
}

// Return the process's environment: the same number of threads as ambit, and the allocator.
std::vector<std::string> environment(int threads) {
  std::vector<std::string> all{kAllocator, "OMP_NUM_THREADS=" + std::to_string(threads)};
  for (char** entry = environ; *entry; ++entry) {
    const std::string_view text = *entry;
    if (!text.starts_with("LD_PRELOAD=") && !text.starts_with("OMP_NUM_THREADS=")) {
      all.emplace_back(text);
    }
  }
  return all;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> all;
  for (std::string& word : words) all.push_back(word.data());
  all.push_back(nullptr);
  return all;
}

}  // namespace

std::string interpreter() {
  const char* asked = std::getenv("AMBIT_PYTHON");
  return asked && *asked ? asked : "python3";
}

Python::Python(int threads) {
  int sockets[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) {
    throw std::runtime_error(std::string("socketpair: ") + std::strerror(errno));
  }
  socket_ = sockets[0];
  errors_ = ::memfd_create("stderr", MFD_CLOEXEC);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, sockets[1], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, sockets[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, errors_, STDERR_FILENO);
  std::vector<std::string> command{interpreter(), script()}, variables = environment(threads);
  const int error = ::posix_spawnp(&pid_, command[0].c_str(), &actions, nullptr,
                                   pointers(command).data(), pointers(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  ::close(sockets[1]);
  if (error != 0) {
    pid_ = -1;
    ::close(socket_);
    ::close(errors_);
    throw std::runtime_error(command[0] + ": " + std::strerror(error));
  }
}

void Python::make(const Specification& specification, const std::string& way) {
  const std::string header = json_of(specification, way);
  send(header.data(), header.size());
  for (const Operand& operand : specification.operands) {
    const void* const data = operand.labels ? static_cast<const void*>(operand.labels)
                                            : static_cast<const void*>(operand.values);
    send(data, bytes_of(operand));
  }
  if (const std::string answer = read_line(); answer != "ready") fail(answer);
}

Python::~Python() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);  // it has no state to save
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  ::close(socket_);
  ::close(errors_);
}

double Python::ask(const std::string& command) {
  const std::string line = command + "\n";
  send(line.data(), line.size());
  const std::string answer = read_line();
  char* end = nullptr;
  const double number = std::strtod(answer.c_str(), &end);
  if (end == answer.c_str()) fail(answer);
  return number;
}

void Python::send(const void* data, size_t bytes) {
  const char* next = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t sent = ::send(socket_, next, bytes, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) fail();
    next += sent;
    bytes -= static_cast<size_t>(sent);
  }
}

std::string Python::read_line() {
  while (true) {
    if (const size_t end = unread_.find('\n'); end != std::string::npos) {
      const std::string line = unread_.substr(0, end);
      unread_.erase(0, end + 1);
      return line;
    }
    std::array<char, 256> chunk;
    const ssize_t got = ::read(socket_, chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) fail();
    unread_.append(chunk.data(), static_cast<size_t>(got));
  }
}

// The last line of a Python traceback is the error.
void Python::fail(const std::string& answer) const {
  std::string text(static_cast<size_t>(std::max<off_t>(0, ::lseek(errors_, 0, SEEK_END))), '\0');
  const ssize_t got = ::pread(errors_, text.data(), text.size(), 0);
  text.resize(static_cast<size_t>(std::max<ssize_t>(0, got)));
  text.erase(text.find_last_not_of('\n') + 1);
  text.erase(0, text.rfind('\n') + 1);
  throw std::runtime_error("PyTorch: " + (answer.empty() ? text : "unexpected: " + answer));
}

}  // namespace bench::pytorch
