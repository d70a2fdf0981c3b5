// Writers that are killed at any moment: the file is the old one or the new one, and the next save
// removes their temporary files.
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/serialize.h>
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <random>
#include <string>
#include <thread>

#include "tests/temporary_folder.h"

using namespace ambit;

namespace {

constexpr int kRounds = 500;  // for each format
constexpr int kLongestWaitUs = 4000;

// Saves the two values alternately until it is killed. It writes a byte to the pipe when it begins.
pid_t start_writer(const StateDict& one, const StateDict& other, const std::string& path) {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    try {
      save(other, path);
      static_cast<void>(!::write(ends[1], "", 1));
      for (;;) {
        save(one, path);
        save(other, path);
      }
    } catch (...) {
      ::_exit(1);
    }
  }
  ::close(ends[1]);
  char begun = 0;
  CHECK(::read(ends[0], &begun, 1) == 1);
  ::close(ends[0]);
  return child;
}

bool equal(const StateDict& a, const StateDict& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].first != b[i].first || !a[i].second.equal(b[i].second)) return false;
  }
  return true;
}

size_t count_files(const TemporaryFolder& folder) {
  const std::filesystem::directory_iterator files(folder.path());
  return static_cast<size_t>(std::distance(begin(files), end(files)));
}

void kill_writers(const std::string& name) {
  const TemporaryFolder folder;
  const std::string path = folder / name;
  const StateDict one{{"x", full({30'000}, 1.0)}, {"n", tensor(1)}};
  const StateDict other{{"x", full({50'000}, 2.0)}, {"n", tensor(2)}, {"more", ones({3})}};
  std::mt19937 random(20260101);
  std::uniform_int_distribution<int> wait_us(0, kLongestWaitUs);
  int ones_seen = 0, others_seen = 0, temporaries = 0;
  for (int round = 0; round < kRounds; ++round) {
    const pid_t child = start_writer(one, other, path);
    std::this_thread::sleep_for(std::chrono::microseconds(wait_us(random)));
    ::kill(child, SIGKILL);
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(WIFSIGNALED(status));  // otherwise a save failed
    const StateDict found = load(path);
    const bool is_one = equal(found, one);
    REQUIRE((is_one || equal(found, other)));
    ++(is_one ? ones_seen : others_seen);
    temporaries += count_files(folder) > 1;
  }
  MESSAGE(name << ": " << ones_seen << " of one, " << others_seen << " of the other, "
               << temporaries << " times temporary files");
  // Otherwise no writer was killed during a save.
  CHECK(ones_seen > 0);
  CHECK(others_seen > 0);
  CHECK(temporaries > 0);
  save(one, path);
  CHECK(count_files(folder) == 1);
}

}  // namespace

TEST_CASE("a writer of safetensors that is killed leaves the old file or the new one") {
  kill_writers("f.safetensors");
}

TEST_CASE("a writer of PyTorch's files that is killed leaves the old file or the new one") {
  kill_writers("f.pth");
}
