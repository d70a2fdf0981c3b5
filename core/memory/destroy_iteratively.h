// Destruction without recursion of objects that own each other.
#pragma once

namespace ambit {

/// Call destroy(t). A nested call, from a destructor that drops another object, only appends the
/// object to a queue linked by next(*t); the outermost call destroys the queue.
template <class T, class Next, class Destroy>
void destroy_iteratively(T* t, Next next, Destroy destroy) noexcept {
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
