// Sets the number of threads of ops for a scope.
#pragma once

#include <ambit/parallel.h>

struct Threads {
  explicit Threads(int n) : were(ambit::get_num_threads()) { ambit::set_num_threads(n); }
  ~Threads() { ambit::set_num_threads(were); }
  int were;
};
