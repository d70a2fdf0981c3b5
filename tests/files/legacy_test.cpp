// Files of torch.save() before PyTorch 1.6, made by hand; corpus_test.cpp has files written by
// PyTorch.
#include <ambit/checkpoint.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/shape.h>
#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "load_bytes.h"
#include "pickled_file.h"
#include "tests/devices.h"
#include "tests/temporary_folder.h"

using namespace ambit;

namespace {

using Storages = std::vector<std::pair<std::string, std::string>>;  // the key, numel and elements

std::string pickle(const std::string& opcodes) { return "\x80\x02" + opcodes + "."; }

std::string storage(int64_t numel, const std::string& bytes) {
  return little_endian(static_cast<uint64_t>(numel), 8) + bytes;
}

// Source: _legacy_save in torch/serialization.py.
std::string legacy_bytes(const std::string& value, const Storages& storages = {}) {
  std::string keys = "](", data;
  for (const auto& [key, bytes] : storages) {
    keys += pickled(key);
    data += bytes;
  }
  const std::string magic = "\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19";
  return pickle(magic) + pickle("M\xe9\x03") + pickle("}" + pickled("little_endian") + "\x88s") +
         pickle(value) + pickle(keys + "e") + data;
}

// The id of a storage has six parts; the sixth is None, or describes a view of the storage.
std::string old_tensor(const PickledTensor& t, const std::string& part = "N") {
  std::string text = pickled(t);
  return text.insert(text.find("tQ"), part);
}

std::string error_of(const std::string& bytes) {
  try {
    load_bytes(bytes);
  } catch (const SerializationError& e) {
    return e.what();
  }
  return "";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

const std::string kTwo("\0\0\x80\x3f\0\0\0\x40", 8);  // 1. and 2. of float32
const PickledTensor kTensor{.key = "93824", .numel = 2, .sizes = {2}, .strides = {1}};

}  // namespace

TEST_CASE(
    "a file from before PyTorch 1.6 is read onto every device, and shared memory remains shared") {
  const std::string t = old_tensor(kTensor);
  const std::string other = old_tensor(
      {.type = "LongStorage", .key = "7", .numel = 1, .offset = 0, .sizes = {}, .strides = {}});
  const std::string bytes =
      legacy_bytes("}(" + pickled("a") + t + pickled("n") + other + pickled("b") + t + "u",
                   {{"7", storage(1, little_endian(5, 8))}, {"93824", storage(2, kTwo)}});
  for_each_device([&](Device device) {
    const Value value = load_bytes(bytes, device);
    const Tensor a = value["a"].to_tensor(), b = value["b"].to_tensor();
    CHECK(a.device() == device);
    CHECK(a.cpu().equal(tensor({1., 2.})));
    CHECK(value["n"].to_tensor().cpu().equal(tensor(5)));
    a.fill_(3.);
    CHECK(b.cpu().equal(full({2}, 3.)));
  });
  const TemporaryFolder folder;
  // The contents determine the format, not the name.
  CHECK(load(folder.write("x.bin", legacy_bytes("}" + pickled("w") + t + "s",
                                                {{"93824", storage(2, kTwo)}})))
            .size() == 1);
  CHECK(file_kind(folder / "x.bin") == "a file of torch.save() before PyTorch 1.6");
  CHECK(
      pickle_load(std::vector<char>(bytes.begin(), bytes.end()))["n"].to_tensor().equal(tensor(5)));
}

// PyTorch 2.15 writes such files, but does not read them.
TEST_CASE("wide unsigned dtypes are read in the format before PyTorch 1.6") {
  std::string wide = pickled_uint16("5", 4);
  wide.insert(wide.find("tQ"), "N");
  const std::string bytes =
      old_tensor({.type = "ByteStorage", .key = "5", .numel = 4, .sizes = {4}, .strides = {1}});
  const Value value = load_bytes(
      legacy_bytes("(" + wide + bytes + "t", {{"5", storage(4, std::string("\7\0\0\x80", 4))}}));
  CHECK(value.items()[0].to_tensor().equal(tensor({7, 32768}, kUInt16)));
  CHECK(value.items()[1].to_tensor().equal(tensor({7, 0, 0, 128}, kUInt8)));
}

TEST_CASE("views of storages, text of Python 2, and tensors of _rebuild_tensor are read") {
  const std::string part = "(" + pickled("12") + "K\x01K\x01t";
  CHECK(load_bytes(
            legacy_bytes(old_tensor({.key = "1", .numel = 2, .sizes = {1}, .strides = {1}}, part),
                         {{"1", storage(2, kTwo)}}))
            .to_tensor()
            .equal(tensor({2.})));
  CHECK(load_bytes(legacy_bytes("U\x03"
                                "abc"))
            .to_string() == "abc");
  std::string first = old_tensor(kTensor);
  first.replace(first.find("_v2"), 3, "");
  const size_t end = first.find("\x89");
  first = first.substr(0, end) + "tR";
  CHECK(load_bytes(legacy_bytes(first, {{"93824", storage(2, kTwo)}}))
            .to_tensor()
            .equal(tensor({1., 2.})));
  // A dtype that ambit does not have is skipped, and the storage after it is found.
  const std::string quantized =
      old_tensor({.type = "QInt32Storage", .key = "q", .numel = 1, .sizes = {1}, .strides = {1}});
  const Value both = load_bytes(
      legacy_bytes("(" + quantized + old_tensor(kTensor) + "t",
                   {{"q", storage(1, std::string(4, '\1'))}, {"93824", storage(2, kTwo)}}));
  CHECK(both.items()[0].to_opaque().type == "torch.qint32 tensor");
  CHECK(both.items()[1].to_tensor().equal(tensor({1., 2.})));
}

TEST_CASE("a file from before PyTorch 1.6 truncated anywhere is refused") {
  const std::string whole = legacy_bytes(old_tensor(kTensor), {{"93824", storage(2, kTwo)}});
  for (size_t n = 0; n < whole.size(); ++n) {
    CAPTURE(n);
    CHECK(error_of(whole.substr(0, n)) != "");
  }
  CHECK(error_of(whole) == "");
  CHECK(error_of(whole + whole) == "");  // like torch.load, which reads the first of several
}

TEST_CASE("a flipped bit in a file from before PyTorch 1.6 gives an error or a value") {
  const std::string whole = legacy_bytes(old_tensor(kTensor), {{"93824", storage(2, kTwo)}});
  size_t refused = 0;
  for (size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    std::string flipped = whole;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    refused += error_of(flipped) != "";
  }
  CHECK(refused > 0);
}

TEST_CASE("storages that differ from the pickle of an old file are refused") {
  const std::string t = old_tensor(kTensor);
  const auto error = [&](const std::string& value, const Storages& storages) {
    return error_of(legacy_bytes(value, storages));
  };
  const auto at = [](PickledTensor changed) { return old_tensor(changed); };
  CHECK(contains(error(t, {}), "expected storage '93824' in the file, got none"));
  CHECK(contains(error(t, {{"93824", storage(3, kTwo)}}),
                 "expected 2 elements in storage '93824', got 3"));
  CHECK(contains(error(t, {{"93824", storage(2, kTwo)}, {"93824", storage(2, kTwo)}}),
                 "got one twice"));
  CHECK(contains(error(t, {{"93824", storage(2, kTwo)}, {"5", storage(2, kTwo)}}),
                 "got an unused one"));
  CHECK(contains(error(t, {{"93824", storage(2, "1234")}}), "the file's end"));
  CHECK(contains(error(at({.numel = int64_t{1} << 50, .sizes = {1}, .strides = {1}}), {{"0", ""}}),
                 "got a file of"));
  CHECK(error(at({.numel = -1, .sizes = {}, .strides = {}}), {{"0", ""}}) != "");
  CHECK(error(at({.numel = 2, .sizes = {3}, .strides = {1}}), {{"0", storage(2, kTwo)}}) != "");
  CHECK(contains(error("(" + t + at({.type = "IntStorage", .key = "93824", .numel = 2}) + "t",
                       {{"93824", storage(2, kTwo)}}),
                 "one type and size"));
  for (const std::string& part :
       std::vector<std::string>{"(" + pickled("1") + "K\x01K\x02t",
                                "(" + pickled("1") + "K\x03K\x01t", "K\x01", "(NNNt"}) {
    CHECK(error(old_tensor(kTensor, part), {{"93824", storage(2, kTwo)}}) != "");
  }
  const std::string magic = "\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19";
  CHECK(contains(
      error_of(pickle(magic) + pickle("M\xea\x03") + pickle("}") + pickle("N") + pickle("]")),
      "expected version 1001"));
  CHECK(error_of(pickle(magic) + pickle("M\xe9\x03") + pickle("}") + pickle("N") + pickle("N")) !=
        "");
  CHECK(contains(error("c__main__\nTudui\n)\x81", {}), "'__main__.Tudui'"));
}

// The value's pickle is longer than the part that is read first.
TEST_CASE("a long pickle from before PyTorch 1.6 is read") {
  const std::string text(3 << 20, 'x');
  const Value value = load_bytes(
      legacy_bytes("(" + pickled(text) + old_tensor(kTensor) + "t", {{"93824", storage(2, kTwo)}}));
  CHECK(value.items()[0].to_string() == text);
  CHECK(value.items()[1].to_tensor().equal(tensor({1., 2.})));
  CHECK(contains(error_of(legacy_bytes(pickled(std::string((1 << 24) + 1, 'x')))),
                 "at most 16777216 bytes"));
}
