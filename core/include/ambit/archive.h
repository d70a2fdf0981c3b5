// Archives: the format of libtorch's C++ torch::save() and torch::load(), a tree of named tensors
// and plain values in a zip file. Python's torch.save() writes another format (checkpoint.h).
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

struct ArchiveEntry;  // the value of one key; private to core

/// In libtorch, the object that owns the classes of nested archives. ambit needs none and never
/// makes one: this type only lets libtorch programs pass the result of compilation_unit() to the
/// constructor of another archive.
class CompilationUnit;

/// An archive to fill and save. It is movable, not copyable. Errors of all members:
/// SerializationError naming the key or the path, and the cause.
class AMBIT_API OutputArchive {
 public:
  /// An archive without keys.
  /// @{
  OutputArchive();
  explicit OutputArchive(const std::shared_ptr<CompilationUnit>&) : OutputArchive() {}
  /// @}
  /// Move the content; the other archive may only be assigned to or destroyed.
  /// @{
  OutputArchive(OutputArchive&&) noexcept;
  OutputArchive& operator=(OutputArchive&&) noexcept;
  /// @}
  ~OutputArchive();

  /// Return the constructor argument of an archive to be nested in this one: always null.
  std::shared_ptr<CompilationUnit> compilation_unit() const { return nullptr; }

  /// Set the tensor of a key, replacing an earlier one. libtorch records which tensors are buffers,
  /// that is, not trained. An undefined tensor is not written. Errors: also for a key with quotes,
  /// backslashes or control characters, which libtorch cannot read.
  void write(const std::string& key, const Tensor& tensor, bool is_buffer = false);
  /// Set the plain value of a key: a bool, a number, a string, None, a tensor, or a list or tuple
  /// of them. Errors: also for a dict or a list of mixed kinds, which have no type in TorchScript.
  void write(const std::string& key, const Value& value);
  /// Set the value of a key to a copy of another archive's present content.
  void write(const std::string& key, const OutputArchive& nested);

  /// Write the archive to a file; `path` is replaced atomically, as save() of a state dict does.
  void save_to(const std::string& path) const;
  /// Append the archive to a stream. Errors: also when the stream fails.
  void save_to(std::ostream& stream) const;
  /// Pass the archive's bytes in order to `write`, which returns how many it wrote. Errors: also
  /// when it wrote fewer.
  void save_to(const std::function<size_t(const void* data, size_t size_bytes)>& write) const;

  /// Same as write(): for generic code that works on both kinds of archive.
  template <class... Args>
  void operator()(const std::string& key, Args&&... args) {
    write(key, std::forward<Args>(args)...);
  }

 private:
  void put(const std::string& key, ArchiveEntry entry);

  std::unique_ptr<std::vector<ArchiveEntry>> entries_;  // in order
  std::unordered_map<std::string, size_t> position_;    // in entries_, by key
};

/// A loaded archive. It reads files of libtorch's C++ and of OutputArchive; Python's TorchScript
/// modules, as far as they hold tensors and plain values; and checkpoints, as an archive with the
/// keys of their dict. No code in a file is run. No more memory is allocated than the file's
/// content needs. Errors of all members: SerializationError naming the full key or the path.
class AMBIT_API InputArchive {
 public:
  /// An archive without content; load_from() fills it.
  InputArchive() = default;
  /// Move the content.
  /// @{
  InputArchive(InputArchive&&) = default;
  InputArchive& operator=(InputArchive&&) = default;
  /// @}

  /// Replace the content by that of a file, with all tensors on `device`. After an error the
  /// content is unchanged.
  void load_from(const std::string& path, std::optional<Device> device = {});
  /// As above, from the rest of a stream.
  void load_from(std::istream& stream, std::optional<Device> device = {});
  /// As above, from bytes in memory.
  void load_from(const char* data, size_t size_bytes, std::optional<Device> device = {});
  /// As above, through two functions: `read` reads up to n bytes from a position, `size` returns
  /// the number of bytes.
  void load_from(const std::function<size_t(uint64_t position, void* to, size_t n)>& read,
                 const std::function<size_t()>& size, std::optional<Device> device = {});

