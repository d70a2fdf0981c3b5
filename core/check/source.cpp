#include "source.h"

#include <ambit/error.h>
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <unordered_map>

namespace ambit::check {
namespace {

// Libraries whose calls are not the program's.
bool is_library(const std::string& file) {
  const std::string name = std::filesystem::path(file).filename();
  for (const char* begin : {"libambit", "libstdc++", "libc.", "libc++", "libgcc", "libpthread",
                            "ld-linux", "libm.", "libgomp", "libdnnl"}) {
    if (name.starts_with(begin)) return true;
  }
  return false;
}

bool is_library_header(const std::string& file) {
  for (const char* part : {"/include/ambit/", "/include/torch/", "/include/ATen/", "/include/c10/",
                           "/include/c++/", "/torch/include/", "/sysdeps/", "/csu/"}) {
    if (file.find(part) != file.npos) return true;
  }
  return false;
}

std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

std::vector<std::string> output_lines(const std::string& command) {
  FILE* pipe = popen(command.c_str(), "re");
  if (!pipe) throw Error("check: expected addr2line to start");
  std::vector<std::string> lines(1);
  for (int c = fgetc(pipe); c != EOF; c = fgetc(pipe)) {
    if (c == '\n') {
      lines.emplace_back();
    } else {
      lines.back() += static_cast<char>(c);
    }
  }
  lines.pop_back();
  if (pclose(pipe) != 0) throw Error("check: expected addr2line (package binutils) to succeed");
  return lines;
}

// Return the path relative to the current folder: annotations of CI systems need paths relative to
// the project, where programs usually run.
std::string relative(const std::filesystem::path& file) {
  const std::filesystem::path normal = file.lexically_normal();
  const std::filesystem::path path = normal.lexically_relative(std::filesystem::current_path());
  return path.empty() || *path.begin() == ".." ? normal : path;
}

// "/a/net.cpp:12 (discriminator 3)"
SourceCall call_of(const std::string& function, const std::string& text) {
  const size_t colon = text.rfind(':');
  const std::string file = text.substr(0, colon);
  if (file == "??" || colon == text.npos) return {.file = "", .function = function};
  return {.file = relative(file),
          .function = function,
          .line = std::atoi(text.c_str() + colon + 1),
          .is_library = is_library_header(file)};
}

// Look up addresses, at most as many as fit in a command line.
void look_up(const std::string& file, std::span<const uint64_t> addresses,
             std::map<uint64_t, std::vector<SourceCall>>& found) {
  std::string command = "addr2line -a -f -C -i -e " + quoted(file);
  for (const uint64_t address : addresses) command += fmt::format(" {:#x}", address);
  std::vector<SourceCall>* calls = nullptr;
  const std::vector<std::string> lines = output_lines(command + " 2>/dev/null");
  for (size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].starts_with("0x")) {  // an address, then pairs of function and line
      calls = &found[std::strtoull(lines[i].c_str(), nullptr, 16)];
    } else if (calls && i + 1 < lines.size()) {
      calls->push_back(call_of(lines[i], lines[i + 1]));
      ++i;
    }
  }
}

}  // namespace

std::vector<std::vector<SourceCall>> source_calls(const std::string& file,
                                                  std::span<const uint64_t> addresses) {
  std::vector<std::vector<SourceCall>> calls(addresses.size());
  std::error_code ignored;
  if (is_library(file) || !std::filesystem::exists(file, ignored)) return calls;
  std::map<uint64_t, std::vector<SourceCall>> found;
  constexpr size_t kMost = 1000;
  for (size_t i = 0; i < addresses.size(); i += kMost) {
    look_up(file, addresses.subspan(i, std::min(kMost, addresses.size() - i)), found);
  }
  for (size_t i = 0; i < addresses.size(); ++i) calls[i] = found[addresses[i]];
  return calls;
}

std::vector<SourceCall> program_calls(const SharedStack& stack) {
  static std::mutex mutex;
  static auto* const known = new std::unordered_map<SharedStack, std::vector<SourceCall>>;
  const std::lock_guard lock(mutex);
  const auto before = known->find(stack);
  if (before != known->end()) return before->second;
  const std::vector<Frame> frames = frames_of(*stack);
  std::map<std::string, std::vector<uint64_t>> addresses;
  for (const auto& [file, address] : frames) addresses[file].push_back(address);
  std::map<Frame, std::vector<SourceCall>> found;
  for (const auto& [file, of_file] : addresses) {
    const auto calls = source_calls(file, of_file);
    for (size_t i = 0; i < calls.size(); ++i) found[{file, of_file[i]}] = calls[i];
  }
  std::vector<SourceCall> calls;
  for (const Frame& frame : frames) {
    for (const SourceCall& call : found[frame]) {
      if (!call.is_library) calls.push_back(call);
    }
  }
  return known->emplace(stack, calls).first->second;
}

std::string line_text(const SourceCall& call) {
  return call.line == 0 ? "" : fmt::format("{}:{}", call.file, call.line);
}

}  // namespace ambit::check
