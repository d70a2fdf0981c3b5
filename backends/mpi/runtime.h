// MPI in this process. One mutex guards all its calls (MPI_THREAD_SERIALIZED). A waiting thread
// makes progress itself, at MPI's full speed; otherwise a background thread does, polling with
// short sleeps to leave the core to the computation, and answers other ranks.
#pragma once

#include <ambit/backend/communicator.h>
#include <mpi.h>

#include <algorithm>
#include <condition_variable>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace ambit::distributed::mpi {

std::string error_text(int code, const char* call);
/// Errors: DistributedError with MPI's text if the code is an error.
void check(int code, const char* call);
/// Limit the time of a blocking MPI call while the returned object lives. On timeout this process
/// prints a message and exits, as the call cannot be cancelled; the launcher ends the other ranks.
std::jthread limited(const char* call);

struct Group;

/// A transfer in progress. Guarded by the mutex.
struct Operation {
  std::shared_ptr<Group> group;
  Transfer transfer;
  uint64_t number = 0;  // number of the collective; 0 for send and recv
  std::vector<MPI_Request> requests;
  std::vector<MPI_Status> statuses;  // used when testing the requests
  bool is_done = false;
  std::string error;
};

/// Messages between ranks besides transfers: 512 bytes, which MPI sends eagerly.
struct Note {
  enum Kind : int32_t { ask, answer, failed, left };
  Kind kind = ask;
  uint64_t number = 0;  // number of collectives begun
  char text[496] = {};  // the reason, in a note of kind `failed`
};

/// The known state of a rank.
struct Peer {
  uint64_t begun = 0;  // collectives begun, according to its last note
  bool has_answered = false, has_left = false;
};

/// A communicator. Guarded by the mutex.
struct Group {
  MPI_Comm comm = MPI_COMM_NULL, notes = MPI_COMM_NULL;
  int rank = 0, size = 1;
  uint64_t begun = 0;  // number of collectives
  std::vector<Peer> peers;
  std::string failure;

  Peer& peer(int r) { return peers[static_cast<size_t>(r)]; }
  bool have_all_left() const { return std::ranges::all_of(peers, &Peer::has_left); }
};

class Runtime {
 public:
  /// Return this process's runtime; the first call initialises MPI. Errors: DistributedError.
  static Runtime& of_process();

  using Lock = std::unique_lock<std::mutex>;
  Lock lock() { return Lock(mutex_); }

  // All functions below require the lock, except where noted.
  /// Collective; takes ownership of the communicator.
  std::shared_ptr<Group> add_group(MPI_Comm comm);
  /// Leave a group other than that of all ranks. When all ranks have left, it is freed.
  void leave(Group& group);
  void begin(std::shared_ptr<Operation> operation) { active_.push_back(std::move(operation)); }
  void send_note(Group& group, int to, Note::Kind kind, const std::string& text = "");
  void send_note_to_all(Group& group, Note::Kind kind, const std::string& text = "");
  /// Test operations in progress, and read notes.
  void progress();

  /// Make progress until `is_over()`, which is called with the lock held; return false after
  /// `limit`. The caller must not hold the lock.
  template <class F>
  bool drive(Milliseconds limit, const F& is_over) {
    const auto until = std::chrono::steady_clock::now() + limit;
    const auto waits = waiting_;  // released on every exit
    for (unsigned turn = 1;; ++turn) {
      {
        const Lock held = lock();
        progress();
        if (is_over()) return true;
      }
      if (turn % 32 && limit.count() > 0) continue;
      if (std::chrono::steady_clock::now() >= until) return false;
      std::this_thread::yield();
    }
  }

  /// Leave the group of all ranks, wait until the others do so, then finalise MPI.
  void leave_world() noexcept;
  std::shared_ptr<Group> world() { return world_; }
  static inline Milliseconds timeout{300000};  // for blocking MPI calls and at exit

 private:
  Runtime();
  void run();  // the thread's function
  void test(Operation& operation);
  void read_notes();
  void take(Group& group, int from, const Note& note);
  void free_unused();

  std::mutex mutex_;
  std::condition_variable wake_;
  const std::shared_ptr<int> waiting_ = std::make_shared<int>();  // waiting threads share ownership
  bool stops_ = false;
  unsigned turn_ = 0;
  std::shared_ptr<Group> world_;
  std::vector<std::shared_ptr<Group>> groups_;
  std::vector<std::shared_ptr<Operation>> active_, lost_;  // lost_: failed, MPI may still write
  struct Sent {
    Note note;
    MPI_Request request;
  };
  std::list<Sent> sent_;
  std::thread thread_;
};

}  // namespace ambit::distributed::mpi
