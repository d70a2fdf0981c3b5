#include "faults.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdlib>
#include <new>

namespace faults {
namespace {

// Thread-local memory that exists from the start, because an access must not call malloc.
#define EARLY __attribute__((tls_model("initial-exec")))
EARLY thread_local Call armed{};
EARLY thread_local int left = 0;  // calls until the one that fails; 0: none fails

bool fails(Call call) { return left > 0 && call == armed && --left == 0; }

// Return the replaced function.
template <class F>
F* next(const char* name) {
  return reinterpret_cast<F*>(::dlsym(RTLD_NEXT, name));
}

int failed(int error) {
  errno = error;
  return -1;
}

}  // namespace

Fault::Fault(Call call, int n) {
  armed = call;
  left = n;
}
Fault::~Fault() { left = 0; }
bool Fault::happened() const { return left == 0; }

}  // namespace faults

using faults::Call;
using faults::failed;
using faults::fails;
using faults::next;

extern "C" {

int open(const char* path, int flags, ...) {
  static auto* const real = next<int(const char*, int, ...)>("open");
  va_list rest;
  va_start(rest, flags);
  const auto mode = (flags & (O_CREAT | O_TMPFILE)) ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return fails(Call::open) ? failed(EMFILE) : real(path, flags, mode);
}

int openat(int folder, const char* path, int flags, ...) {
  static auto* const real = next<int(int, const char*, int, ...)>("openat");
  va_list rest;
  va_start(rest, flags);
  const auto mode = (flags & (O_CREAT | O_TMPFILE)) ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return fails(Call::open) ? failed(EMFILE) : real(folder, path, flags, mode);
}

ssize_t write(int fd, const void* data, size_t bytes) {
  static auto* const real = next<ssize_t(int, const void*, size_t)>("write");
  if (fails(Call::write)) return failed(ENOSPC);
  if (fails(Call::interrupted_write)) return failed(EINTR);
  if (fails(Call::short_write)) bytes = (bytes + 1) / 2;
  return real(fd, data, bytes);
}

ssize_t pread(int fd, void* data, size_t bytes, off_t offset) {
  static auto* const real = next<ssize_t(int, void*, size_t, off_t)>("pread");
  return fails(Call::pread) ? failed(EIO) : real(fd, data, bytes, offset);
}

int fstat(int fd, struct stat* info) {
  static auto* const real = next<int(int, struct stat*)>("fstat");
  return fails(Call::fstat) ? failed(EIO) : real(fd, info);
}

int fsync(int fd) {
  static auto* const real = next<int(int)>("fsync");
  return fails(Call::fsync) ? failed(EIO) : real(fd);
}

int close(int fd) {
  static auto* const real = next<int(int)>("close");
  const int result = real(fd);  // it closes the file even if it fails
  return fails(Call::close) ? failed(EIO) : result;
}

int rename(const char* from, const char* to) noexcept {
  static auto* const real = next<int(const char*, const char*)>("rename");
  return fails(Call::rename) ? failed(EIO) : real(from, to);
}

int renameat(int from_folder, const char* from, int to_folder, const char* to) noexcept {
  static auto* const real = next<int(int, const char*, int, const char*)>("renameat");
  return fails(Call::rename) ? failed(EIO) : real(from_folder, from, to_folder, to);
}

void* mmap(void* at, size_t bytes, int protection, int flags, int fd, off_t offset) noexcept {
  static auto* const real = next<void*(void*, size_t, int, int, int, off_t)>("mmap");
  if (!fails(Call::mmap)) return real(at, bytes, protection, flags, fd, offset);
  errno = ENOMEM;
  return MAP_FAILED;
}

char* __cxa_demangle(const char* name, char* buffer, size_t* length, int* status) {
  static auto* const real = next<char*(const char*, char*, size_t*, int*)>("__cxa_demangle");
  if (!fails(Call::demangle)) return real(name, buffer, length, status);
  if (status) *status = -1;
  return nullptr;
}

// Sanitizers define these functions themselves.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
void* __libc_malloc(size_t bytes);
void* __libc_calloc(size_t count, size_t bytes);
void* __libc_realloc(void* p, size_t bytes);

void* malloc(size_t bytes) {
  if (!fails(Call::malloc)) return __libc_malloc(bytes);
  errno = ENOMEM;
  return nullptr;
}
void* calloc(size_t count, size_t bytes) {
  if (!fails(Call::malloc)) return __libc_calloc(count, bytes);
  errno = ENOMEM;
  return nullptr;
}
void* realloc(void* p, size_t bytes) {
  if (!fails(Call::malloc)) return __libc_realloc(p, bytes);
  errno = ENOMEM;
  return nullptr;
}
#endif

}  // extern "C"

void* operator new(size_t bytes) {
  void* p = fails(Call::allocate) ? nullptr : std::malloc(bytes ? bytes : 1);
  if (!p) throw std::bad_alloc();
  return p;
}
void* operator new[](size_t bytes) { return operator new(bytes); }
void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
  return std::malloc(bytes ? bytes : 1);
}
void* operator new[](size_t bytes, const std::nothrow_t& tag) noexcept {
  return operator new(bytes, tag);
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, size_t) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete[](void* p, size_t) noexcept { std::free(p); }
