// A folder for temporary files.
#pragma once

#include <ambit/error.h>
#include <stdlib.h>

#include <filesystem>
#include <string>

namespace bench {

/// In $AMBIT_BENCH_FOLDER, else in memory if the system supports that, so that no disk is measured.
/// The destructor removes it.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string name = parent() + "/ambit_bench_XXXXXX";
    if (!mkdtemp(name.data())) throw ambit::Error("bench: expected to make " + name);
    path_ = name;
  }
  ~ScratchFolder() {
    std::error_code ignored;  // destructors do not throw, and the files are small
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  std::string file(const std::string& name) const { return (path_ / name).string(); }

  static std::string parent() {
    const std::string memory = "/dev/shm";
    if (const char* asked = ::getenv("AMBIT_BENCH_FOLDER")) return asked;
    if (std::filesystem::is_directory(memory)) return memory;
    return std::filesystem::temp_directory_path().string();
  }

 private:
  std::filesystem::path path_;
};

}  // namespace bench
