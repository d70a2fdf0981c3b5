#include "terminal/interrupt.h"

namespace terminal {
namespace {

volatile std::sig_atomic_t request_seen = 0;

extern "C" void take_request(int) { request_seen = 1; }

}  // namespace

Interrupt::Interrupt() {
  request_seen = 0;
  struct sigaction action {};
  action.sa_handler = take_request;
  // The handler runs once; after that SIGINT has its default effect. Reads are restarted.
  action.sa_flags = SA_RESETHAND | SA_RESTART;
  ::sigaction(SIGINT, nullptr, &before_);
  if (before_.sa_handler != SIG_IGN) ::sigaction(SIGINT, &action, nullptr);
}

Interrupt::~Interrupt() { ::sigaction(SIGINT, &before_, nullptr); }

bool Interrupt::requested() const { return request_seen != 0; }

}  // namespace terminal
