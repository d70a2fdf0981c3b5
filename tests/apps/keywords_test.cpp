// WAV files for zoo/keywords: they are read bit by bit, training on them is training on the tones
// that they contain, and errors name the file. Skipped without libsndfile.
#include <ambit/ambit.h>
#include <ambit/detail/late_library.h>
#include <doctest/doctest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "program.h"
#include "tests/temporary_folder.h"
#include "zoo/shared/sounds.h"

using namespace ambit;
namespace fs = std::filesystem;

namespace {

bool has_library() {
  const OpenedLibrary library = open_library("libsndfile.so.1");
  if (!library.handle) MESSAGE("skipped: no libsndfile: ", library.reason);
  return library.handle;
}

// Frames [L,channels] or [L], int16, as a WAV file of 16-bit PCM.
void write_wav(const fs::path& path, const Tensor& frames, int64_t rate) {
  std::string bytes = "RIFF";
  const auto add = [&](int64_t value, int count) {
    for (int i = 0; i < count; ++i) bytes += static_cast<char>(value >> (8 * i) & 0xff);
  };
  const int64_t channels = frames.dim() == 2 ? frames.size(1) : 1, size = 2 * frames.numel();
  add(36 + size, 4);
  bytes += "WAVEfmt ";
  add(16, 4);  // size of the format
  add(1, 2);   // PCM
  add(channels, 2);
  add(rate, 4);
  add(rate * 2 * channels, 4);
  add(2 * channels, 2);
  add(16, 2);  // bits
  bytes += "data";
  add(size, 4);
  const Tensor flat = frames.flatten();
  for (int64_t i = 0; i < flat.numel(); ++i) add(flat.data_ptr<int16_t>()[i], 2);
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << bytes;
}

void write_all(const fs::path& folder, const zoo::Sounds& sounds) {
  for (int64_t i = 0; i < sounds.labels.size(0); ++i) {
    const auto label = static_cast<size_t>(sounds.labels[i].item<int64_t>());
    write_wav(folder / sounds.classes[label] / (std::to_string(1000 + i) + ".wav"),
              sounds.samples[i], sounds.rate);
  }
}

Tensor loud(int64_t size) { return randint(-32768, 32768, {size}, kInt64).to(kInt16); }

std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

}  // namespace

// One thread, so that no sum depends on the number of cores.
TEST_CASE("keywords trains on WAV files as on the tones in them") {
  if (!has_library()) return;
  const TemporaryFolder folder;
  write_all(folder.path() / "tones", zoo::make_tones(10, 7));
  const auto run = [&](const std::vector<std::string>& data) {
    const ProgramResult result = run_program(
        "zoo/keywords",
        with({"--device", "cpu", "--steps", "6", "--log-every", "1", "--seed", "7"}, data),
        {.folder = folder.path(), .environment = {"OMP_NUM_THREADS=1"}});
    INFO(result.errors);
    REQUIRE(result.exit_code == 0);
    return result.output;
  };
  const std::string from_files = run({"--data", "tones"});
  CHECK(from_files.find("Training on cpu: 72 sounds, 18 held out, 9 classes: chord, falling, ") ==
        0);
  CHECK(from_files == run({"--tones", "10"}));
}

TEST_CASE("WAV files are read in the order of their names, cut and extended to a second") {
  if (!has_library()) return;
  const TemporaryFolder folder;
  const Tensor a = loud(2000), b = loud(2000), longer = loud(2500), shorter = loud(1200);
  const fs::path yes = folder.path() / "yes", no = folder.path() / "no";
  write_wav(yes / "1.wav", a, 2000);
  write_wav(yes / "2.wav", longer, 2000);
  write_wav(yes / "3.wav", shorter, 2000);
  write_wav(yes / "4.wav", stack({a, b}, 1), 2000);  // two channels
  write_wav(yes / "5.wav", b, 2000);
  for (int i = 0; i < 6; ++i) write_wav(no / (std::to_string(i) + ".wav"), b, 2000);
  folder.write("yes/notes.txt", "ignored");
  write_wav(folder.path() / "_background_noise_" / "1.wav", a, 8000);
  folder.write("README.md", "ignored");

  const zoo::Sounds sounds = zoo::read_sounds(folder.path());
  CHECK(sounds.classes == std::vector<std::string>{"no", "yes"});
  CHECK(sounds.rate == 2000);
  CHECK(sounds.labels.equal(cat({zeros({6}, kInt64), ones({5}, kInt64)})));
  CHECK(sounds.samples.sizes() == IntArrayRef{11, 2000});
  CHECK(sounds.samples[0].equal(b));
  CHECK(sounds.samples[6].equal(a));
  CHECK(sounds.samples[7].equal(longer.narrow(0, 0, 2000)));
  CHECK(sounds.samples[8].equal(cat({shorter, zeros({800}, kInt16)})));
  // A mean of two samples in steps of 2^-16 is exact in float32; round() rounds halves to even.
  CHECK(sounds.samples[9].equal(((a.to(kFloat32) + b.to(kFloat32)) / 2).round().to(kInt16)));
}

TEST_CASE("folders without sounds and unreadable WAV files are refused") {
  if (!has_library()) return;
  const TemporaryFolder folder;
  const std::string path = folder.path();
  const auto error = [&] { return error_of([&] { zoo::read_sounds(path); }); };
  CHECK(error() == "--data: expected a folder of .wav files for each class in '" + path + "'");
  for (int i = 0; i < 4; ++i) {
    write_wav(folder.path() / "yes" / (std::to_string(i) + ".wav"), loud(1000), 4000);
  }
  CHECK(error() == "--data: expected at least 5 .wav files in '" + path + "/yes', got 4");
  write_wav(folder.path() / "yes/9.wav", loud(1000), 8000);
  CHECK(error() == "--data: expected the same rate in all files, 1000 to 200000 Hz, got 8000 in '" +
                       path + "/yes/9.wav'");
  folder.write("yes/9.wav", "no sound");
  CHECK(error().starts_with("--data: cannot read '" + path + "/yes/9.wav': "));
  write_wav(folder.path() / "yes/9.wav", loud(0), 4000);
  CHECK(error() == "--data: expected samples in '" + path + "/yes/9.wav', got none");
  CHECK(error_of([&] { zoo::read_sounds(path + "/missing"); }) ==
        "--data: expected a folder of .wav files for each class in '" + path + "/missing'");
}

TEST_CASE("keywords names the missing library in one line") {
  const TemporaryFolder folder;
  folder.write("libsndfile.so.1", "a file that cannot be loaded, which is found first");
  const ProgramResult result = run_program(
      "zoo/keywords", {"--data", "."},
      {.folder = folder.path(), .environment = {"LD_LIBRARY_PATH=" + folder.path().string()}});
  CHECK(result.exit_code == 1);
  CHECK(result.errors.starts_with(
      "keywords: --data: WAV files need libsndfile (Debian's package libsndfile1): "));
  CHECK(result.errors.find('\n') == result.errors.size() - 1);
}
