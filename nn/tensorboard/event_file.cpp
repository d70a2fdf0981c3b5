// The TFRecord format: u64 length, u32 masked CRC of it, the bytes, u32 masked CRC of them; all
// little-endian. Source: tensorflow/core/lib/io/record_writer.cc.
#include "event_file.h"

#include <ambit/detail/printable.h>
#include <ambit/error.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <system_error>
#include <utility>

#include "crc32c.h"
#include "encoder/encoder.h"
#include "wall_time.h"

namespace ambit::tensorboard {
namespace {

constexpr size_t kBufferBytes = size_t{1} << 16;

// The CRC of bytes that contain their own CRC is weak, so stored CRCs are masked.
uint32_t masked_crc(std::string_view bytes) {
  const uint32_t crc = crc32c(bytes);
  return (crc >> 15 | crc << 17) + 0xa282ead8;
}

template <class T>
std::string little_endian(T value) {
  std::string bytes;
  for (size_t i = 0; i < sizeof(T); ++i) bytes += static_cast<char>(value >> (8 * i));
  return bytes;
}

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "localhost";
}

// TensorBoard reads every file with "tfevents" in its name, and those of a folder in name order.
std::string file_name() {
  static std::atomic<unsigned> count{0};
  return fmt::format("events.out.tfevents.{:010}.{}.{}.{}", static_cast<int64_t>(wall_time_s()),
                     host_name(), getpid(), count.fetch_add(1));
}

std::string reason(int error) { return std::generic_category().message(error); }

}  // namespace

// Delegates to the default constructor, so that the destructor closes the file if this one throws.
EventFile::EventFile(const std::filesystem::path& folder) : EventFile() {
  path_ = folder / file_name();
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) fail("create the folder of", error.message());
  earlier_ = EarlierSteps(folder);
  fd_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd_ < 0) fail("create", reason(errno));
  buffer(encoder().file_version(wall_time_s()));
  write_out();
}

EventFile::~EventFile() {
  if (fd_ >= 0) ::close(fd_);
}

void EventFile::buffer(std::string_view event) {
  const std::string length = little_endian<uint64_t>(event.size());
  buffer_.append(length).append(little_endian(masked_crc(length)));
  buffer_.append(event).append(little_endian(masked_crc(event)));
}

size_t EventFile::append(std::string_view event) {
  earlier_.warn_before(event);
  buffer(event);
  ++buffered_events_;
  expect_linked();
  return buffer_.size() < kBufferBytes ? 0 : write_out();
}

size_t EventFile::write_out() {
  for (size_t done = 0; done < buffer_.size();) {
    const ssize_t written = ::write(fd_, buffer_.data() + done, buffer_.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      const std::string why = reason(errno);
      // Remove the incomplete record, at which readers stop. If that fails, the error reported is
      // still that of the write.
      [[maybe_unused]] const int ignored = ::ftruncate(fd_, size_bytes_);
      fail("write", why);
    }
    done += static_cast<size_t>(written);
  }
  expect_linked();
  size_bytes_ += std::ssize(buffer_);
  buffer_.clear();
  return std::exchange(buffered_events_, 0);
}

size_t EventFile::close() {
  const size_t events = write_out();
  if (::close(std::exchange(fd_, -1)) != 0) fail("close", reason(errno));
  return events;
}

// A removed file can still be written, but its data is lost.
void EventFile::expect_linked() const {
  struct stat info {};
  if (::fstat(fd_, &info) != 0) fail("write", reason(errno));
  if (info.st_nlink == 0) fail("write", "it was removed, with all in it");
}

void EventFile::fail(const char* step, const std::string& why) const {
  throw Error(fmt::format("SummaryWriter: cannot {} '{}': {}", step, printable(path_), why));
}

}  // namespace ambit::tensorboard
