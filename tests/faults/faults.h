// Fault injection: the nth host allocation (by operator new or of tensor memory) or thread creation
// fails. faults.cpp replaces the functions.
#pragma once

#include <functional>
#include <string>

namespace faults {

/// Make the nth request from now on fail once; 1 is the next one, of any thread.
void refuse(long nth);
/// Stop injecting faults. Return whether one occurred.
bool stop();
/// As refuse(), for the nth start of a thread.
void refuse_thread(long nth);

/// Return the number of blocks of operator new in use.
long blocks_in_use();

/// Result of run().
struct Outcome {
  bool refused = false;  ///< one of its requests failed
  bool threw = false;    ///< it threw
  std::string error;     ///< what() of the exception; "untyped..." unless it is an ambit::Error
};

/// Run `work` in a new thread, whose pools are empty, with its nth request failing.
Outcome run(long nth, const std::function<void()>& work);

/// Call attempt(n), which returns the result of run(), for n = 1, 2, ... until no request fails any
/// more. Return the number of faults.
long at_every_point(const std::function<Outcome(long n)>& attempt);

}  // namespace faults
