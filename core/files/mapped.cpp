// from_file: a tensor whose memory is a file's pages.
#include <ambit/detail/printable.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/out.h>
#include <ambit/serialize.h>
#include <ambit/shape.h>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "input_file.h"

namespace ambit {
namespace {

class MappedFile {
 public:
  MappedFile(std::string path, bool shared) : path_(std::move(path)), shared_(shared) {
    // Opening a pipe would block until a writer opens it.
    fd_ = ::open(path_.c_str(), (shared ? O_RDWR | O_CREAT : O_RDONLY) | O_CLOEXEC | O_NONBLOCK,
                 0666);
    if (fd_ < 0) fail();
  }
  ~MappedFile() { ::close(fd_); }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  int64_t size_bytes() const {
    struct stat info {};
    if (::fstat(fd_, &info) != 0) fail();
    if (!S_ISREG(info.st_mode)) fail("it is not a regular file");
    return info.st_size;
  }
  /// Ensure that the file has at least `bytes` bytes; a shared file is extended.
  void expect(int64_t bytes) const {
    const int64_t there = size_bytes();
    if (there >= bytes) return;
    if (!shared_) fail(fmt::format("it has {} bytes, but {} were requested", there, bytes));
    if (::ftruncate(fd_, bytes) != 0) fail();
  }
  void* map(int64_t bytes) const {
    void* const p = ::mmap(nullptr, static_cast<size_t>(bytes), PROT_READ | PROT_WRITE,
                           shared_ ? MAP_SHARED : MAP_PRIVATE, fd_, 0);
    if (p == MAP_FAILED) fail();
    return p;
  }
  [[noreturn]] void fail(const std::string& why) const {
    throw SerializationError(
        fmt::format("from_file: cannot map '{}': {}", one_line(path_), one_line(why)));
  }

 private:
  [[noreturn]] void fail() const { fail(std::generic_category().message(errno)); }

  std::string path_;
  bool shared_;
  int fd_ = -1;
};

}  // namespace

Tensor from_file(std::string_view filename, std::optional<bool> shared, std::optional<int64_t> size,
                 const TensorOptions& options) {
  int64_t n = size.value_or(0);
  count("from_file", {n});  // rejects a negative size
  if (options.device() != kCPU) {
    throw Error("from_file: expected the device cpu, got " + options.device().str());
  }
  const MappedFile file{std::string(filename), shared.value_or(false)};
  const auto bytes_each = static_cast<int64_t>(element_size(options.dtype()));
  if (n == 0) n = file.size_bytes() / bytes_each;
  int64_t bytes = 0;
  if (__builtin_mul_overflow(n, bytes_each, &bytes)) {
    throw ShapeError(fmt::format("from_file: expected a size below 2^63 bytes, got {}", n));
  }
  file.expect(bytes);
  if (n == 0) return empty({0}, options);
  void* const pages = file.map(bytes);
  const auto unmap = [bytes](void* p) { ::munmap(p, static_cast<size_t>(bytes)); };
  Tensor out;
  try {
    out = from_blob(pages, {n}, unmap, options);
  } catch (...) {
    unmap(pages);
    throw;
  }
  if (!is_valid(out)) file.fail("it has bytes other than 0 and 1, which are not bools");
  return out;
}

Tensor& from_file_out(Tensor& out, std::string_view filename, std::optional<bool> shared,
                      std::optional<int64_t> size) {
  return detail::fill_out("from_file_out", out,
                          [&] { return from_file(filename, shared, size, out.dtype()); });
}

}  // namespace ambit
