#include "runtime.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace ambit::distributed::mpi {
namespace {

constexpr int kNoteTag = 0;
// How often the thread looks. It shares its core with the computing, which does not wake it: what
// is begun and waited for at once would pay two switches of threads for nothing.
constexpr auto kWhileComputing = std::chrono::microseconds(200);
constexpr auto kIdle = Milliseconds(2);

// Plugins are opened for themselves, but Open MPI's own plugins look for its symbols in the
// process.
void make_visible() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(&MPI_Init_thread), &info) && info.dli_fname) {
    dlopen(info.dli_fname, RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD);
  }
}

void at_exit() {
  Runtime& runtime = Runtime::of_process();
  if (runtime.world()) runtime.leave_world(runtime.timeout);
}

}  // namespace

void check(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw DistributedError(fmt::format("{}: expected it to succeed, got: {}", call, text));
}

Runtime& Runtime::of_process() {
  static auto* runtime = new Runtime;  // leaked: its thread may be at work when the process ends
  return *runtime;
}

Runtime::Runtime() {
  int is_there = 0, level = 0;
  MPI_Initialized(&is_there);
  if (is_there) {
    MPI_Query_thread(&level);
  } else {
    make_visible();
    check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level), "MPI_Init_thread");
  }
  if (level < MPI_THREAD_SERIALIZED) {
    throw DistributedError(
        "MPI_Init_thread: expected calls from several threads to be allowed, "
        "got an MPI that takes them from one");
  }
  MPI_Comm world = MPI_COMM_NULL;
  check(MPI_Comm_dup(MPI_COMM_WORLD, &world), "MPI_Comm_dup");
  world_ = add_group(world);
  if (!is_there) std::atexit(at_exit);
  thread_ = std::thread([this] { run(); });
}

