// Some 600 files that PyTorch, NumPy and safetensors write for corpus.py, with every value and
// option of these writers. Each has a second file with the expected contents. Those of PyTorch 2.15
// are in an archive; the installed PyTorch writes more.
#include <ambit/checkpoint.h>
#include <ambit/error.h>
#include <ambit/ops/shape.h>
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <filesystem>
#include <string>
#include <vector>

#include "python.h"
#include "tests/temporary_folder.h"

using namespace ambit;

namespace {

std::string hex(const void* data, size_t size) {
  std::string out;
  const auto* bytes = static_cast<const unsigned char*>(data);
  for (size_t i = 0; i < size; ++i) out += fmt::format("{:02x}", bytes[i]);
  return out;
}

std::string tensor_text(const Tensor& t) {
  std::string sizes;
  for (const int64_t n : t.sizes()) sizes += (sizes.empty() ? "" : ", ") + std::to_string(n);
  const std::string head = fmt::format("tensor torch.{} [{}] ", name(t.dtype()), sizes);
  if (t.is_meta()) return head + "meta";
  const Tensor whole = t.contiguous();
  return head + hex(whole.data_ptr(), whole.nbytes());
}

// The same function as lines() in corpus.py.
void list(std::string& out, const Value& v, const std::string& path) {
  using Kind = Value::Kind;
  const auto line = [&](const std::string& text) { out += path + " " + text + "\n"; };
  switch (v.kind()) {
    case Kind::none:
      return line("None");
    case Kind::boolean:
      return line(v.to_bool() ? "bool True" : "bool False");
    case Kind::integer:
      return line(fmt::format("int {}", v.to_int()));
    case Kind::real:
      return line(fmt::format("float {:016x}", std::bit_cast<uint64_t>(v.to_double())));
    case Kind::string:
      return line("str " + hex(v.to_string().data(), v.to_string().size()));
    case Kind::tensor:
      return line(tensor_text(v.to_tensor()));
    case Kind::opaque: {
      const std::string& type = v.to_opaque().type;
      return line("opaque " + (type.ends_with("Storage") ? "storage" : type));
    }
    case Kind::list:
    case Kind::tuple:
      line(fmt::format("{} {}", v.isList() ? "list" : "tuple", v.items().size()));
      for (size_t i = 0; i < v.items().size(); ++i) {
        list(out, v.items()[i], fmt::format("{}.{}", path, i));
      }
      return;
    case Kind::dict:
    case Kind::ordered_dict:
      line(fmt::format("dict {}", v.entries().size()));
      for (const auto& [key, value] : v.entries()) {
        list(out, key, path + ".key");
        list(out, value, path + ".value");
      }
  }
}

std::string text_of(const Value& v) {
  std::string out;
  list(out, v, "");
  return out;
}

// Return the first different line.
std::string difference(const std::string& expected, const std::string& got) {
  size_t at = 0;
  while (at < expected.size() && at < got.size() && expected[at] == got[at]) ++at;
  const size_t begin = at == 0 ? 0 : expected.rfind('\n', at - 1) + 1;
  return fmt::format("expected {}\ngot {}", expected.substr(begin, 200),
                     begin < got.size() ? got.substr(begin, 200) : "less");
}

// Write the value, if possible, and read it again.
void check_again(const Value& value, const std::string& text) {
  const TemporaryFolder folder;
  try {
    save_checkpoint(value, folder / "again.pth");
  } catch (const SerializationError& e) {  // a tensor on meta, or one whose elements were not read
    const std::string why = e.what();
    const bool known = why.find("that can be written, got an opaque") != why.npos ||
                       why.find("tensors with values, got one on meta") != why.npos;
    CHECK_MESSAGE(known, why);
    return;
  }
  const std::string again = text_of(load_checkpoint(folder / "again.pth"));
  CHECK_MESSAGE(again == text, difference(text, again));
}

// Return the tensors of a TorchScript archive, one line each: by name without the constants of its
// code, or all without names.
std::string tensors_text(const StateDict& tensors, bool named) {
  std::vector<std::string> lines;
  for (const auto& [name, t] : tensors) {
    if (!named) lines.push_back(tensor_text(t));
    if (named && !name.starts_with("CONSTANTS.")) lines.push_back(name + " " + tensor_text(t));
  }
  std::sort(lines.begin(), lines.end());
  std::string out;
  for (const std::string& line : lines) out += line + "\n";
  return out;
}

std::string sorted_lines(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
    lines.push_back(text.substr(at, text.find('\n', at) - at));
  }
  std::sort(lines.begin(), lines.end());
  std::string out;
  for (const std::string& line : lines) out += line + "\n";
  return out;
}

struct Counts {
  int files = 0, read = 0, refused = 0;  ///< refused: permitted for these files
};

void check_file(const std::string& path, Counts& counts) {
  INFO(path);
  const std::string about = read_bytes(path + ".txt");
  const std::string how = about.substr(0, about.find('\n'));
  const std::string expected = about.substr(how.size() + 1);
  ++counts.files;
  try {
    if (how == "tensors" || how == "constants") {
      const std::string text = tensors_text(load(path), how == "tensors");
      CHECK_MESSAGE(text == sorted_lines(expected), difference(sorted_lines(expected), text));
    } else {
      const Value value = load_checkpoint(path);
      const std::string text = text_of(value);
      CHECK_MESSAGE(text == expected, difference(expected, text));
      check_again(value, text);
    }
    ++counts.read;
    CHECK_MESSAGE(!how.starts_with("refused"), how);
  } catch (const SerializationError& e) {
    ++counts.refused;
    const std::string why = e.what();
    constexpr std::string_view kRefused = "refused ";
    const bool as_expected = how.starts_with(kRefused)
                                 ? why.find(how.substr(kRefused.size())) != why.npos
                                 : how == "try";
    CHECK_MESSAGE(as_expected, why);
  }
}

Counts check_folder(const std::filesystem::path& folder) {
  Counts counts;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".txt") check_file(entry.path(), counts);
  }
  MESSAGE(counts.files, " files, of which ", counts.read, " read and ", counts.refused, " refused");
  return counts;
}

}  // namespace

TEST_CASE("every file written by PyTorch 2.15 is read as by PyTorch") {
  const TemporaryFolder folder;
  REQUIRE(succeeds("tar -xJf '" AMBIT_CORPUS_FILES "' -C '" + folder.path().string() + "'"));
  const Counts counts = check_folder(folder.path());
  CHECK(counts.files >= 623);
  CHECK(counts.read >= 619);
}

TEST_CASE("every file written by this machine's PyTorch is read as by PyTorch") {
  if (python_with_torch().empty()) return;
  const TemporaryFolder folder;
  REQUIRE(succeeds("OMP_NUM_THREADS=1 '" + python_with_torch() + "' '" AMBIT_CORPUS_SCRIPT "' '" +
                   folder.path().string() + "' >/dev/null 2>&1"));
  const Counts counts = check_folder(folder.path());
  CHECK(counts.files >= 500);  // some 540 with PyTorch 1.13, 15 of them by safetensors
  CHECK(counts.read >= 490);
}
