// Makes calls of the system fail: faults.cpp has functions in the place of the C library's and of
// operator new, through which libambit's calls go too.
#pragma once

#include <string>

namespace faults {

enum class Call {
  open,  ///< open, openat
  write,
  short_write,  ///< write, which then writes a part
  interrupted_write,
  pread,
  fstat,
  fsync,
  close,
  rename,  ///< rename, renameat
  mmap,
  allocate,  ///< operator new
  malloc,    ///< malloc, calloc and realloc, whoever calls them; never under a sanitizer
  demangle,  ///< __cxa_demangle, for lack of memory
};

/// While it lives, the n-th call of this thread from now on fails (from 1 on), once.
class Fault {
 public:
  Fault(Call call, int n);
  ~Fault();
  Fault(const Fault&) = delete;
  Fault& operator=(const Fault&) = delete;

  /// Return whether there was an n-th call.
  bool happened() const;
};

}  // namespace faults
