// Communicator between threads: ranks share addresses, and the last rank to join a collective
// performs it for all, in rank order.
#include <ambit/distributed/process_group.h>
#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <thread>
#include <tuple>
#include <utility>

namespace ambit::distributed {
namespace {

// State of one collective: the arguments of the ranks that have joined.
struct Rendezvous {
  uint64_t number;
  std::vector<Transfer> parts;
  size_t joined = 0;
  bool done = false;
};

size_t bytes_of(const Transfer& t) { return static_cast<size_t>(t.count) * element_size(t.dtype); }

void copy(void* to, const void* from, size_t bytes) {
  if (bytes > 0 && to != from) std::memmove(to, from, bytes);
}

// Perform a collective that all ranks have joined. Requires that their arguments agree.
void exchange(const std::vector<Transfer>& parts) {
  using enum Collective;
  const Transfer& any = parts[0];
  const auto is = [&](auto... some) { return ((any.what == some) || ...); };
  const auto root = static_cast<size_t>(any.peer);
  const size_t bytes = bytes_of(any);
  const auto share = [&](const void* base, size_t i) {
    return const_cast<char*>(static_cast<const char*>(base)) + i * bytes;
  };
  std::vector<char> sum(is_reduction(any.what) ? bytes : 0);
  for (size_t to = 0; to < parts.size(); ++to) {
    if (is(reduce, gather) && to != root) continue;
    const size_t in_piece = is(reduce_scatter, scatter, alltoall) ? to : 0;
    for (size_t from = 0; from < parts.size(); ++from) {
      const char* const in = share(parts[from].in, in_piece);
      if (is(allreduce) && to > 0) break;  // all ranks get the same sum
      if (is(broadcast, scatter) && from != root) continue;
      if (!is_reduction(any.what)) {
        copy(share(parts[to].out, is(broadcast, scatter) ? 0 : from), in, bytes);
      } else if (from == 0) {
        copy(sum.data(), in, bytes);
      } else {
        combine(any.op, any.dtype, sum.data(), in, any.count);
      }
    }
    copy(parts[to].out, sum.data(), sum.size());
  }
}

std::string mismatch_of(const std::vector<Transfer>& parts) {
  const auto text = [](const Transfer& t) {
    return fmt::format("{} {} of {} {}, root {}", name(t.what), name(t.op), t.count,
                       ambit::name(t.dtype), t.peer);
  };
  for (size_t r = 1; r < parts.size(); ++r) {
    if (text(parts[r]) != text(parts[0])) {
      return fmt::format("{}: expected the same on all ranks, got {} on rank 0 and {} on rank {}",
                         name(parts[0].what), text(parts[0]), text(parts[r]), r);
    }
  }
  return "";
}

// State shared by the ranks of one group. All members are guarded by the mutex.
struct World {
  explicit World(int n)
      : size(n), begun(static_cast<size_t>(n)), has_left(static_cast<size_t>(n)) {}
  const int size;
  std::mutex mutex;
  std::condition_variable changed;
  std::map<uint64_t, std::shared_ptr<Rendezvous>>
      rendezvous;               // those that some ranks have not joined
  std::vector<uint64_t> begun;  // number of collectives, by rank
  std::vector<bool> has_left;
  // Messages sent but not received, which own their memory; by source, destination and tag.
  std::map<std::tuple<int, int, int>, std::deque<Transfer>> mail;
  std::map<std::pair<uint64_t, std::vector<int>>, std::shared_ptr<World>> parts;  // from split()
  std::string failure;
};

class LocalRequest final : public Request {
 public:
  LocalRequest(std::shared_ptr<World> world, std::shared_ptr<Rendezvous> rendezvous,
               Transfer transfer, int rank)
      : world_(std::move(world)),
        rendezvous_(std::move(rendezvous)),
        transfer_(std::move(transfer)),
        rank_(rank) {}

  bool wait(Milliseconds limit) override {
    std::unique_lock lock(world_->mutex);
    const auto until = std::chrono::steady_clock::now() + limit;
    while (!is_done()) {
      if (!world_->failure.empty()) throw DistributedError(world_->failure);
      check_peers_present();
      if (world_->changed.wait_until(lock, until) == std::cv_status::timeout && !is_done()) {
        return false;
      }
    }
    return true;
  }

 private:
  bool is_done() {
    if (rendezvous_) return rendezvous_->done;
    return transfer_.what == Collective::send || received_ || receive();
  }
  bool receive() {
    const auto box = world_->mail.find({transfer_.peer, rank_, transfer_.tag});
    if (box == world_->mail.end() || box->second.empty()) return false;
    const Transfer message = std::move(box->second.front());
    box->second.pop_front();
    if (message.count != transfer_.count || message.dtype != transfer_.dtype) {
      throw DistributedError(fmt::format(
          "recv: expected {} {} from rank {}, got {} {}", transfer_.count,
          ambit::name(transfer_.dtype), transfer_.peer, message.count, ambit::name(message.dtype)));
    }
    copy(transfer_.out, message.in, bytes_of(message));
    return received_ = true;
  }
  void check_peers_present() const {
    for (size_t r = 0; r < world_->has_left.size(); ++r) {
      const bool is_awaited = rendezvous_ ? world_->begun[r] < rendezvous_->number
                                          : r == static_cast<size_t>(transfer_.peer);
      if (!world_->has_left[r] || !is_awaited) continue;
      throw DistributedError(fmt::format(
          "{}: expected rank {} to take part, but it has left the group", name(transfer_.what), r));
    }
  }

