#include "runtime.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "launcher.h"

namespace ambit::distributed::mpi {
namespace {

constexpr int kNoteTag = 0;
// Polling intervals of the thread. It shares a core with the computation, and a poll costs about 20
// us: at 0.2 ms a tenth of the hidden time. Starting an operation does not wake it: a transfer
// awaited at once would cost two thread switches for nothing.
constexpr auto kWhileComputing = Milliseconds(1);
constexpr auto kIdle = Milliseconds(10);

}  // namespace

std::string error_text(int code, const char* call) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  return fmt::format("{}: expected it to succeed, got: {}", call, text);
}

void check(int code, const char* call) {
  if (code != MPI_SUCCESS) throw DistributedError(error_text(code, call));
}

std::jthread limited(const char* call) {
  return std::jthread([call, limit = Runtime::timeout](const std::stop_token& is_over) {
    std::mutex mutex;
    std::unique_lock lock(mutex);
    std::condition_variable_any().wait_for(lock, is_over, limit, [] { return false; });
    if (is_over.stop_requested()) return;
    fmt::print(stderr, "{}: expected all ranks to take part within {:g} s, but it still waits\n",
               call, static_cast<double>(limit.count()) / 1000);
    std::_Exit(1);
  });
}

Runtime& Runtime::of_process() {
  static auto* runtime = new Runtime;  // leaked: its thread may be running at exit
  return *runtime;
}

Runtime::Runtime() {
  const std::jthread limit = limited("init_process_group");
  const std::string others = sign_of_others();
  int is_there = 0, level = 0;
  MPI_Initialized(&is_there);
  if (is_there) {
    MPI_Query_thread(&level);
  } else {
    // Plugins are opened with local symbols, but Open MPI's own plugins need its symbols globally.
    Dl_info info{};
    if (dladdr(reinterpret_cast<void*>(&MPI_Init_thread), &info) && info.dli_fname) {
      dlopen(info.dli_fname, RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD);
    }
    check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level), "MPI_Init_thread");
  }
  if (level < MPI_THREAD_SERIALIZED) {
    throw DistributedError("MPI_Init_thread: expected MPI_THREAD_SERIALIZED, got less");
  }
  int size = 0;
  check(MPI_Comm_size(MPI_COMM_WORLD, &size), "MPI_Comm_size");
  check_launcher(others, size);
  MPI_Comm world = MPI_COMM_NULL;
  check(MPI_Comm_dup(MPI_COMM_WORLD, &world), "MPI_Comm_dup");
  world_ = add_group(world);
  if (!is_there) std::atexit([] { of_process().leave_world(); });
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
  group->peers.resize(static_cast<size_t>(group->size));
  groups_.push_back(group);
  return group;
}

void Runtime::send_note(Group& group, int to, Note::Kind kind, const std::string& text) {
  Sent& sent = sent_.emplace_back();
  sent.note = {kind, group.begun, {}};
  text.copy(sent.note.text, sizeof sent.note.text - 1);
  MPI_Isend(&sent.note, sizeof(Note), MPI_BYTE, to, kNoteTag, group.notes, &sent.request);
}

void Runtime::send_note_to_all(Group& group, Note::Kind kind, const std::string& text) {
  for (int r = 0; r < group.size; ++r) {
    if (r != group.rank) send_note(group, r, kind, text);
  }
}

void Runtime::leave(Group& group) {
  group.peer(group.rank) = {group.begun, true, true};
  send_note_to_all(group, Note::left);
}

void Runtime::free_unused() {
  std::erase_if(groups_, [&](const std::shared_ptr<Group>& group) {
    const auto is_of_group = [&](const auto& operation) { return operation->group == group; };
    // All ranks have left after the same number of collectives: no further messages can arrive,
    // because a rank sends its last message when it leaves.
    const bool is_of_no_use =
        group->have_all_left() && group->failure.empty() && sent_.empty() &&
        std::ranges::count(group->peers, group->begun, &Peer::begun) == group->size &&
        std::ranges::none_of(active_, is_of_group) && std::ranges::none_of(lost_, is_of_group);
    if (!is_of_no_use) return false;
    // MPI_Comm_free is collective, but does not block; every rank calls it eventually.
    for (MPI_Comm* const c : {&group->comm, &group->notes}) {
      check(MPI_Comm_free(c), "MPI_Comm_free");
    }
    return true;
  });
}

