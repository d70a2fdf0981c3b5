// libsndfile is opened at run time, so that only programs that read sounds need it. The
// declarations are those of sndfile.h.
#include <ambit/ambit.h>
#include <ambit/detail/late_library.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <set>

#include "zoo/shared/sounds.h"

namespace zoo {
namespace {

using namespace ambit;
namespace fs = std::filesystem;

struct FileInfo {  // SF_INFO
  int64_t frames;
  int rate, channels, format, sections, seekable;
};
struct OpenFile;  // SNDFILE

struct SoundLibrary {
  OpenFile* (*open)(const char*, int mode, FileInfo*) = nullptr;
  int (*close)(OpenFile*) = nullptr;
  int64_t (*read_floats)(OpenFile*, float*, int64_t frames) = nullptr;
  const char* (*error)(OpenFile*) = nullptr;

  SoundLibrary() {
    const OpenedLibrary library = open_library("libsndfile.so.1");
    if (!library.handle) {
      throw Error("--data: WAV files need libsndfile (Debian's package libsndfile1): " +
                  library.reason);
    }
    const auto find = [&]<class F>(F& function, const char* name) {
      function = reinterpret_cast<F>(dlsym(library.handle, name));
      if (!function) throw Error(fmt::format("--data: libsndfile lacks {}", name));
    };
    find(open, "sf_open");
    find(close, "sf_close");
    find(read_floats, "sf_readf_float");
    find(error, "sf_strerror");
  }

  /// Read the first second: int16 [rate]. `rate`: the expected one; 0: any, and it is set.
  Tensor read(const std::string& path, int64_t& rate) const {
    FileInfo info{};
    const std::unique_ptr<OpenFile, int (*)(OpenFile*)> file(
        open(path.c_str(), /*SFM_READ=*/0x10, &info), close);
    if (!file) throw Error(fmt::format("--data: cannot read '{}': {}", path, error(nullptr)));
    if (rate == 0) rate = info.rate;
    if (info.rate != rate || rate < 1000 || rate > 200000) {
      throw Error(fmt::format(
          "--data: expected the same rate in all files, 1000 to 200000 Hz, got {} in '{}'",
          info.rate, path));
    }
    const Tensor frames = zeros({rate, info.channels});
    if (read_floats(file.get(), frames.data_ptr<float>(), rate) <= 0) {
      throw Error(fmt::format("--data: expected samples in '{}', got none", path));
    }
    return (nan_to_num(frames).mean({1}) * 32768).round().clamp(-32768, 32767).to(kInt16);
  }
};

// Return the entries in alphabetical order; none if `folder` is not a folder.
std::set<fs::path> entries(const fs::path& folder) {
  if (!fs::is_directory(folder)) return {};
  return {fs::directory_iterator(folder), fs::directory_iterator()};
}

}  // namespace

Sounds read_sounds(const std::string& folder) {
  const SoundLibrary library;
  Sounds result;
  std::vector<Tensor> samples;
  std::vector<int64_t> labels;
  for (const fs::path& of_class : entries(folder)) {
    const std::string name = of_class.filename();
    if (name[0] == '_' || !fs::is_directory(of_class)) continue;
    for (const fs::path& file : entries(of_class)) {
      if (file.extension() == ".wav") samples.push_back(library.read(file, result.rate));
    }
    if (const size_t count = samples.size() - labels.size(); count < 5) {
      throw Error(fmt::format("--data: expected at least 5 .wav files in '{}', got {}",
                              of_class.string(), count));
    }
    labels.resize(samples.size(), static_cast<int64_t>(result.classes.size()));
    result.classes.push_back(name);
  }
  if (samples.empty()) {
    throw Error(
        fmt::format("--data: expected a folder of .wav files for each class in '{}'", folder));
  }
  result.samples = stack(samples);
  result.labels = tensor(labels);
  return result;
}

}  // namespace zoo
