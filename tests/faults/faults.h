// Faults on request: the nth thing that the program asks the host for is refused, be it memory of
// operator new, memory of tensors, or a thread. faults.cpp replaces what is asked.
#pragma once

#include <functional>
#include <string>

namespace faults {

/// Let the nth request from now on, 1 being the next, of any thread, be refused, once.
void refuse(long nth);
/// Refuse nothing any more. Return whether something was.
bool stop();
/// The same for the nth thread that is started.
void refuse_thread(long nth);

/// Return how many blocks of operator new are in use.
long blocks_in_use();

/// What came of a piece of work.
struct Outcome {
  bool refused = false;  ///< a request of it was
  bool threw = false;    ///< it ended by an error
  std::string error;     ///< what() of it; starts with "untyped" unless it is an ambit::Error
};

/// Run `work` in a thread of its own, whose pools are empty, with its nth request refused.
Outcome run(long nth, const std::function<void()>& work);

/// Call attempt(n) for n = 1, 2, ... until no request of it was refused any more; it returns what
/// run() does. Return the number of faults.
long at_every_point(const std::function<Outcome(long n)>& attempt);

}  // namespace faults
