// Checks when the files of SummaryWriter contain the added events, and what happens with full
// disks, removed folders, several threads and forks.
#include <ambit/ambit.h>
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "event_files.h"
#include "tests/child_process.h"
#include "tests/temporary_folder.h"

using namespace ambit;
using tensorboard::SummaryWriter;
using tensorboard::SummaryWriterOptions;

namespace {

// Limits the size of files of this process; writing more is an error, as on a full disk.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t size_bytes) : old_handler_(signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &old_);
    const rlimit lower{size_bytes, old_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &lower);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &old_);
    signal(SIGXFSZ, old_handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit old_{};
  sighandler_t old_handler_;
};

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("events can be read after flush, and the writer continues") {
  const TemporaryFolder folder;
  SummaryWriter writer(folder.path());
  for (size_t step = 1; step <= 3; ++step) {
    writer.add_scalar("x", step, static_cast<int64_t>(step));
    writer.flush();
    CHECK(read_events(folder.path()).size() == 1 + step);
  }
}

TEST_CASE("an event can be read after flush_secs, with or without later events") {
  const TemporaryFolder folder;
  SummaryWriter writer(folder.path(), SummaryWriterOptions().max_queue(1).flush_secs(0));
  for (int step = 0; step < 3; ++step) writer.add_scalar("x", step, step);
  // The third event could be added to a queue of one, so the thread had removed the second and
  // written the first.
  CHECK(read_events(folder.path()).size() >= 2);

  const TemporaryFolder other;
  SummaryWriter idle(other.path(), SummaryWriterOptions().flush_secs(0.01));
  idle.add_scalar("x", 1);
  while (read_events(other.path()).size() < 2) std::this_thread::yield();
}

TEST_CASE("close ends the files; further events begin new ones") {
  const TemporaryFolder folder;
  SummaryWriter writer(folder.path());
  writer.add_scalar("x", 1);
  writer.close();
  writer.close();
  writer.flush();
  CHECK(event_files(folder.path()).size() == 1);
  writer.add_scalar("x", 2);
  writer.close();
  const std::vector<std::string> files = event_files(folder.path());
  REQUIRE(files.size() == 2);
  for (const std::string& file : files) CHECK(read_records(file).size() == 2);
}

TEST_CASE("two writers share a folder") {
  const TemporaryFolder folder;
  SummaryWriter a(folder.path()), b(folder.path());
  CHECK(event_files(folder.path()).size() == 2);
}

TEST_CASE("child: begins again in the folder of another training" * doctest::skip()) {
  const TemporaryFolder folder;
  {
    SummaryWriter writer(folder.path());
    for (int step = 0; step < 3000; ++step) writer.add_scalar("loss", 1, step);
    writer.add_image("image", rand({3, 300, 300}), 50);  // longer than the buffer of the reader
    writer.add_scalars("both", {{"a", 1}}, 7);
  }
  SummaryWriter writer(folder.path());
  writer.add_scalar("another", 1, 0);
  writer.add_image("image", zeros({3, 8, 8}), 50);
  writer.add_scalar("loss", 1, 2999);
  writer.flush();
  std::fputs("no line before this\n", stderr);
  writer.add_scalar("loss", 1, 5);
  writer.add_scalar("loss", 1, 6);
  writer.add_scalars("both", {{"a", 1}}, 6);
}

TEST_CASE("a writer reports that its folder has a later step") {
  const ChildResult result = run_child("child: begins again in the folder of another training");
  CHECK(result.exit_code == 0);
  const std::string& out = result.output;
  CHECK_MESSAGE(contains(out, "has step 2999 of 'loss', which is later than step 5: TensorBoard"),
                out);
  CHECK_MESSAGE(contains(out, "has step 7 of 'both', which is later than step 6: TensorBoard"),
                out);
  CHECK(out.find("no line before this") < out.find("SummaryWriter: another event file"));
  CHECK_FALSE(contains(out, "later than step 6 of 'loss'"));
  size_t lines = 0;
  for (size_t at = 0; (at = out.find("another event file", at)) != out.npos; ++at) ++lines;
  CHECK_MESSAGE(lines == 2, out);
}

