// Effects of save() on the existing file, its mode and its links; and files that save() refuses to
// replace.
#include <ambit/checkpoint.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/serialize.h>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "tests/child_process.h"
#include "tests/temporary_folder.h"

using namespace ambit;
namespace fs = std::filesystem;

namespace {

struct stat status(const std::string& path) {
  struct stat info {};
  REQUIRE(::stat(path.c_str(), &info) == 0);
  return info;
}

mode_t mode(const std::string& path) { return status(path).st_mode & 07777; }

template <class F>
std::string error_of(const F& f) {
  try {
    f();
  } catch (const SerializationError& e) {
    return e.what();
  }
  return "";
}

std::string save_error(const std::string& path) {
  return error_of([&] { save(ones({2}), path); });
}

bool holds(const std::string& path, const Tensor& expected) {
  Tensor t;
  load(t, path);
  return t.equal(expected);
}

size_t count_files(const TemporaryFolder& folder) {
  const fs::directory_iterator files(folder.path());
  return static_cast<size_t>(std::distance(begin(files), end(files)));
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a replaced file keeps its mode, and a new one has that of the umask") {
  const TemporaryFolder folder;
  const mode_t before = ::umask(027);
  for (const std::string name : {"f.safetensors", "f.pth"}) {
    const std::string path = folder / name;
    save(ones({2}), path);
    CHECK(mode(path) == 0640);
    for (const mode_t kept : {0600, 0644, 0666, 0200, 0755}) {
      REQUIRE(::chmod(path.c_str(), kept) == 0);
      save(ones({2}), path);
      CHECK(mode(path) == kept);
    }
  }
  // The set-user-ID bit is dropped, because it was set for the previous content.
  const std::string path = folder / "f.pth";
  REQUIRE(::chmod(path.c_str(), 04755) == 0);
  save(ones({2}), path);
  CHECK(mode(path) == 0755);
  ::umask(before);
}

TEST_CASE("a file that root replaces keeps its owner") {
  if (::geteuid() != 0) {
    MESSAGE("skipped: only root can give files to others");
    return;
  }
  const TemporaryFolder folder;
  const std::string path = folder / "f";
  save(ones({2}), path);
  REQUIRE(::chown(path.c_str(), 1234, 4321) == 0);
  save(zeros({2}), path);
  CHECK(status(path).st_uid == 1234);
  CHECK(status(path).st_gid == 4321);
}

TEST_CASE("a write-protected file is refused for every user") {
  const TemporaryFolder folder;
  for (const std::string name : {"f.safetensors", "f.pth"}) {
    const std::string path = folder / name;
    save(zeros({2}), path);
    REQUIRE(::chmod(path.c_str(), 0444) == 0);
    const std::string error = save_error(path);
    CHECK_MESSAGE(
        error == "save: cannot replace the write-protected '" + path + "': Permission denied",
        error);
    CHECK(mode(path) == 0444);
    CHECK(holds(path, zeros({2})));
  }
  fs::create_symlink("f.pth", folder / "link.pth");
  CHECK(contains(save_error(folder / "link.pth"), "write-protected"));
  CHECK(count_files(folder) == 3);
}

TEST_CASE("links are followed to the end, also to a file that does not exist yet") {
  const TemporaryFolder folder;
  fs::create_directory(folder / "there");
  fs::create_symlink("there/file", folder / "relative");
  fs::create_symlink(folder / "relative", folder / "absolute");
  fs::create_directory_symlink("there", folder / "folder");
  for (const std::string name : {"absolute", "relative", "folder/file"}) {
    INFO(name);
    save(full({2}, 7), folder / name);
    CHECK(holds(folder / "there/file", full({2}, 7)));
    fs::remove(folder / "there/file");  // makes the next link dangling again
  }
  CHECK(fs::is_symlink(folder / "absolute"));
  CHECK(fs::is_symlink(folder / "relative"));
  fs::create_symlink("round", folder / "round");
  CHECK(contains(save_error(folder / "round"), "Too many levels of symbolic links"));
  fs::create_symlink("nowhere/file", folder / "lost");
  CHECK(contains(save_error(folder / "lost"), "No such file or directory"));
}

TEST_CASE(
    "names may be as long as the system permits, and longer ones are refused with its message") {
  const TemporaryFolder folder;
  for (const size_t length : {240, 250, 255}) {
    const std::string path = folder / (std::string(length - 4, 'n') + ".pth");
    CHECK(save_error(path) == "");
    CHECK(holds(path, ones({2})));
  }
  CHECK(contains(save_error(folder / std::string(256, 'n')), "File name too long"));
  // A path whose length permits the file, but not a longer name in the same folder.
  std::string deep = folder.path().string();
  while (deep.size() + 201 < 4090) deep += "/" + std::string(200, 'd');
  deep += "/" + std::string(4092 - deep.size(), 'd');
  fs::create_directories(deep);
  CHECK(save_error(deep + "/f") == "");
  CHECK(holds(deep + "/f", ones({2})));
}

TEST_CASE("paths that name no file are refused") {
  const TemporaryFolder folder;
  save(ones({2}), folder / "f");
  CHECK(contains(save_error(""), "No such file or directory"));
  CHECK(contains(save_error(folder / "new/"), "Is a directory"));
  CHECK(contains(save_error(folder / "f/g"), "Not a directory"));
  CHECK(count_files(folder) == 1);
}

TEST_CASE("save removes temporary files of killed writers, and nothing else") {
  const TemporaryFolder folder;
  const std::string stale = folder.write(".ambit-0123456789abcdef.tmp", "half a file"),
                    written = folder.write(".ambit-00000000000000ff.tmp", "a writer lives"),
                    other = folder.write(".ambit-notes.tmp", "of somebody's"),
                    elsewhere = folder.write("below/.ambit-0123456789abcdef.tmp", "not asked for");
  const std::string link = folder / ".ambit-0123456789abcde0.tmp";
  fs::create_symlink("f", link);
  const int fd = ::open(written.c_str(), O_RDWR | O_CLOEXEC);
  REQUIRE(::flock(fd, LOCK_EX | LOCK_NB) == 0);
  save(ones({2}), folder / "f");
  CHECK_FALSE(fs::exists(stale));
  CHECK(fs::exists(written));
  CHECK(fs::exists(other));
  CHECK(fs::exists(elsewhere));
  CHECK(fs::is_symlink(link));
  ::close(fd);
  save(ones({2}), folder / "f");
  CHECK_FALSE(fs::exists(written));
}

TEST_CASE("check_writable() reports the errors of save(), and changes nothing") {
  const TemporaryFolder folder;
  const std::string path = folder / "f";
  check_writable(path);
  CHECK(count_files(folder) == 0);
  save(ones({2}), path);
  const struct stat before = status(path);
  check_writable(path);
  CHECK(status(path).st_ino == before.st_ino);
  REQUIRE(::chmod(path.c_str(), 0400) == 0);
  for (const std::string& bad : {path, folder.path().string(), folder / "none/f", std::string(),
                                 folder / std::string(256, 'n')}) {
    INFO(bad);
    const std::string error = error_of([&] { check_writable(bad); });
    CHECK(error != "");
    CHECK(error == save_error(bad));
  }
  // Opening a pipe without a reader would block.
  const std::string pipe = folder / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  check_writable(pipe);
  check_writable("/dev/full");  // only writing to it fails
}