  std::shared_ptr<World> world_;
  std::shared_ptr<Rendezvous> rendezvous_;  // null for send and recv
  const Transfer transfer_;
  const int rank_;
  bool received_ = false;
};

class LocalCommunicator final : public Communicator {
 public:
  LocalCommunicator(std::shared_ptr<World> world, int rank)
      : world_(std::move(world)), rank_(rank) {}
  ~LocalCommunicator() override {
    const std::lock_guard lock(world_->mutex);
    world_->has_left[static_cast<size_t>(rank_)] = true;
    world_->changed.notify_all();
  }
  int rank() const override { return rank_; }
  int size() const override { return world_->size; }

  std::unique_ptr<Request> start(const Transfer& t) override {
    std::unique_lock lock(world_->mutex);
    if (!world_->failure.empty()) throw DistributedError(world_->failure);
    std::shared_ptr<Rendezvous> rendezvous;
    if (t.what == Collective::send) {
      const auto own = std::make_shared<std::vector<char>>(bytes_of(t));
      copy(own->data(), t.in, own->size());
      Transfer& message = world_->mail[{rank_, t.peer, t.tag}].emplace_back(t);
      message.in = own->data();
      message.memory = own;
      world_->changed.notify_all();
    } else if (t.what != Collective::recv) {
      rendezvous = join(t, lock);
    }
    return std::make_unique<LocalRequest>(world_, std::move(rendezvous), t, rank_);
  }

  std::vector<Absence> absent(uint64_t number, Milliseconds) override {
    const std::lock_guard lock(world_->mutex);
    std::vector<Absence> all;
    for (int r = 0; r < world_->size; ++r) {
      const uint64_t begun = world_->begun[static_cast<size_t>(r)];
      if (begun >= number) continue;
      all.push_back({r, fmt::format("has entered {} collectives", begun)});
    }
    return all;
  }

  std::unique_ptr<Communicator> split(std::span<const int> ranks) override {
    const std::lock_guard lock(world_->mutex);
    const uint64_t number = ++world_->begun[static_cast<size_t>(rank_)];
    const std::vector<int> members(ranks.begin(), ranks.end());
    const auto me = std::find(members.begin(), members.end(), rank_);
    if (me == members.end()) return nullptr;
    std::shared_ptr<World>& part = world_->parts[{number, members}];
    if (!part) part = std::make_shared<World>(static_cast<int>(members.size()));
    return std::make_unique<LocalCommunicator>(part, static_cast<int>(me - members.begin()));
  }

  void abort(const std::string& reason) noexcept override {
    const std::lock_guard lock(world_->mutex);
    if (world_->failure.empty()) world_->failure = reason;
    world_->changed.notify_all();
  }

 private:
  // Join a collective; the last rank performs it.
  std::shared_ptr<Rendezvous> join(const Transfer& t, std::unique_lock<std::mutex>& lock) {
    const auto rank = static_cast<size_t>(rank_), size = static_cast<size_t>(world_->size);
    const uint64_t number = ++world_->begun[rank];
    std::shared_ptr<Rendezvous>& slot = world_->rendezvous[number];
    if (!slot) slot = std::make_shared<Rendezvous>(Rendezvous{number, std::vector<Transfer>(size)});
    const std::shared_ptr<Rendezvous> rendezvous = slot;
    rendezvous->parts[rank] = t;
    if (++rendezvous->joined < size) return rendezvous;
    world_->rendezvous.erase(number);
    lock.unlock();  // no other rank accesses it until it is done
    std::string mismatch = mismatch_of(rendezvous->parts);
    if (mismatch.empty()) exchange(rendezvous->parts);
    lock.lock();
    rendezvous->parts.clear();
    rendezvous->done = mismatch.empty();
    if (world_->failure.empty()) world_->failure = std::move(mismatch);
    world_->changed.notify_all();
    return rendezvous;
  }

  std::shared_ptr<World> world_;
  const int rank_;
};

}  // namespace

std::vector<std::shared_ptr<ProcessGroup>> local_groups(int size, Milliseconds timeout) {
  if (size < 1) throw Error(fmt::format("local_groups: expected 1 rank or more, got {}", size));
  const auto world = std::make_shared<World>(size);
  std::vector<std::shared_ptr<ProcessGroup>> groups;
  for (int r = 0; r < size; ++r) {
    auto communicator = std::make_unique<LocalCommunicator>(world, r);
    groups.push_back(std::make_shared<ProcessGroup>(std::move(communicator), timeout));
  }
  return groups;
}

void run_local(int size, const std::function<void(std::shared_ptr<ProcessGroup>)>& body,
               Milliseconds timeout) {
  auto groups = local_groups(size, timeout);
  std::mutex mutex;
  std::exception_ptr first, first_of_group;
  const auto run = [&](std::shared_ptr<ProcessGroup> group) {
    const auto end = [&](std::exception_ptr& place, const char* what) {
      const std::lock_guard lock(mutex);
      if (!place) place = std::current_exception();
      group->abort(fmt::format("expected rank {} to continue, got an error there: {}",
                               group->rank(),
                               what));  // no effect if it has ended already
    };
    try {
      body(group);
    } catch (const DistributedError& e) {
      end(first_of_group, e.what());
    } catch (const std::exception& e) {
      end(first, e.what());
    } catch (...) {
      end(first, "an exception of an unknown type");
    }
  };
  {
    std::vector<std::jthread> threads;
    for (auto& group : groups) threads.emplace_back(run, std::exchange(group, nullptr));
  }
  if (first) std::rethrow_exception(first);
  if (first_of_group) std::rethrow_exception(first_of_group);
}

}  // namespace ambit::distributed
