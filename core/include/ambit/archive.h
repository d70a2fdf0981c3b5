// Archives: what libtorch's C++ torch::save() writes and torch::load() reads. A tree of tensors and
// plain values under names, in a zip file. Files of Python's torch.save() are others
// (checkpoint.h).
//   serialize::OutputArchive archive;
//   archive.write("weight", weight);
//   archive.save_to("weights.pt");
#pragma once

#include <ambit/value.h>

#include <cstddef>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ambit::serialize {

struct ArchiveEntry;  // what an archive holds under one name; private to core

/// Where libtorch keeps the classes of the archives that are nested in one. ambit's archives write
/// their classes when they are saved and share none, so that there is never one: programs for
/// libtorch pass on what compilation_unit() gives.
class CompilationUnit;

/// An archive to write into and to save. It can be moved, not copied.
/// Errors of all: SerializationError naming the key, or the path, and what is wrong.
class AMBIT_API OutputArchive {
 public:
  OutputArchive();
  explicit OutputArchive(const std::shared_ptr<CompilationUnit>&) : OutputArchive() {}
  OutputArchive(OutputArchive&&) noexcept;
  OutputArchive& operator=(OutputArchive&&) noexcept;
  ~OutputArchive();

  /// Return what an archive that is to be nested in this one is made with: null.
  std::shared_ptr<CompilationUnit> compilation_unit() const { return nullptr; }

  /// Put a tensor under a key, or another in its place. libtorch keeps a note of which are buffers:
  /// tensors that are not trained. An undefined tensor is left out, and reads as not there. Errors
  /// also: for a key with quotes, backslashes or control characters, which libtorch does not read.
  void write(const std::string& key, const Tensor& tensor, bool is_buffer = false);
  /// Put a plain value under a key: a bool, a number, a string, None, a tensor, or a list or tuple
  /// of them. Errors also: for a dict, and for a list of different kinds, which have no type there.
  void write(const std::string& key, const Value& value);
  /// Put the content of another archive under a key, as it is now.
  void write(const std::string& key, const OutputArchive& nested);

  /// Write the archive as a file that replaces `path` as a whole, as save() of a state dict does.
  void save_to(const std::string& path) const;
  /// Append it to a stream. Errors also: when the stream goes bad.
  void save_to(std::ostream& stream) const;
  /// Hand its bytes to `write`, in order; it returns how many it took. Errors also: for fewer.
  void save_to(const std::function<size_t(const void* data, size_t size_bytes)>& write) const;

  /// As write(): for code that an archive of either kind is passed to.
  template <class... Args>
  void operator()(const std::string& key, Args&&... args) {
    write(key, std::forward<Args>(args)...);
  }

 private:
  void put(const std::string& key, ArchiveEntry entry);

  std::unique_ptr<std::vector<ArchiveEntry>> entries_;  // in order
  std::unordered_map<std::string, size_t> position_;    // in entries_, by key
};

/// An archive that has been loaded. It reads what libtorch's C++ wrote and what OutputArchive
/// writes; TorchScript modules of Python too, as far as they hold tensors and plain values; and
/// checkpoints, as an archive of the names that their dict has. No code in a file is run. Memory is
/// allocated only for what the file holds.
/// Errors of all: SerializationError naming the key, with those above it, or the path.
class AMBIT_API InputArchive {
 public:
  InputArchive() = default;
  InputArchive(InputArchive&&) = default;
  InputArchive& operator=(InputArchive&&) = default;

  /// Replace the content by a file's, with tensors on `device`, wherever they were. After an error
  /// it is as it was.
  void load_from(const std::string& path, std::optional<Device> device = {});
  /// The same from all that follows in a stream.
  void load_from(std::istream& stream, std::optional<Device> device = {});
  void load_from(const char* data, size_t size_bytes, std::optional<Device> device = {});
  /// The same by two functions: one that reads up to n bytes from a position, and one that returns
  /// how many there are.
  void load_from(const std::function<size_t(uint64_t position, void* to, size_t n)>& read,
                 const std::function<size_t()>& size, std::optional<Device> device = {});