TEST_CASE("child: adds histograms of NaN" * doctest::skip()) {
  const TemporaryFolder folder;
  SummaryWriter writer(folder.path());
  for (int step = 0; step < 3; ++step) {
    writer.add_histogram("weights", tensor({1., NAN, 2., INFINITY}), step);
  }
  writer.add_histogram("gradients", tensor({NAN, 1.}));
  writer.add_histogram("finite", ones({2}));
}

TEST_CASE("a histogram reports once for each tag how many values were left out") {
  const ChildResult result = run_child("child: adds histograms of NaN");
  CHECK(result.exit_code == 0);
  const std::string& out = result.output;
  const std::string weights = "left out 2 of 4 values of 'weights' that are not finite";
  CHECK_MESSAGE(contains(out, weights), out);
  CHECK(out.find(weights) == out.rfind(weights));
  CHECK_MESSAGE(contains(out, "left out 1 of 2 values of 'gradients'"), out);
  CHECK_FALSE(contains(out, "'finite'"));
}

TEST_CASE("several threads may add, flush and close") {
  constexpr int kThreads = 4, kEvents = 200;
  const TemporaryFolder folder;
  SummaryWriter writer(folder.path(), SummaryWriterOptions().max_queue(3).flush_secs(0.001));
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      const std::string tag = std::to_string(t);
      for (int step = 0; step < kEvents; ++step) {
        writer.add_scalar(tag, step, step);
        if (step % 50 == 0) writer.add_histogram("h" + tag, ones({5}), step);
        if (step % 50 == t) writer.flush();
        if (step == 100 && t == 0) writer.close();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  writer.close();
  std::map<std::string, int> next;  // the next step by tag: each thread's events are in order
  for (const std::string& file : event_files(folder.path())) {
    for (std::string& record : read_records(file)) {
      const Event event(std::move(record));
      if (!event.event().has(5) || event.tag()[0] == 'h') continue;
      CHECK(event.step() == next[event.tag()]++);
    }
  }
  CHECK(next.size() == kThreads);
  for (const auto& [tag, count] : next) CHECK(count == kEvents);
}

TEST_CASE("a folder that cannot be created is an error at once") {
  const TemporaryFolder folder;
  const std::string file = folder.write("file", "");
  const std::string error = message_of([&] { SummaryWriter(file + "/run"); });
  CHECK_MESSAGE(contains(error, "SummaryWriter: cannot create the folder of '" + file), error);
  CHECK_MESSAGE(contains(error, "Not a directory"), error);
}

TEST_CASE("a file that cannot be created is an error at once") {
  const TemporaryFolder folder;
  const FileSizeLimit limit(10);
  const std::string error = message_of([&] { SummaryWriter writer(folder.path()); });
  CHECK_MESSAGE(contains(error, "': File too large"), error);
}

TEST_CASE("options out of range are errors") {
  const TemporaryFolder folder;
  const auto make = [&](SummaryWriterOptions options) { SummaryWriter(folder.path(), options); };
  CHECK_THROWS_WITH_AS(make(SummaryWriterOptions().max_queue(0)),
                       "SummaryWriter: expected max_queue of at least 1, got 0", Error);
  for (const double bad : {-1.0, std::nan(""), 1e300}) {
    CHECK_THROWS_AS(make(SummaryWriterOptions().flush_secs(bad)), Error);
  }
  CHECK(event_files(folder.path()).empty());
}

TEST_CASE("a full disk is an error at every call up to close, and leaves complete records") {
  const TemporaryFolder folder;
  SummaryWriter writer(folder.path());
  writer.add_scalar("kept", 1);
  writer.flush();
  {
    const FileSizeLimit limit(4096);
    writer.add_scalar("lost", 2);
    writer.add_text("lost", std::string(5000, 'x'));
    const std::string expected = "': File too large; lost 2 unwritten events";
    std::string error = message_of([&] { writer.flush(); });
    CHECK_MESSAGE(contains(error, "SummaryWriter: cannot write '"), error);
    CHECK_MESSAGE(contains(error, event_files(folder.path())[0] + expected), error);
    CHECK(message_of([&] { writer.add_scalar("refused", 3); }) == error);
    CHECK(message_of([&] { writer.flush(); }) == error);
    CHECK(message_of([&] { writer.close(); }) == error);
  }
  std::vector<Event> events = read_events(folder.path());
  REQUIRE(events.size() == 2);
  CHECK(events[1].tag() == "kept");

  writer.add_scalar("after", 4);  // a new file
  writer.close();
  CHECK(event_files(folder.path()).size() == 2);
}

TEST_CASE("a full disk is an error of the next add after the thread has failed to write") {
  const TemporaryFolder folder;
  SummaryWriter writer(folder.path(), SummaryWriterOptions().max_queue(1).flush_secs(0));
  const FileSizeLimit limit(4096);
  std::string error = "no error";
  // The first event is too large. The third waits until the thread has processed the first, if the
  // queue is full.
  for (int i = 0; i < 3 && error == "no error"; ++i) {
    error = message_of([&] { writer.add_text("x", std::string(i == 0 ? 5000 : 1, 'x')); });
  }
  CHECK_MESSAGE(contains(error, "File too large; lost "), error);
}

TEST_CASE("a removed folder is an error") {
  const TemporaryFolder folder;
  SummaryWriter writer(folder / "run");
  writer.add_scalar("x", 1);
  writer.flush();
  std::filesystem::remove_all(folder / "run");
  writer.add_scalar("x", 2);
  const std::string error = message_of([&] { writer.flush(); });
  CHECK_MESSAGE(contains(error, "it was removed, with all in it; lost 1 unwritten event"), error);
  CHECK(message_of([&] { writer.close(); }) == error);
  writer.add_scalar("x", 3);  // creates the folder again
  writer.close();
  CHECK(read_events(folder / "run").size() == 2);
}

TEST_CASE("a folder removed after the last event is an error of close") {
  const TemporaryFolder folder;
  SummaryWriter writer(folder / "run");
  std::filesystem::remove_all(folder / "run");
  CHECK_THROWS_AS(writer.close(), Error);
}

TEST_CASE("a run whose folder cannot be created is an error") {
  const TemporaryFolder folder;
  SummaryWriter writer(folder.path());
  folder.write("a_b", "a file where a folder should be");
  writer.add_scalars("a", {{"b", 1}});
  CHECK(contains(message_of([&] { writer.flush(); }), "cannot create the folder of"));
}

TEST_CASE("child: loses events in a destructor" * doctest::skip()) {
  const TemporaryFolder folder;
  SummaryWriter writer(folder / "run");
  writer.add_scalar("x", 1);
  std::filesystem::remove_all(folder / "run");
}

TEST_CASE("child: loses events that a call has reported" * doctest::skip()) {
  const TemporaryFolder folder;
  SummaryWriter writer(folder / "run");
  std::filesystem::remove_all(folder / "run");
  writer.add_scalar("x", 1);
  CHECK_THROWS_AS(writer.flush(), Error);
}

TEST_CASE("the destructor prints lost events on stderr, unless a call has reported them") {
  const ChildResult silent = run_child("child: loses events that a call has reported");
  CHECK(silent.exit_code == 0);
  CHECK_MESSAGE(!contains(silent.output, "removed"), silent.output);
  const ChildResult result = run_child("child: loses events in a destructor");
  CHECK(result.signal == 0);
  CHECK(result.exit_code == 0);
  CHECK_MESSAGE(contains(result.output, "ambit: SummaryWriter: cannot write '"), result.output);
  CHECK_MESSAGE(contains(result.output, "removed, with all in it; lost 1 unwritten event"),
                result.output);
}

TEST_CASE("child: uses a writer in a fork" * doctest::skip()) {
  const TemporaryFolder folder;
  auto writer = std::make_unique<SummaryWriter>(folder.path());
  const pid_t fork_id = fork();
  if (fork_id == 0) {
    const std::string expected =
        "SummaryWriter: expected the process that created it, got a forked child";
    const bool right = message_of([&] { writer->add_scalar("x", 1); }) == expected &&
                       message_of([&] { writer->flush(); }) == expected &&
                       message_of([&] { writer->close(); }) == expected;
    writer.reset();  // must not wait for a thread that does not exist
    _exit(right ? 7 : 1);
  }
  int status = 0;
  waitpid(fork_id, &status, 0);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 7);
  writer->add_scalar("x", 1);
  writer->close();
  CHECK(read_events(folder.path()).size() == 2);
}

TEST_CASE("in a fork every call is an error, and the parent continues") {
  const ChildResult result = run_child("child: uses a writer in a fork");
  CHECK_MESSAGE(result.exit_code == 0, result.output);
}
