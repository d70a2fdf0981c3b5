#include <ambit/backend/plugin.h>
#include <ambit/build_info.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <libdeflate.h>
#include <zlib.h>

#include <filesystem>
#include <nlohmann/json.hpp>

namespace ambit {
namespace {

// Return the file that a function was loaded from: the library in use, which may be another one
// than the program was compiled with.
std::filesystem::path file_of(const void* function) {
  Dl_info info;
  if (!dladdr(function, &info) || !info.dli_fname) return {};
  std::error_code ignored;
  return std::filesystem::absolute(info.dli_fname, ignored).lexically_normal();
}

template <class Function>
std::string loaded(std::string_view version, Function* function) {
  const auto file = file_of(reinterpret_cast<const void*>(function));
  return fmt::format("{} ({})", version, file.filename().string());
}

std::string compiler() {
#if defined(__clang__)
  return "clang++ " __clang_version__;
#else
  return "g++ " __VERSION__;
#endif
}

}  // namespace

std::vector<std::pair<std::string, std::string>> build_info() {
  return {
      {"version", AMBIT_VERSION},
      {"build", AMBIT_BUILD_TAG},
      {"file", file_of(reinterpret_cast<const void*>(&build_info)).string()},
      {"compiler", compiler()},
      {"fmt",
       loaded(
           fmt::format("{}.{}.{}", FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100),
           static_cast<std::string (*)(fmt::string_view, fmt::format_args)>(&fmt::vformat))},
      {"zlib", loaded(zlibVersion(), &zlibVersion)},
      {"libdeflate", loaded(LIBDEFLATE_VERSION_STRING, &libdeflate_crc32)},
      {"nlohmann_json", fmt::format("{}.{}.{}", NLOHMANN_JSON_VERSION_MAJOR,
                                    NLOHMANN_JSON_VERSION_MINOR, NLOHMANN_JSON_VERSION_PATCH)},
  };
}

}  // namespace ambit