  /// Read a tensor. One that is undefined becomes a copy of it. One that is defined keeps its
  /// identity, its device, and whether it requires a gradient; its data, dtype and sizes become the
  /// archive's. Errors also: for a key that is not there or holds no tensor.
  void read(const std::string& key, Tensor& tensor, bool is_buffer = false) const;
  /// Read any value. Errors also: for a key that is not there.
  void read(const std::string& key, Value& value) const;
  /// Read what another archive was written as. Errors also: for a key that is not there or holds
  /// none.
  void read(const std::string& key, InputArchive& nested) const;
  /// The same, but return whether it was there; where it was not, nothing changes.
  bool try_read(const std::string& key, Tensor& tensor, bool is_buffer = false) const;
  bool try_read(const std::string& key, Value& value) const;
  bool try_read(const std::string& key, InputArchive& nested) const;

  /// Return all keys, in order.
  std::vector<std::string> keys() const;
  /// Return the content: a dict, in which dicts stand for nested archives. None before load_from().
  const Value& value() const { return root_; }

  /// As read(): for code that an archive of either kind is passed to.
  template <class... Args>
  void operator()(const std::string& key, Args&&... args) {
    read(key, std::forward<Args>(args)...);
  }

 private:
  const Value* find(const std::string& key) const;
  [[noreturn]] void fail_to_find(const char* what, const std::string& key) const;
  void set_root(Value root, const std::string& path);

  Value root_;
  mutable size_t next_ = 0;  // behind the entry that was found last
  std::string prefix_;       // keys of the archives around this one, each followed by a dot
};

// A tensor or several as an archive's only content, as libtorch does: under "0", "1", ... Those
// that are read follow those that are in the list.
AMBIT_API OutputArchive& operator<<(OutputArchive& archive, const Tensor& tensor);
AMBIT_API InputArchive& operator>>(InputArchive& archive, Tensor& tensor);
AMBIT_API OutputArchive& operator<<(OutputArchive& archive, const std::vector<Tensor>& tensors);
AMBIT_API InputArchive& operator>>(InputArchive& archive, std::vector<Tensor>& tensors);

/// Return whether a file is an archive; not for checkpoints, other files, and what is no file.
AMBIT_API bool is_archive(const std::string& path);

}  // namespace ambit::serialize

namespace ambit {

/// Whether save() of a T has several formats, of which the file's extension chooses one. Others are
/// saved as archives.
template <class T>
inline constexpr bool has_file_formats = false;
template <>
inline constexpr bool has_file_formats<Tensor> = true;
template <>
inline constexpr bool has_file_formats<std::vector<Tensor>> = true;

/// What is written into an OutputArchive by `<<` and read from an InputArchive by `>>`: tensors,
/// lists of them, modules, optimizers, samplers, datasets, and what programs add to them.
template <class T>
concept Archived = requires(serialize::OutputArchive& archive, const T& value) {
  archive << value;
};

/// Append a value's archive to a stream, hand it to a function, or write it as a file. Errors:
/// those of OutputArchive.
template <Archived T>
void save(const T& value, std::ostream& stream) {
  serialize::OutputArchive archive;
  archive << value;
  archive.save_to(stream);
}
template <Archived T>
void save(const T& value, const std::function<size_t(const void*, size_t)>& write) {
  serialize::OutputArchive archive;
  archive << value;
  archive.save_to(write);
}
template <Archived T>
requires(!has_file_formats<T>) void save(const T& value, const std::string& path) {
  serialize::OutputArchive archive;
  archive << value;
  archive.save_to(path);
}

/// Read a value from what follows in a stream, from bytes, or from an archive's file. Errors: those
/// of InputArchive, and the value's own.
template <class T>
void load(T& value, std::istream& stream, std::optional<Device> device = {}) {
  serialize::InputArchive archive;
  archive.load_from(stream, device);
  archive >> value;
}
template <class T>
void load(T& value, const char* data, size_t size_bytes, std::optional<Device> device = {}) {
  serialize::InputArchive archive;
  archive.load_from(data, size_bytes, device);
  archive >> value;
}
template <class T>
requires(!has_file_formats<T>) void load(T& value, const std::string& path,
                                         std::optional<Device> device = {}) {
  serialize::InputArchive archive;
  archive.load_from(path, device);
  archive >> value;
}

/// Write a list of tensors: as a list in a checkpoint (".pth", ".pt"), else under "0", "1", ... in
/// a safetensors file. Errors: those of save(StateDict).
AMBIT_API void save(const std::vector<Tensor>& tensors, const std::string& path);
/// Read a list, from either or an archive, behind what is in `tensors`. Errors: those of load();
/// then `tensors` is as it was.
AMBIT_API void load(std::vector<Tensor>& tensors, const std::string& path,
                    std::optional<Device> device = {});

}  // namespace ambit
