// Destroying what owns others of its kind, in any number, without recursion.
#pragma once

namespace ambit {

/// Call destroy(t), but not inside another such call: what that one's destructors drop comes back
/// here, and queues up by its link, next(*t), until they have returned.
template <class T, class Next, class Destroy>
void destroy_in_turn(T* t, Next next, Destroy destroy) noexcept {
  [[gnu::tls_model("initial-exec")]] static constinit thread_local T* queue = nullptr;
  [[gnu::tls_model("initial-exec")]] static constinit thread_local bool draining = false;
  next(*t) = queue;
  queue = t;
  if (draining) return;
  draining = true;
  while (queue) {
    T* first = queue;
    queue = next(*first);
    destroy(first);
  }
  draining = false;
}

}  // namespace ambit