void Runtime::take(Group& group, int from, const Note& note) {
  Peer& peer = group.peer(from);
  switch (note.kind) {
    case Note::ask:  // ranks that have left have sent their count
      if (!group.peer(group.rank).has_left) send_note(group, from, Note::answer);
      return;
    case Note::failed:
      if (group.failure.empty()) group.failure = note.text;
      return;
    case Note::answer:
    case Note::left:
      peer = {note.number, true, note.kind == Note::left};
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
  Group& group = *operation.group;
  const Transfer& transfer = operation.transfer;
  if (!group.failure.empty()) {
    operation.error = group.failure;
    return;
  }
  const auto n = static_cast<int>(operation.requests.size());
  operation.statuses.resize(operation.requests.size());
  int is_done = 0;
  int code = MPI_Testall(n, operation.requests.data(), &is_done, operation.statuses.data());
  for (const MPI_Status& s : operation.statuses) {
    if (code == MPI_ERR_IN_STATUS && s.MPI_ERROR != MPI_SUCCESS && s.MPI_ERROR != MPI_ERR_PENDING)
      code = s.MPI_ERROR;
  }
  if (code != MPI_SUCCESS) {
    operation.error = error_text(code, name(transfer.what));
    return;
  }
  if (is_done) {
    operation.is_done = true;
    if (transfer.what != Collective::recv) return;
    MPI_Count got = 0;
    MPI_Get_elements_x(&operation.statuses[0], MPI_BYTE, &got);
    const int64_t bytes = transfer.count * static_cast<int64_t>(element_size(transfer.dtype));
    if (got == bytes) return;
    operation.error =
        fmt::format("recv: expected {} bytes from rank {}, got {}", bytes, transfer.peer, got);
    return;
  }
  for (int r = 0; r < group.size; ++r) {
    const Peer& peer = group.peer(r);
    const bool is_awaited =
        operation.number > 0 ? peer.begun < operation.number : r == transfer.peer;
    if (!peer.has_left || !is_awaited) continue;
    operation.error = fmt::format("{}: expected rank {} to take part, but it has left the group",
                                  name(transfer.what), r);
  }
}

void Runtime::progress() {
  // Notes are rare and polling for them is not free.
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
    const bool is_free = waiting_.use_count() == 1;
    if (is_free) {
      try {
        turn_ = 0;  // read notes in this call
        progress();
      } catch (const std::exception& e) {
        for (const auto& group : groups_) group->failure = e.what();
      }
    }
    const bool is_idle = active_.empty() || !is_free;
    wake_.wait_for(held, is_idle ? kIdle : kWhileComputing);
  }
}

void Runtime::leave_world() noexcept try {
  std::shared_ptr<Group> world;
  {
    const Lock held = lock();
    world = std::exchange(world_, nullptr);
    if (!world) return;
    leave(*world);
  }
  drive(timeout,
        [&] { return !world->failure.empty() || (world->have_all_left() && sent_.empty()); });
  bool is_whole = false;
  {
    const Lock held = lock();
    is_whole = world->failure.empty() && active_.empty() && lost_.empty();
    stops_ = true;
    wake_.notify_all();
  }
  // A failed group cannot finalise MPI: the launcher ends the remaining ranks, after a delay in
  // which they can report the reason.
  const bool has_ended = drive(Milliseconds(2000), [&] { return world->have_all_left(); });
  thread_.join();
  const std::jthread limit = limited("MPI_Finalize");
  if (is_whole && has_ended) MPI_Finalize();
} catch (const std::exception&) {
  // MPI itself has failed, so it cannot be finalised either.
}

}  // namespace ambit::distributed::mpi
