// Loading files that are broken or lie: either tensors or SerializationError, and never harm.
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/shape.h>
#include <ambit/serialize.h>

#include <doctest/doctest.h>

#include <string>

#include "tests/temporary_folder.h"

using namespace ambit;

namespace {

// A safetensors file: the header's length, the header, the data.
std::string file_bytes(const std::string& header, const std::string& data = "") {
  std::string length(8, '\0');
  for (size_t i = 0; i < 8; ++i) length[i] = static_cast<char>(header.size() >> (8 * i));
  return length + header + data;
}

// Load bytes as a file; return the error's text, empty where it loaded.
std::string load_error(const TemporaryFolder& folder, const std::string& bytes) {
  const std::string path = folder.write("hostile.safetensors", bytes);
  try {
    load(path);
  } catch (const SerializationError& e) {
    CHECK(std::string(e.what()).find(path) != std::string::npos);
    return e.what();
  }
  return "";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a file truncated anywhere is refused") {
  const TemporaryFolder folder;
  save({{"weight", arange(6.).view({2, 3})}, {"bias", tensor({true, false})}}, folder / "f");
  const std::string whole = read_bytes(folder / "f");
  for (size_t n = 0; n < whole.size(); ++n) {
    INFO(n);
    CHECK(load_error(folder, whole.substr(0, n)) != "");
  }
  CHECK(load_error(folder, whole) == "");
  CHECK(load_error(folder, whole + "x") != "");
}

TEST_CASE("a flipped bit gives an error or tensors, nothing else") {
  const TemporaryFolder folder;
  save({{"x", tensor({true, false})}}, folder / "f");
  const std::string whole = read_bytes(folder / "f");
  int refused = 0;
  for (size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    std::string flipped = whole;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    refused += load_error(folder, flipped) != "";
  }
  CHECK(refused > 0);
}

TEST_CASE("headers that lie are refused with the reason") {
  const TemporaryFolder folder;
  const std::string four(4, '\0');
  const auto error = [&](const std::string& header, const std::string& data) {
    return load_error(folder, file_bytes(header, data));
  };
  const auto one = [&](const std::string& info) { return error("{\"x\":{" + info + "}}", four); };
  const auto shaped = [&](const std::string& shape) {
    return one(R"("dtype":"U8","shape":)" + shape + R"(,"data_offsets":[0,4])");
  };
  CHECK(shaped("[4]") == "");
  CHECK(contains(shaped("[5]"), "expected 5 bytes for 'x' uint8[5], got 4"));
  CHECK(shaped("[-4]") != "");
  CHECK(shaped("[4.0]") != "");
  CHECK(shaped("[\"4\"]") != "");
  CHECK(shaped("[[4]]") != "");
  CHECK(shaped("4") != "");
  CHECK(shaped("null") != "");
  CHECK(shaped("[18446744073709551615]") != "");
  CHECK(shaped("[99999999999999999999999]") != "");
  CHECK(contains(shaped("[4294967296,4294967296,4294967296]"), "memory can hold"));
  CHECK(contains(shaped("[0,4294967296,4294967296]"), "memory can hold"));
  std::string many = "[1";
  for (int i = 0; i < 100; ++i) many += ",1";
  CHECK(shaped(many + ",4]") != "");

  const std::string shape = R"("dtype":"U8","shape":[4])";
  CHECK(one(shape + R"(,"data_offsets":[4,0])") != "");
  CHECK(one(shape + R"(,"data_offsets":[1,5])") != "");
  CHECK(one(shape + R"(,"data_offsets":[0])") != "");
  CHECK(one(shape + R"(,"data_offsets":[0,4,4])") != "");
  CHECK(one(shape + R"(,"data_offsets":[-1,3])") != "");
  CHECK(one(shape + R"(,"data_offsets":[18446744073709551612,18446744073709551615])") != "");
  CHECK(one(shape) != "");
  CHECK(one(shape + R"(,"data_offsets":[0,4],"shape":[4])") != "");
  CHECK(one(shape + R"(,"data_offsets":[0,4],"color":"red")") != "");
  CHECK(contains(one(R"("dtype":"F8_E5M2","shape":[4],"data_offsets":[0,4])"), "got 'F8_E5M2'"));

  const std::string byte = R"({"dtype":"U8","shape":[1],"data_offsets":)";
  CHECK(contains(error("{\"a\":" + byte + "[0,1]},\"a\":" + byte + "[1,2]}}", "\1\1"), "twice"));
  CHECK(error("{\"a\":" + byte + "[0,1]},\"b\":" + byte + "[0,1]}}", "\1") != "");      // overlap
  CHECK(error("{\"a\":" + byte + "[0,1]},\"b\":" + byte + "[2,3]}}", "\1\1\1") != "");  // gap
  CHECK(error("{\"a\":" + byte + "[0,1]}}", "\1\1") != "");  // bytes left over
  CHECK(error("{\"a\":" + byte + "[1,2]}}", "\1\1") != "");  // bytes before
  CHECK(error(R"({"a":{"dtype":"BOOL","shape":[1],"data_offsets":[0,1]}})", "\2") != "");
}

TEST_CASE("headers that are no header are refused") {
  const TemporaryFolder folder;
  for (const std::string header :
       {"", "   ", "[]", "1", "\"x\"", "null", "{", "{}x", "{\"x\":1}", "{\"x\":[]}",
        "{\"__metadata__\":{\"a\":1}}", "{\"__metadata__\":{\"a\":{}}}", "{\"__metadata__\":\"a\"}",
        "{\"\xff\":{}}", "{'x':{}}", "{\"x\":{}}", "{\"x\":{\"x\":{}}}"}) {
    INFO(header);
    CHECK(load_error(folder, file_bytes(header)) != "");
  }
  CHECK(load_error(folder, file_bytes("{}")) == "");
  CHECK(load_error(folder, file_bytes("{\"__metadata__\":{}}")) == "");
}

TEST_CASE("a header longer than the file or than the limit allocates nothing") {
  const TemporaryFolder folder;
  CHECK(contains(load_error(folder, std::string(8, '\xff')), "header"));
  CHECK(contains(load_error(folder, std::string("\x10\0\0\0\0\0\0\0{}", 10)), "header"));
  const std::string path = folder.write("long", std::string("\0\0\0\x10\0\0\0\0", 8));
  std::filesystem::resize_file(path, (1u << 28) + 8);  // sparse
  CHECK_THROWS_AS(load(path), SerializationError);
}

TEST_CASE("deep nesting in a header ends at once") {
  const TemporaryFolder folder;
  const size_t depth = 4'000'000;
  CHECK(load_error(folder, file_bytes(std::string(depth, '['))) != "");
  std::string objects;
  for (size_t i = 0; i < depth / 4; ++i) objects += "{\"a\":";
  CHECK(load_error(folder, file_bytes(objects)) != "");
}
