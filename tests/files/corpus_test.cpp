// Some 380 files that corpus.py has PyTorch and safetensors write, of every value and option of the
// writers, each with what it holds beside it.
#include <ambit/checkpoint.h>
#include <ambit/error.h>
#include <ambit/ops/shape.h>
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <bit>
#include <filesystem>
#include <string>

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

// As lines() of corpus.py.
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

// The first line in which they differ.
std::string difference(const std::string& expected, const std::string& got) {
  size_t at = 0;
  while (at < expected.size() && at < got.size() && expected[at] == got[at]) ++at;
  const size_t begin = at == 0 ? 0 : expected.rfind('\n', at - 1) + 1;
  return fmt::format("expected {}\ngot {}", expected.substr(begin, 200),
                     begin < got.size() ? got.substr(begin, 200) : "less");
}

// Writes what was read, where it can be written, and reads it again.
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

}  // namespace

TEST_CASE("every file of the corpus is read as PyTorch reads it") {
  if (python_with_torch().empty()) return;
  const TemporaryFolder folder;
  REQUIRE(succeeds("OMP_NUM_THREADS=1 '" + python_with_torch() + "' '" AMBIT_CORPUS_SCRIPT "' '" +
                   folder.path().string() + "' >/dev/null 2>&1"));
  int files = 0, refused = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    const std::string path = entry.path();
    if (path.ends_with(".txt")) continue;
    ++files;
    INFO(path);
    const std::string about = read_bytes(path + ".txt");
    const bool must_read = about.starts_with("read\n");
    const std::string expected = about.substr(about.find('\n') + 1);
    Value value;
    try {
      value = load_checkpoint(path);
    } catch (const SerializationError& e) {
      ++refused;
      CHECK_MESSAGE(!must_read, e.what());
      continue;
    }
    const std::string text = text_of(value);
    CHECK_MESSAGE(text == expected, difference(expected, text));
    check_again(value, text);
  }
  MESSAGE(files, " files, of which ", refused, " refused, as they may be");
  CHECK(files >= 250);  // PyTorch 1.13 has fewer dtypes than 2.15, with which there are 379
}
