// Registration of leaf listeners, and detection of complete gradients during backward.
#include <ambit/backend/op.h>
#include <ambit/detail/leaf_listener.h>
#include <ambit/error.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "engine.h"

namespace ambit {

LeafGradListener::~LeafGradListener() = default;

// Relaxed loads suffice: the flag only avoids the lock of listeners(), which guards the table. If
// the registration of a listener happens before a backward, that backward reads true.
std::atomic<bool>& Engine::has_listeners() {
  static constinit std::atomic<bool> any{false};
  return any;
}

namespace {

// A separate table, not a member of leaves: listeners are rare.
struct Listeners {
  std::mutex mutex;
  std::unordered_map<const TensorImpl*, std::weak_ptr<LeafGradListener>> of;
};

Listeners& listeners() {
  static auto* l = new Listeners;  // leaked: tensors in globals are destroyed after main
  return *l;
}

std::shared_ptr<LeafGradListener> listener_of(const TensorImpl* leaf) {
  Listeners& all = listeners();
  const std::lock_guard lock(all.mutex);
  const auto found = all.of.find(leaf);
  return found == all.of.end() ? nullptr : found->second.lock();
}

}  // namespace

void listen_to_leaf(const Tensor& leaf, const std::shared_ptr<LeafGradListener>& listener) {
  if (!leaf.requires_grad() || !leaf.is_leaf()) {
    throw AutogradError("listen_to_leaf: expected a leaf that requires grad, got another tensor");
  }
  Listeners& all = listeners();
  const std::lock_guard lock(all.mutex);
  std::erase_if(all.of, [](const auto& one) { return one.second.expired(); });
  if (all.of.contains(leaf.impl())) {
    throw AutogradError(
        "expected a parameter of one DistributedDataParallel or FusedBackward, got a parameter of "
        "two");
  }
  all.of[leaf.impl()] = listener;
  Engine::has_listeners() = true;
}

// The leaves with listeners that this backward reaches, by the last node that contributes to their
// gradient: nodes run in descending sequence order.
class Engine::LeafGradTracker {
 public:
  explicit LeafGradTracker(Engine& engine) : engine_(engine) { find_leaves(); }
  ~LeafGradTracker() {
    for (const auto& [listener, leaves] : listeners_) listener->abandon();
  }
  LeafGradTracker(const LeafGradTracker&) = delete;
  LeafGradTracker& operator=(const LeafGradTracker&) = delete;

  void begin() {
    // If begin() throws, its listener and all others are abandoned: no backward happens.
    std::erase_if(listeners_, [&](const auto& one) {
      return !one.first->begin(one.second, engine_.create_graph_);
    });
    std::erase_if(pending_leaves_,
                  [&](const PendingLeaf& w) { return !listeners_.contains(w.listener); });
    std::sort(pending_leaves_.begin(), pending_leaves_.end(),
              [](const PendingLeaf& a, const PendingLeaf& b) { return a.last > b.last; });
  }
  // All nodes whose sequence number is greater than `next` have run.
  void notify(uint64_t next) {
    while (notified_ < pending_leaves_.size() && pending_leaves_[notified_].last > next)
      notify(pending_leaves_[notified_++]);
  }
  void notify_all() {
    while (notified_ < pending_leaves_.size()) notify(pending_leaves_[notified_++]);
    std::erase_if(engine_.leaves_, [](const Leaf& leaf) { return !leaf.tensor; });
  }
  void end() {
    while (!listeners_.empty()) {
      listeners_.begin()->first->end();
      listeners_.erase(listeners_.begin());
    }
  }

 private:
  struct PendingLeaf {
    Tensor leaf;
    std::shared_ptr<LeafGradListener> listener;
    uint64_t last;  // sequence number of the node
  };

  void find_leaves() {
    std::unordered_map<const Node*, bool> seen;
    std::vector<Node*> stack;
    std::unordered_map<const TensorImpl*, size_t> at;
    for (const auto& [number, pending] : engine_.pending_) {
      seen[pending.node.get()] = true;
      stack.push_back(pending.node.get());
    }
    while (!stack.empty()) {
      Node* const node = stack.back();
      stack.pop_back();
      for (const Edge& e : node->edges()) {
        if (e.leaf) {
          add_leaf(e, node->sequence(), at);
        } else if (e.function && engine_.is_wanted(e) &&
                   seen.emplace(e.function.get(), true).second) {
          stack.push_back(e.function.get());
        }
      }
    }
    for (const Leaf& leaf : engine_.leaves_) {  // roots that are leaves
      Edge e;
      e.leaf = leaf.tensor;
      add_leaf(e, ~uint64_t{0}, at);
    }
  }
  void add_leaf(const Edge& e, uint64_t number, std::unordered_map<const TensorImpl*, size_t>& at) {
    if (!engine_.is_wanted(e)) return;
    std::shared_ptr<LeafGradListener> listener = listener_of(e.leaf.get());
    if (!listener) return;
    const auto [place, is_new] = at.emplace(e.leaf.get(), pending_leaves_.size());
    if (is_new) {
      listeners_[listener].emplace_back(e.leaf);
      pending_leaves_.push_back({Tensor(e.leaf), std::move(listener), number});
    }
    uint64_t& last = pending_leaves_[place->second].last;
    last = std::min(last, number);
  }
  void notify(const PendingLeaf& w) {
    const auto found = engine_.leaf_at_.find(w.leaf.impl());
    if (found == engine_.leaf_at_.end()) return;
    Leaf& leaf = engine_.leaves_[found->second];
    if (!leaf.grad.defined()) return;
    run_leaf_hooks(leaf);
    check_fits(leaf);
    w.listener->ready(w.leaf, leaf.grad);
    leaf.grad.reset();
    leaf.tensor.reset();  // taken by the listener
  }

  Engine& engine_;
  std::vector<PendingLeaf> pending_leaves_;  // in the order in which gradients become complete
  size_t notified_ = 0;
  std::map<std::shared_ptr<LeafGradListener>, std::vector<Tensor>> listeners_;  // with their leaves
};

void Engine::run_listened() {
  LeafGradTracker tracker(*this);
  tracker.begin();
  while (!pending_.empty()) {
    Pending p = std::move(pending_.begin()->second);
    pending_.erase(pending_.begin());
    run_node(p);
    if (!pending_.empty()) tracker.notify(pending_.begin()->first);
  }
  tracker.notify_all();
  prepare_leaves();
  tracker.end();
}

}  // namespace ambit
