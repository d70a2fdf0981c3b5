#include <ambit/error.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "core/files/in_parts.h"
#include "core/files/pytorch/zip_reader.h"

namespace ambit {

int64_t ByteSource::read(void* to, uint64_t count, uint64_t offset) const {
  count = std::min(count, offset < size_bytes_ ? size_bytes_ - offset : 0);
  if (data_) {
    std::copy_n(data_ + offset, count, static_cast<char*>(to));
    return static_cast<int64_t>(count);
  }
  while (true) {
    const ssize_t got = ::pread(descriptor_, to, count, static_cast<off_t>(offset));
    if (got >= 0 || errno != EINTR) return got;
  }
}

void ByteSource::read_all(void* to, uint64_t count, uint64_t offset) const {
  in_parts(parts_of(count), count, [&](size_t, uint64_t begin, uint64_t end) {
    while (begin < end) {
      const int64_t got = read(static_cast<char*>(to) + begin, end - begin, offset + begin);
      if (got < 0) throw SerializationError(std::generic_category().message(errno));
      if (got == 0) throw SerializationError("the file was shortened while it was read");
      begin += static_cast<uint64_t>(got);
    }
  });
}

}  // namespace ambit
