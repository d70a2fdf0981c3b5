// save() and load(): tensors to and from safetensors files. safetensors.cpp knows the header,
// atomic_file.cpp the replacing of files.
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/serialize.h>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <numeric>
#include <system_error>
#include <unordered_set>

#include "atomic_file.h"
#include "safetensors.h"

namespace ambit {
namespace {

static_assert(std::endian::native == std::endian::little, "safetensors data are little-endian");

constexpr const char* kOneTensor = "tensor";  // the name that a tensor alone bears

[[noreturn]] void fail_save(const std::string& path, const std::string& why) {
  throw SerializationError(fmt::format("save: cannot write '{}': {}", path, why));
}

[[noreturn]] void fail_load(const std::string& path, const std::string& why) {
  throw SerializationError(fmt::format("load: cannot read '{}': {}", path, why));
}

void check_savable(const StateDict& tensors, const std::string& path) {
  std::unordered_set<std::string_view> names;
  for (const auto& [name, tensor] : tensors) {
    if (!names.insert(name).second) {
      fail_save(path, fmt::format("expected each name once, got '{}' twice", name));
    }
    if (!tensor.defined() || tensor.is_meta()) {
      fail_save(path, fmt::format("expected a tensor with values as '{}', got {}", name,
                                  tensor.defined() ? "one on meta" : "an undefined one"));
    }
  }
}

// The order of the data: wide elements first, so that each tensor is aligned to its element's size.
std::vector<size_t> data_order(const StateDict& tensors) {
  std::vector<size_t> order(tensors.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return element_size(tensors[a].second.dtype()) > element_size(tensors[b].second.dtype());
  });
  return order;
}

std::string make_header(const StateDict& tensors, const std::vector<size_t>& order) {
  std::vector<safetensors::Entry> entries;
  for (const auto& [name, tensor] : tensors) {
    entries.push_back({.name = name, .dtype = tensor.dtype(), .sizes = tensor.sizes()});
  }
  uint64_t at = 0;
  for (const size_t i : order) {
    entries[i].begin = at;
    entries[i].end = at += tensors[i].second.nbytes();
  }
  return safetensors::format_header(entries);
}

// A file to read from: its size, and reads that name it when they fail.
class InputFile {
 public:
  explicit InputFile(const std::string& path) : path_(path) {
    fd_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd_ < 0) fail(errno);
    struct stat info {};
    const int error = ::fstat(fd_, &info) != 0 ? errno
                      : S_ISDIR(info.st_mode)  ? EISDIR
                      : !S_ISREG(info.st_mode) ? EINVAL
                                               : 0;
    if (error) {
      ::close(fd_);
      fail(error);
    }
    size_bytes_ = static_cast<uint64_t>(info.st_size);
  }
  ~InputFile() { ::close(fd_); }
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  uint64_t size_bytes() const { return size_bytes_; }

  void read(void* to, size_t bytes, uint64_t offset) const {
    char* next = static_cast<char*>(to);
    while (bytes > 0) {
      const ssize_t got = ::pread(fd_, next, bytes, static_cast<off_t>(offset));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) fail(errno);
      if (got == 0) fail_load(path_, "the file was shortened while it was read");
      next += got;
      bytes -= static_cast<size_t>(got);
      offset += static_cast<uint64_t>(got);
    }
  }

 private:
  [[noreturn]] void fail(int error) const {
    fail_load(path_, std::generic_category().message(error));
  }

  std::string path_;
  int fd_ = -1;
  uint64_t size_bytes_ = 0;
};

// Reads the header and checks it against the file's size; sets where the data begin.
std::vector<safetensors::Entry> read_header(const InputFile& file, const std::string& path,
                                            uint64_t& data_begin) {
  constexpr uint64_t kLength = safetensors::kLengthBytes;
  if (file.size_bytes() < kLength) {
    fail_load(path, fmt::format("expected at least {} bytes, got {}", kLength, file.size_bytes()));
  }
  uint64_t length = 0;
  file.read(&length, kLength, 0);
  const uint64_t most = std::min(file.size_bytes() - kLength, safetensors::kMaxHeaderBytes);
  if (length > most) {
    fail_load(path, fmt::format("expected a header of at most {} bytes, got {}", most, length));
  }
  std::string text(length, '\0');
  file.read(text.data(), length, kLength);
  data_begin = kLength + length;
  try {
    return safetensors::parse_header(text, file.size_bytes() - data_begin);
  } catch (const SerializationError& e) {
    fail_load(path, e.what());
  }
}

Tensor read_tensor(const InputFile& file, const std::string& path, const safetensors::Entry& entry,
                   uint64_t data_begin) {
  Tensor t = empty(entry.sizes, entry.dtype);
  file.read(t.data_ptr(), t.nbytes(), data_begin + entry.begin);
  if (entry.dtype == kBool) {
    // A bool that is neither 0 nor 1 would be undefined behaviour wherever it is read.
    const auto* bytes = static_cast<const unsigned char*>(t.data_ptr());
    if (std::any_of(bytes, bytes + t.numel(), [](unsigned char b) { return b > 1; })) {
      fail_load(path, fmt::format("expected bytes 0 and 1 in '{}' BOOL, got others", entry.name));
    }
  }
  return t;
}

}  // namespace

void save(const StateDict& tensors, const std::string& path) {
  check_savable(tensors, path);
  const std::vector<size_t> order = data_order(tensors);
  std::string header;
  try {
    header = make_header(tensors, order);
  } catch (const SerializationError& e) {
    fail_save(path, e.what());
  }
  AtomicFile file(path);
  const uint64_t length = header.size();
  file.write(&length, safetensors::kLengthBytes);
  file.write(header.data(), header.size());
  for (const size_t i : order) {
    const Tensor t = tensors[i].second.detach().cpu().contiguous();
    file.write(t.data_ptr(), t.nbytes());
  }
  file.commit();
}

StateDict load(const std::string& path, Device device) {
  const InputFile file(path);
  uint64_t data_begin = 0;
  StateDict tensors;
  for (const safetensors::Entry& entry : read_header(file, path, data_begin)) {
    tensors.emplace_back(entry.name, read_tensor(file, path, entry, data_begin).to(device));
  }
  return tensors;
}

void save(const Tensor& tensor, const std::string& path) { save({{kOneTensor, tensor}}, path); }

void load(Tensor& tensor, const std::string& path) {
  StateDict tensors = load(path, tensor.defined() ? tensor.device() : kCPU);
  if (tensors.size() != 1 || tensors[0].first != kOneTensor) {
    fail_load(path, fmt::format("expected one tensor named '{}', got {} under other names",
                                kOneTensor, tensors.size()));
  }
  tensor = std::move(tensors[0].second);
}

}  // namespace ambit