  /// Read a tensor. If `tensor` is undefined, it becomes a copy. If it is defined, it keeps its
  /// identity, device and requires_grad; its data, dtype and sizes become the archive's. Errors:
  /// also for a key that is missing or does not hold a tensor.
  void read(const std::string& key, Tensor& tensor, bool is_buffer = false) const;
  /// Read any value. Errors: also for a missing key.
  void read(const std::string& key, Value& value) const;
  /// Read a nested archive, or from a state dict the entries "<key>.<name>". Errors: also for a
  /// key that is missing or does not hold an archive.
  void read(const std::string& key, InputArchive& nested) const;
  /// As read(), but return false and change nothing if the key is missing.
  /// @{
  bool try_read(const std::string& key, Tensor& tensor, bool is_buffer = false) const;
  bool try_read(const std::string& key, Value& value) const;
  bool try_read(const std::string& key, InputArchive& nested) const;
  /// @}

  /// Return all keys, in order.
  std::vector<std::string> keys() const;
  /// Return the content: a dict, with nested archives as dicts. None before load_from().
  const Value& value() const { return root_; }

  /// Same as read(): for generic code that works on both kinds of archive.
  template <class... Args>
  void operator()(const std::string& key, Args&&... args) {
    read(key, std::forward<Args>(args)...);
  }

 private:
  const Value* find(const std::string& key) const;
  [[noreturn]] void fail_to_find(const char* what, const std::string& key) const;
  void set_root(Value root, const std::string& path);

  Value root_;
  mutable size_t next_ = 0;  // position after the entry found last
  std::string prefix_;       // keys of the enclosing archives, each followed by a dot
};

/// Write or read an archive that holds only a tensor or a list of tensors, under "0", "1", ..., as
/// libtorch does. Reading a list appends to it.
/// @{
AMBIT_API OutputArchive& operator<<(OutputArchive& archive, const Tensor& tensor);
AMBIT_API InputArchive& operator>>(InputArchive& archive, Tensor& tensor);
AMBIT_API OutputArchive& operator<<(OutputArchive& archive, const std::vector<Tensor>& tensors);
AMBIT_API InputArchive& operator>>(InputArchive& archive, std::vector<Tensor>& tensors);
/// @}

/// Return true if a file is an archive; false for checkpoints, other files and missing files.
AMBIT_API bool is_archive(const std::string& path);

}  // namespace ambit::serialize

namespace ambit {

/// True if save() of a T chooses between several formats by the file's extension. Other types are
/// saved as archives.
template <class T>
inline constexpr bool has_file_formats = false;
/// @cond
template <>
inline constexpr bool has_file_formats<Tensor> = true;
template <>
inline constexpr bool has_file_formats<std::vector<Tensor>> = true;
/// @endcond

/// A type with `<<` into an OutputArchive: tensors, lists of them, modules, optimizers, samplers,
/// datasets, and types for which a program defines it.
template <class T>
concept Archived = requires(serialize::OutputArchive& archive, const T& value) {
  archive << value;
};

/// Write the archive of a value to a stream, through a function, or to a file. Errors: those of
/// OutputArchive.
/// @{
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
/// @}

/// Read a value from the rest of a stream, from bytes, or from an archive file. Errors: those of
/// InputArchive, and of the value's own `>>`.
/// @{
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
/// @}

/// Write a list of tensors: as a list in a checkpoint (".pth", ".pt"), else under "0", "1", ... in
/// a safetensors file. Errors: those of save(StateDict).
template <int = 0>
AMBIT_API void save(const std::vector<Tensor>& tensors, const std::string& path);
/// Append the list in a file of either format or an archive to `tensors`. Errors: those of load();
/// `tensors` is then unchanged.
AMBIT_API void load(std::vector<Tensor>& tensors, const std::string& path,
                    std::optional<Device> device = {});

}  // namespace ambit