std::shared_ptr<Group> Runtime::add_group(MPI_Comm comm) {
  auto group = std::make_shared<Group>();
  group->comm = comm;
  check(MPI_Comm_dup(comm, &group->notes), "MPI_Comm_dup");
  for (const MPI_Comm c : {group->comm, group->notes}) {
    check(MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  }
  MPI_Comm_rank(comm, &group->rank);
  MPI_Comm_size(comm, &group->size);
  const auto size = static_cast<size_t>(group->size);
  group->known.resize(size);
  group->answered.resize(size);
  group->has_left.resize(size);
  groups_.push_back(group);
  return group;
}

void Runtime::tell(Group& group, int to, Note::Kind kind, uint64_t number,
                   const std::string& text) {
  Sent& sent = sent_.emplace_back();
  sent.note.kind = kind;
  sent.note.number = number;
  sent.note.length = static_cast<int32_t>(std::min(text.size(), sizeof sent.note.text));
  std::memcpy(sent.note.text, text.data(), static_cast<size_t>(sent.note.length));
  MPI_Isend(&sent.note, sizeof(Note), MPI_BYTE, to, kNoteTag, group.notes, &sent.request);
}

void Runtime::tell_all(Group& group, Note::Kind kind, uint64_t number, const std::string& text) {
  for (int r = 0; r < group.size; ++r) {
    if (r != group.rank) tell(group, r, kind, number, text);
  }
}

void Runtime::leave(Group& group) {
  group.has_left[static_cast<size_t>(group.rank)] = 1;
  group.known[static_cast<size_t>(group.rank)] = group.begun;
  tell_all(group, Note::left, group.begun);
}

// All have left and have done the same there: no message comes any more, since that is the last of
// each. MPI_Comm_free is called on all ranks then, each at its time; it waits for nobody.
bool Runtime::is_of_no_use(const Group& group) const {
  const auto is_of_group = [&](const auto& operation) { return operation->group.get() == &group; };
  return group.has_left[static_cast<size_t>(group.rank)] && group.failure.empty() &&
         sent_.empty() &&
         std::count(group.has_left.begin(), group.has_left.end(), 1) == group.size &&
         std::count(group.known.begin(), group.known.end(), group.begun) == group.size &&
         std::none_of(active_.begin(), active_.end(), is_of_group) &&
         std::none_of(lost_.begin(), lost_.end(), is_of_group);
}

void Runtime::free_unused() {
  std::erase_if(groups_, [&](const std::shared_ptr<Group>& group) {
    if (!is_of_no_use(*group)) return false;
    for (MPI_Comm* const c : {&group->comm, &group->notes}) {
      check(MPI_Comm_free(c), "MPI_Comm_free");
    }
    return true;
  });
}

void Runtime::fail(Group& group, const std::string& reason) {
  if (!group.failure.empty()) return;
  group.failure = reason;
  tell_all(group, Note::failed, group.begun, reason);
}

void Runtime::take(Group& group, int from, const Note& note) {
  const auto rank = static_cast<size_t>(from);
  switch (note.kind) {
    case Note::ask:  // who has left has said how far it came
      if (group.has_left[static_cast<size_t>(group.rank)]) return;
      return tell(group, from, Note::answer, group.begun);
    case Note::answer:
      group.known[rank] = note.number;
      group.answered[rank] = 1;
      return;
    case Note::failed:
      if (group.failure.empty()) {
        group.failure.assign(note.text, static_cast<size_t>(note.length));
      }
      return;
    case Note::left:
      group.known[rank] = note.number;
      group.has_left[rank] = 1;
      return;
  }
}

void Runtime::read_notes() {
  for (size_t i = 0; i < groups_.size(); ++i) {
    Group& group = *groups_[i];
    int is_there = 1;
    while (is_there) {
      MPI_Status status;
      check(MPI_Iprobe(MPI_ANY_SOURCE, kNoteTag, group.notes, &is_there, &status), "MPI_Iprobe");
      if (!is_there) break;
      Note note;
      check(MPI_Recv(&note, sizeof note, MPI_BYTE, status.MPI_SOURCE, kNoteTag, group.notes,
                     MPI_STATUS_IGNORE),
            "MPI_Recv");
      take(group, status.MPI_SOURCE, note);
    }
  }
  sent_.remove_if([](Sent& sent) {
    int is_done = 0;
    return MPI_Test(&sent.request, &is_done, MPI_STATUS_IGNORE) != MPI_SUCCESS || is_done;
  });
  free_unused();
}

void Runtime::test(Operation& operation) {
  const Group& group = *operation.group;
  if (!group.failure.empty()) {
    operation.error = group.failure;
    return;
  }
  const auto n = static_cast<int>(operation.requests.size());
  std::vector<MPI_Status> statuses(static_cast<size_t>(n));
  int is_done = 0;
  const int code = MPI_Testall(n, operation.requests.data(), &is_done, statuses.data());
  if (code != MPI_SUCCESS) {
    int worst = code;
    for (const MPI_Status& s : statuses) {
      if (code == MPI_ERR_IN_STATUS && s.MPI_ERROR != MPI_SUCCESS &&
          s.MPI_ERROR != MPI_ERR_PENDING) {
        worst = s.MPI_ERROR;
      }
    }
    try {
      check(worst, name(operation.transfer.what));
    } catch (const DistributedError& e) {
      operation.error = e.what();
    }
    return;
  }
  if (is_done) {
    for (size_t i = 0; i < operation.counts.size(); ++i) {
      int bytes = 0;
      MPI_Get_count(&statuses[i], MPI_BYTE, &bytes);
      if (bytes == operation.counts[i]) continue;
      operation.error = fmt::format("recv: expected {} bytes from rank {}, got {}",
                                    operation.counts[i], operation.transfer.peer, bytes);
    }
    operation.is_done = true;
    return;
  }
  for (int r = 0; r < group.size; ++r) {
    const auto rank = static_cast<size_t>(r);
    const bool is_awaited =
        operation.number > 0 ? group.known[rank] < operation.number : r == operation.transfer.peer;
    if (!group.has_left[rank] || !is_awaited) continue;
    operation.error =
        fmt::format("{}: expected rank {} to take part, got to know that it has left the group",
                    name(operation.transfer.what), r);
  }
}

void Runtime::progress() {
  // Messages about messages are rare, and to look for them is not for nothing.
  if (turn_++ % 16 == 0) read_notes();
  for (const auto& operation : active_) test(*operation);
  std::erase_if(active_, [this](const std::shared_ptr<Operation>& o) {
    if (!o->is_done && !o->error.empty()) lost_.push_back(o);
    return o->is_done || !o->error.empty();
  });
}

void Runtime::run() {
  Lock held = lock();
  while (!stops_) {
    if (waiting_.load() == 0) {
      try {
        turn_ = 0;  // so that it reads what others tell
        progress();
      } catch (const std::exception& e) {
        for (const auto& group : groups_) group->failure = e.what();
      }
    }
    const bool is_idle = active_.empty() || waiting_.load() > 0;
    wake_.wait_for(held, is_idle ? kIdle : kWhileComputing);
  }
}

void Runtime::leave_world(Milliseconds limit) {
  std::shared_ptr<Group> world;
  {
    const Lock held = lock();
    world = std::move(world_);
    if (!world) return;
    tell_all(*world, Note::left, world->begun);
  }
  const auto all_left = [&] {
    const auto left = std::count(world->has_left.begin(), world->has_left.end(), 1);
    return (left == world->size - 1 || !world->failure.empty()) && sent_.empty();
  };
  drive(limit, all_left);
  bool is_whole = false;
  {
    const Lock held = lock();
    is_whole = world->failure.empty() && active_.empty() && lost_.empty();
    stops_ = true;
    wake_.notify_all();
  }
  // A group that has failed cannot end well: the launcher ends what is left of it. It gets a
  // moment, so that the others can say why.
  const bool has_left = drive(Milliseconds(2000), [&] {
    return std::count(world->has_left.begin(), world->has_left.end(), 1) == world->size - 1;
  });
  thread_.join();
  if (is_whole && has_left) MPI_Finalize();
}

}  // namespace ambit::distributed::mpi
