// MPI in this process: one lock for all its calls, since it is started as MPI_THREAD_SERIALIZED.
// Who waits drives it himself, at the speed of bare MPI; while nobody does, a thread drives what
// was begun, in small sleeps so that it takes no core from the computing, and answers other ranks.
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
/// Errors: DistributedError with MPI's text where the code is one of an error.
void check(int code, const char* call);
/// Give what waits for other ranks inside of MPI a limit, while what is returned lives. Then this
/// process says so and ends, as nothing else gets out of it, and the launcher ends the others.
std::jthread limited(const char* call);

struct Group;

/// A transfer on its way. Guarded by the lock.
struct Operation {
  std::shared_ptr<Group> group;
  Transfer transfer;
  uint64_t number = 0;  // of a collective; 0: send and recv
  std::vector<MPI_Request> requests;
  std::vector<MPI_Status> statuses;  // of the requests, when they are tested
  bool is_done = false;
  std::string error;
};

/// What ranks tell each other beside the transfers: 512 bytes, which MPI sends without waiting for
/// the receiver.
struct Note {
  enum Kind : int32_t { ask, answer, failed, left };
  Kind kind = ask;
  uint64_t number = 0;  // collectives begun
  char text[496] = {};  // of failed: why
};

/// What is known of a rank.
struct Peer {
  uint64_t begun = 0;  // collectives, as it said last
  bool has_answered = false, has_left = false;
};

/// One communicator. Guarded by the lock.
struct Group {
  MPI_Comm comm = MPI_COMM_NULL, notes = MPI_COMM_NULL;
  int rank = 0, size = 1;
  uint64_t begun = 0;  // collectives
  std::vector<Peer> peers;
  std::string failure;

  Peer& peer(int r) { return peers[static_cast<size_t>(r)]; }
  bool have_all_left() const { return std::ranges::all_of(peers, &Peer::has_left); }
};

class Runtime {
 public:
  /// The one of this process; starts MPI when it is first called. Errors: DistributedError.
  static Runtime& of_process();

  using Lock = std::unique_lock<std::mutex>;
  Lock lock() { return Lock(mutex_); }

  // All that follow want the lock held.
  /// Collective; takes over the communicator.
  std::shared_ptr<Group> add_group(MPI_Comm comm);
  /// Leave a group that is not the one of all ranks. When all have left, MPI forgets it.
  void leave(Group& group);
  void begin(std::shared_ptr<Operation> operation) { active_.push_back(std::move(operation)); }
  void tell(Group& group, int to, Note::Kind kind, const std::string& text = "");
  void tell_all(Group& group, Note::Kind kind, const std::string& text = "");
  /// Test what was begun, read what others tell.
  void progress();

  /// Progress until `is_over`, which is asked with the lock held; false where it was not by then.
  /// The lock is free when called.
  template <class F>
  bool drive(Milliseconds limit, const F& is_over) {
    const auto until = std::chrono::steady_clock::now() + limit;
    const auto waits = waiting_;  // however it ends
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

  /// Leave the group of all ranks: wait for the others to do so, then end MPI.
  void leave_world() noexcept;
  std::shared_ptr<Group> world() { return world_; }
  static inline Milliseconds timeout{300000};  // to wait for others inside of MPI and at the end

 private:
  Runtime();
  void run();  // the thread
  void test(Operation& operation);
  void read_notes();
  void take(Group& group, int from, const Note& note);
  void free_unused();

  std::mutex mutex_;
  std::condition_variable wake_;
  const std::shared_ptr<int> waiting_ = std::make_shared<int>();  // who waits holds it, too
  bool stops_ = false;
  unsigned turn_ = 0;
  std::shared_ptr<Group> world_;
  std::vector<std::shared_ptr<Group>> groups_;
  std::vector<std::shared_ptr<Operation>> active_, lost_;  // lost: MPI may still write there
  struct Sent {
    Note note;
    MPI_Request request;
  };
  std::list<Sent> sent_;
  std::thread thread_;
};

}  // namespace ambit::distributed::mpi
