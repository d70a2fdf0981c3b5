#include "run.h"

#include <ambit/error.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <system_error>

namespace check {
namespace {

namespace fs = std::filesystem;

class Folder {
 public:
  Folder() {
    std::string name = fs::temp_directory_path() / "ambit_check_XXXXXX";
    if (!mkdtemp(name.data())) {
      throw std::system_error(errno, std::generic_category(), "check: " + name);
    }
    path_ = name;
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

bool is_cuda(const std::string& text) {
  if (text == "cuda" || text == "{device}") return true;
  return text.starts_with("cuda:") && text.size() > 5 &&
         text.find_first_not_of("0123456789", 5) == text.npos;
}

std::string for_device(const std::string& argument, const Run& run) {
  const size_t equals = argument.find('=');
  const size_t begin =
      argument.starts_with("--") && equals != argument.npos ? equals + 1 : size_t{0};
  const std::string value = argument.substr(begin);
  if (!is_cuda(value)) return argument;
  const size_t colon = value.find(':');
  const std::string index = colon == value.npos || run.device == "cpu" ? "" : value.substr(colon);
  return argument.substr(0, begin) + run.name() + index;
}

void execute(const std::vector<std::string>& command, const Run& run, const fs::path& folder) {
  setenv("AMBIT_CHECK", folder.c_str(), 1);
  setenv("AMBIT_SIM", run.device == "cpu" ? "sim:1" : run.device.c_str(), 1);
  setenv("CUDA_VISIBLE_DEVICES", "",
         1);  // hide real GPUs
  setenv("AMBIT_OPENCL", "none", 1);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  std::vector<char*> arguments;
  for (const std::string& argument : command) {
    arguments.push_back(const_cast<char*>(argument.c_str()));
  }
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  dprintf(STDERR_FILENO, "ambit check: %s: %s\n", arguments[0], std::strerror(errno));
  _exit(127);
}

void read_event(const nlohmann::json& event, std::map<size_t, size_t>& position, Run& run) {
  const std::string kind = event["event"];
  if (kind == "peak") {
    run.peaks.push_back({event["device"], event["bytes"], event["modules"]});
  } else if (kind == "steps") {
    if (event["count"] <= run.steps) return;
    run.steps = event["count"];
    run.has_optimizer = event["optimizer"];
  } else if (kind != "count") {
    position[event["id"]] = run.events.size();
    run.events.push_back(event);
    run.events.back().update({{"count", 1}, {"bytes", 0}, {"repeated", 0}, {"steps", 1}});
  } else if (const auto at = position.find(event["id"]); at != position.end()) {
    for (const char* name : {"count", "bytes", "repeated", "steps"}) {
      run.events[at->second][name] = event[name];
    }
  }
}

// A line is incomplete if the process was killed.
void read_events(const fs::path& file, Run& run) {
  std::ifstream in(file);
  std::map<size_t, size_t> position;  // key: the id in the file
  for (std::string line; std::getline(in, line);) {
    const nlohmann::json event = nlohmann::json::parse(line, nullptr, false);
    if (event.is_object()) read_event(event, position, run);
  }
}

}  // namespace

Run run_program(std::vector<std::string> command, const std::string& device) {
  Run run{.device = device};
  for (std::string& argument : command) argument = for_device(argument, run);
  const Folder folder;
  const pid_t child = fork();
  if (child < 0) throw std::system_error(errno, std::generic_category(), "check: fork");
  if (child == 0) execute(command, run, folder.path());
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  run.exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  for (const auto& file : fs::directory_iterator(folder.path())) {
    ++run.processes;
    read_events(file.path(), run);
  }
  return run;
}

}  // namespace check
