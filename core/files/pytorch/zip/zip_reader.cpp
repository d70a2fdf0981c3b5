// ZipReader by libzip, which checks that the file's directory and the entries' headers agree.
#include "core/files/pytorch/zip_reader.h"

#include <ambit/error.h>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <zip.h>

#include <cerrno>
#include <new>
#include <set>
#include <system_error>
#include <utility>

namespace ambit {
namespace {

struct CloseArchive {
  void operator()(zip_t* archive) const { zip_discard(archive); }
};
struct CloseFile {
  void operator()(zip_file_t* file) const { zip_fclose(file); }
};

[[noreturn]] void fail(const std::string& why) { throw SerializationError(why); }

// libzip takes a lack of memory for a file that is no zip, now and then, but errno remembers.
void check_memory(int code, int error) {
  if (code == ZIP_ER_MEMORY || error == ENOMEM) throw std::bad_alloc();
}

using Archive = std::unique_ptr<zip_t, CloseArchive>;

[[noreturn]] void fail_to_open(int code, int reason) {
  check_memory(code, reason);
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  const std::string text = zip_error_strerror(&error);
  zip_error_fini(&error);
  fail(fmt::format("expected a sound zip file, got: {}", text));
}

Archive open_descriptor(int descriptor) {
  const int own = ::fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  if (own < 0) fail(std::generic_category().message(errno));
  int code = 0;
  errno = 0;
  Archive archive(zip_fdopen(own, ZIP_CHECKCONS | ZIP_RDONLY, &code));
  const int reason = errno;
  if (archive) return archive;
  ::close(own);
  fail_to_open(code, reason);
}

Archive open_bytes(const void* data, uint64_t size_bytes) {
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* const source = zip_source_buffer_create(data, size_bytes, /*freep=*/0, &error);
  Archive archive(source ? zip_open_from_source(source, ZIP_CHECKCONS | ZIP_RDONLY, &error)
                         : nullptr);
  const int code = zip_error_code_zip(&error), reason = zip_error_code_system(&error);
  zip_error_fini(&error);
  if (archive) return archive;
  zip_source_free(source);
  fail_to_open(code, reason);
}

class LibzipReader : public ZipReader {
 public:
  LibzipReader(Archive archive, uint64_t size_bytes) : archive_(std::move(archive)) {
    const auto count = static_cast<uint64_t>(zip_get_num_entries(archive_.get(), 0));
    std::set<std::string> names;
    uint64_t room = size_bytes;
    for (uint64_t i = 0; i < count; ++i) {
      entries_.push_back(describe(i));
      const Entry& entry = entries_.back();
      if (!names.insert(entry.name).second) {
        fail(fmt::format("expected each entry once, got '{}' twice", entry.name));
      }
      if (!entry.is_stored) continue;
      if (entry.size_bytes > room) {
        fail(fmt::format("expected entries of together at most {} bytes, the file's size, got more",
                         size_bytes));
      }
      room -= entry.size_bytes;
    }
  }

  const std::vector<Entry>& entries() const override { return entries_; }

  void read(size_t entry, void* to) const override {
    const Entry& e = entries_[entry];
    if (!e.is_stored) {
      fail(fmt::format("expected '{}' stored as it is, got it compressed or encrypted", e.name));
    }
    const std::unique_ptr<zip_file_t, CloseFile> file(
        zip_fopen_index(archive_.get(), entry, ZIP_FL_UNCHANGED));
    if (!file) {
      check_memory(zip_error_code_zip(zip_get_error(archive_.get())), 0);
      fail(fmt::format("'{}': {}", e.name, zip_strerror(archive_.get())));
    }
    char* next = static_cast<char*>(to);
    uint64_t left = e.size_bytes;
    // libzip compares the CRC where it sees the end, so one byte more is asked for.
    for (char beyond = 0;;) {
      const int64_t got = zip_fread(file.get(), left > 0 ? next : &beyond, left > 0 ? left : 1);
      if (got < 0) fail(fmt::format("'{}': {}", e.name, zip_file_strerror(file.get())));
      if ((got == 0) != (left == 0)) {
        fail(fmt::format("expected {} bytes in '{}', got others", e.size_bytes, e.name));
      }
      if (got == 0) return;
      next += got;
      left -= static_cast<uint64_t>(got);
    }
  }

 private:
  Entry describe(uint64_t i) const {
    zip_stat_t stat;
    if (zip_stat_index(archive_.get(), i, ZIP_FL_ENC_RAW, &stat) != 0) {
      fail(zip_strerror(archive_.get()));
    }
    constexpr uint64_t kNeeded = ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE |
                                 ZIP_STAT_COMP_METHOD | ZIP_STAT_ENCRYPTION_METHOD;
    if ((stat.valid & kNeeded) != kNeeded) fail("expected entries with sizes, got one without");
    return {stat.name, stat.size,
            stat.comp_method == ZIP_CM_STORE && stat.encryption_method == ZIP_EM_NONE &&
                stat.comp_size == stat.size};
  }

  Archive archive_;
  std::vector<Entry> entries_;
};

std::unique_ptr<ZipReader> open(int descriptor, uint64_t size_bytes) {
  return std::make_unique<LibzipReader>(open_descriptor(descriptor), size_bytes);
}

std::unique_ptr<ZipReader> open_memory(const void* data, uint64_t size_bytes) {
  return std::make_unique<LibzipReader>(open_bytes(data, size_bytes), size_bytes);
}

}  // namespace
}  // namespace ambit

extern "C" AMBIT_API const void* ambit_zip() {
  static constexpr ambit::ZipLibrary kLibrary{ambit::open, ambit::open_memory};
  return &kLibrary;
}
