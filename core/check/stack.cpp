#include "stack.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <elf.h>
#include <execinfo.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <string_view>
#include <system_error>
#include <unordered_map>

namespace ambit::check {
namespace {

// The call instruction ends at the return address, so the address before it has the line of the
// call.
const char* call_of(void* frame) { return static_cast<const char*>(frame) - 1; }

bool is_own(const Dl_info& file) {
  Dl_info own;
  return dladdr(reinterpret_cast<void*>(&current_stack), &own) != 0 &&
         own.dli_fbase == file.dli_fbase;
}

// Names may be relative to the folder in which the process started. The name of the program itself
// is its argv[0], which need not be a path.
std::string path_of(const Dl_info& file) {
  std::error_code ignored;
  const std::filesystem::path path = std::filesystem::absolute(file.dli_fname, ignored);
  if (std::filesystem::is_regular_file(path, ignored)) return path;
  return std::filesystem::read_symlink("/proc/self/exe", ignored);
}

// Return true for a file that is loaded at a fixed address: its symbols have absolute addresses.
bool is_fixed(const Dl_info& file) {
  return static_cast<const Elf64_Ehdr*>(file.dli_fbase)->e_type == ET_EXEC;
}

}  // namespace

Stack current_stack() {
  std::array<void*, 64> frames;
  const int count = backtrace(frames.data(), static_cast<int>(frames.size()));
  return Stack(frames.begin(), frames.begin() + count);
}

SharedStack shared_stack() {
  constexpr size_t kMost = 100'000;  // programs that generate code may have more
  static std::mutex mutex;
  static auto* const known = new std::map<Stack, SharedStack>;  // leaked: used until exit
  Stack stack = current_stack();
  const std::lock_guard lock(mutex);
  const auto found = known->find(stack);
  if (found != known->end()) return found->second;
  auto shared = std::make_shared<const Stack>(stack);
  if (known->size() < kMost) known->emplace(std::move(stack), shared);
  return shared;
}

std::vector<Frame> frames_of(const Stack& stack) {
  std::vector<Frame> frames;
  for (void* frame : stack) {
    Dl_info file;
    if (!dladdr(call_of(frame), &file) || !file.dli_fname || is_own(file)) continue;
    const char* base = is_fixed(file) ? nullptr : static_cast<const char*>(file.dli_fbase);
    const auto address =
        reinterpret_cast<uintptr_t>(call_of(frame)) - reinterpret_cast<uintptr_t>(base);
    frames.emplace_back(path_of(file), address);
  }
  return frames;
}

std::vector<std::string> api_functions(const Stack& stack) {
  std::vector<std::string> functions;
  for (void* frame : stack) {
    Dl_info file;
    if (!dladdr(call_of(frame), &file) || !file.dli_fname) continue;
    if (std::string_view(file.dli_fname).find("/libambit") == std::string_view::npos) break;
    if (!file.dli_sname || is_own(file)) continue;
    const std::unique_ptr<char, void (*)(void*)> name(
        abi::__cxa_demangle(file.dli_sname, nullptr, nullptr, nullptr), std::free);
    const std::string text = name ? name.get() : file.dli_sname;
    functions.push_back(text.substr(0, text.find('(')));
  }
  return functions;
}

std::string api_function(const Stack& stack) {
  const std::vector<std::string> functions = api_functions(stack);
  return functions.empty() ? "" : functions.back();
}

// A search of the symbols is slow.
std::string api_function(const SharedStack& stack) {
  constexpr size_t kMost = 100'000;
  static std::mutex mutex;
  static auto* const known = new std::unordered_map<SharedStack, std::string>;
  const std::lock_guard lock(mutex);
  const auto found = known->find(stack);
  if (found != known->end()) return found->second;
  std::string function = api_function(*stack);
  if (known->size() < kMost) known->emplace(stack, function);
  return function;
}

std::string short_name(const std::string& function) {
  constexpr std::string_view kForward = "::forward";
  const std::string_view whole = function;
  const std::string_view call =
      whole.ends_with(kForward) ? whole.substr(0, whole.size() - kForward.size()) : whole;
  const size_t colon = call.rfind(':');
  std::string name(colon == call.npos ? call : call.substr(colon + 1));
  if (name.ends_with("Impl")) name.resize(name.size() - 4);
  return name;
}

bool is_query(const Stack& stack) {
  for (void* frame : stack) {
    Dl_info file;
    if (!dladdr(call_of(frame), &file) || !file.dli_sname) continue;
    const std::string_view symbol = file.dli_sname;
    if (symbol.find("device_count") != symbol.npos || symbol.find("is_available") != symbol.npos) {
      return true;
    }
  }
  return false;
}

}  // namespace ambit::check
