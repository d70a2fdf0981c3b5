// save() and load() if a system call fails, for each call: a clear error, the old file unchanged,
// and no other file.
#include <ambit/checkpoint.h>
#include <ambit/error.h>
#include <ambit/nn/nn.h>
#include <ambit/ops/creation.h>
#include <ambit/serialize.h>
#include <doctest/doctest.h>

#include <functional>
#include <string>

#include "faults.h"
#include "tests/temporary_folder.h"

using namespace ambit;
using faults::Call;
using faults::Fault;

namespace {

enum class Outcome { done, serialization_error, out_of_memory };

struct Attempt {
  Outcome outcome;
  std::string error;
  bool happened;  // the fault occurred
};

Attempt attempt(Call call, int n, const std::function<void()>& work) {
  const Fault fault(call, n);
  try {
    work();
  } catch (const SerializationError& e) {
    return {Outcome::serialization_error, e.what(), fault.happened()};
  } catch (const OutOfMemoryError& e) {
    return {Outcome::out_of_memory, e.what(), fault.happened()};
  }
  return {Outcome::done, "", fault.happened()};
}

bool is_memory(Call call) { return call == Call::allocate || call == Call::malloc; }

size_t count_files(const TemporaryFolder& folder) {
  const std::filesystem::directory_iterator files(folder.path());
  return static_cast<size_t>(std::distance(begin(files), end(files)));
}

const StateDict& old_tensors() {
  static const StateDict tensors{{"x", ones({100})}};
  return tensors;
}
const StateDict& new_tensors() {
  static const StateDict tensors{
      {"x", zeros({5000})}, {"flag", tensor({true, false})}, {"n", tensor(7)}};
  return tensors;
}
const Metadata kNotes{{"note", "a"}, {"other", "b"}, {"third", std::string(100, 'c')}};

const char* const kFiles[] = {"f.safetensors", "f.pth"};

}  // namespace

TEST_CASE("a call that fails while a file is saved leaves the old file, and no other") {
  for (const std::string name : kFiles) {
    const TemporaryFolder folder;
    const std::string path = folder / name;
    save(old_tensors(), path);
    const std::string before = read_bytes(path);
    save(new_tensors(), path, kNotes);
    const std::string after = read_bytes(path);
    for (const Call call : {Call::open, Call::write, Call::fsync, Call::close, Call::rename,
                            Call::mmap, Call::fstat, Call::allocate, Call::malloc}) {
      int failures = 0;
      for (int n = 1;; ++n) {
        save(old_tensors(), path);
        const Attempt a = attempt(call, n, [&] { save(new_tensors(), path, kNotes); });
        INFO(name, ", call ", static_cast<int>(call), ", the ", n, ". one: ", a.error);
        CHECK(count_files(folder) == 1);
        const std::string now = read_bytes(path);
        if (a.outcome == Outcome::done) {
          CHECK(now == after);
        } else if (a.error.find("cannot flush the folder of") != std::string::npos) {
          CHECK(now == after);  // complete, but after a power failure the old file might be back
        } else {
          CHECK(now == before);
        }
        if (!a.happened) break;
        failures += a.outcome != Outcome::done;
        if (is_memory(call)) {
          CHECK(a.outcome != Outcome::serialization_error);
        } else {
          CHECK(a.outcome != Outcome::out_of_memory);
        }
      }
      INFO(name, ", call ", static_cast<int>(call));
      // No code maps files today, and a sanitizer has its own malloc.
      if (call != Call::mmap && call != Call::malloc) CHECK(failures > 0);
    }
  }
}

TEST_CASE("a write that is short or interrupted continues") {
  for (const std::string name : kFiles) {
    const TemporaryFolder folder;
    const std::string path = folder / name;
    save(new_tensors(), path);
    const std::string whole = read_bytes(path);
    for (const Call call : {Call::short_write, Call::interrupted_write}) {
      int n = 1;
      for (bool more = true; more; ++n) {
        const Attempt a = attempt(call, n, [&] { save(new_tensors(), path); });
        CHECK(a.outcome == Outcome::done);
        CHECK(read_bytes(path) == whole);
        more = a.happened;
      }
      CHECK(n > 2);
    }
  }
}

TEST_CASE("a call that fails while a file is read gives a clear error, and no partial result") {
  const TemporaryFolder folder;
  for (const std::string name : kFiles) {
    const std::string path = folder / name;
    save(new_tensors(), path, kNotes);
    load(path);  // opens the library for it, once
    for (const Call call : {Call::open, Call::pread, Call::fstat, Call::close, Call::mmap,
                            Call::allocate, Call::malloc}) {
      for (int n = 1;; ++n) {
        Metadata notes{{"kept", "yes"}};
        StateDict loaded;
        const Attempt a = attempt(call, n, [&] { loaded = load(path, kCPU, &notes); });
        INFO(name, ", call ", static_cast<int>(call), ", the ", n, ". one: ", a.error);
        if (a.outcome == Outcome::done) {
          CHECK(loaded.size() == new_tensors().size());
          CHECK(notes == kNotes);
        } else {
          CHECK(loaded.empty());
          CHECK(notes.size() == 1);
          CHECK(a.error.find(path) != std::string::npos);
        }
        if (!a.happened) break;
        CHECK(a.outcome !=
              (is_memory(call) ? Outcome::serialization_error : Outcome::out_of_memory));
      }
    }
  }
}

TEST_CASE("a module is never saved with an invalid name") {
  const TemporaryFolder folder;
  for (const std::string name : kFiles) {
    const std::string path = folder / name;
    const nn::Linear linear(2, 3);
    const Attempt a = attempt(Call::demangle, 1, [&] { save(linear, path); });
    REQUIRE(a.happened);
    CHECK(a.outcome == Outcome::out_of_memory);
    CHECK_FALSE(std::filesystem::exists(path));
    save(linear, path);
    nn::Linear back(2, 3);
    load(back, path);
    CHECK(back->weight.equal(linear->weight));
  }
}
