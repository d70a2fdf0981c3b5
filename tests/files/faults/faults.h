// Makes system calls fail: faults.cpp replaces functions of the C library and operator new;
// libambit's calls use them, too.
#pragma once

#include <string>

namespace faults {

enum class Call {
  open,  ///< open, openat
  write,
  short_write,  ///< write, which then writes only a part
  interrupted_write,
  pread,
  fstat,
  fsync,
  close,
  rename,  ///< rename, renameat
  mmap,
  allocate,  ///< operator new
  malloc,    ///< malloc, calloc and realloc, from any caller; never with a sanitizer
  demangle,  ///< __cxa_demangle, as if memory were missing
};

/// During its lifetime the n-th call of this thread from now on (the first is 1) fails, once.
class Fault {
 public:
  Fault(Call call, int n);
  ~Fault();
  Fault(const Fault&) = delete;
  Fault& operator=(const Fault&) = delete;

  /// Return true if there was an n-th call.
  bool happened() const;
};

}  // namespace faults
