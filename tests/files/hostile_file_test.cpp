// Loading broken and hostile files gives tensors or a SerializationError, without harm.
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

// Load bytes as a file; return the error's text, empty if it loaded.
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

TEST_CASE("a flipped bit gives an error or tensors") {
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

TEST_CASE("false headers are refused with the reason") {
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
  CHECK(contains(one(R"("dtype":"F9","shape":[4],"data_offsets":[0,4])"), "got 'F9'"));

  const std::string byte = R"({"dtype":"U8","shape":[1],"data_offsets":)";
  CHECK(error("{\"a\":" + byte + "[0,1]},\"a\":" + byte + "[1,2]}}", "\1\1") != "");  // unused byte
  CHECK(error("{\"a\":" + byte + "[0,1]},\"b\":" + byte + "[0,1]}}", "\1") != "");    // overlap
  CHECK(error("{\"a\":" + byte + "[0,1]},\"b\":" + byte + "[2,3]}}", "\1\1\1") != "");  // gap
  CHECK(error("{\"a\":" + byte + "[0,1]}}", "\1\1") != "");  // unused bytes at the end
  CHECK(error("{\"a\":" + byte + "[1,2]}}", "\1\1") != "");  // unused bytes at the start
  CHECK(error(R"({"a":{"dtype":"BOOL","shape":[1],"data_offsets":[0,1]}})", "\2") != "");
}

TEST_CASE("invalid headers are refused") {
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
  CHECK(contains(load_error(folder, std::string(8, '\xff')), "got an unknown file"));
  CHECK(contains(load_error(folder, std::string("\x10\0\0\0\0\0\0\0{}", 10)), "header"));
  const std::string path = folder.write("long", std::string("\0\0\0\x10\0\0\0\0", 8));
  std::filesystem::resize_file(path, (1u << 28) + 8);  // sparse
  CHECK_THROWS_AS(load(path), SerializationError);
}

TEST_CASE("deep nesting in a header is refused at once") {
  const TemporaryFolder folder;
  const size_t depth = 4'000'000;
  CHECK(load_error(folder, file_bytes(std::string(depth, '['))) != "");
  std::string objects;
  for (size_t i = 0; i < depth / 4; ++i) objects += "{\"a\":";
  CHECK(load_error(folder, file_bytes(objects)) != "");
}

// The results of Python's safetensors 0.8.0 for the same bytes.
TEST_CASE("headers are refused and accepted as by safetensors' own reader") {
  const TemporaryFolder folder;
  using namespace std::string_literals;
  const auto error = [&](const std::string& header,
                         const std::string& data = std::string(4, '\0')) {
    return load_error(folder, file_bytes(header, data));
  };
  const auto entry = [](const std::string& more) {
    return R"({"x":{"dtype":"U8","shape":[4],"data_offsets":[0,4])" + more + "}}";
  };
  const std::string plain = entry("");
  CHECK(contains(error(plain + "\0"s), "got a NUL at its byte " + std::to_string(plain.size())));
  CHECK(contains(error(plain + "\0,\"v\":{}"s), "got a NUL"));
  CHECK(error("\xef\xbb\xbf" + plain) != "");
  CHECK(error(plain + "x") != "");
  CHECK(error(plain + "\t\n\r ") == "");
  CHECK(error(" " + plain) == "");

  // Fields that are not part of the format.
  for (const std::string value : {"\"red\"", "1", "-1", "1.5", "null", "true", "[]", "{}",
                                  "{\"a\":[1,{\"dtype\":null}]}", "99999999999999999999999999"}) {
    CAPTURE(value);
    CHECK(error(entry(",\"more\":" + value)) == "");
  }
  CHECK(error(entry(R"(,"more":{"shape":[5]},"more":2)")) == "");
  CHECK(error(entry(",\"more\":" + std::string(100, '[') + std::string(100, ']'))) == "");
  CHECK(contains(error(entry(",\"more\":" + std::string(200, '[') + std::string(200, ']'))),
                 "levels"));
  CHECK(error(entry(",\"more\":1e999")) != "");
  CHECK(error(entry(",\"more\":01")) != "");
  CHECK(error(entry(",\"shape\":[4]")) != "");

  // The last of two tensors of one name counts. Tensors may be arrays, and dtypes objects.
  const std::string other = R"({"x":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},)";
  CHECK(error(other + plain.substr(1)) == "");
  CHECK(load(folder / "hostile.safetensors").size() == 1);
  CHECK(load(folder / "hostile.safetensors")[0].second.numel() == 4);
  CHECK(error(plain.substr(0, plain.size() - 1) + "," + other.substr(1, other.size() - 2) + "}") !=
        "");
  CHECK(error(R"({"x":["U8",[4],[0,4]]})") == "");
  CHECK(error(R"({"x":["U8",[2],[0,2]],"y":[{"U16":null},[1],[2,4]]})") == "");
  CHECK(load(folder / "hostile.safetensors")[1].second.dtype() == kUInt16);
  CHECK(error(R"({"x":{"dtype":{"U8":null},"shape":[4],"data_offsets":[0,4]}})") == "");
  for (const std::string bad :
       {R"([])", R"(["U8"])", R"(["U8",[4]])", R"(["U8",[4],[0,4],1])", R"(["U8",[4],[0,4],[]])",
        R"([[4],"U8",[0,4]])", R"(["U8",[4],[0,4],"U8"])", R"([{},[4],[0,4]])",
        R"([{"U8":1},[4],[0,4]])", R"([{"U8":null,"I8":null},[4],[0,4]])", R"([null,[4],[0,4]])",
        R"([{"U8":{}},[4],[0,4]])", R"([{"F9":null},[4],[0,4]])", R"(["U8",[[4]],[0,4]])"}) {
    CAPTURE(bad);
    CHECK(error("{\"x\":" + bad + "}") != "");
  }

  const auto with_metadata = [&](const std::string& value) {
    return error("{\"__metadata__\":" + value + "," + plain.substr(1));
  };
  CHECK(with_metadata("null") == "");
  CHECK(with_metadata("{\"a\":\"b\"}") == "");
  for (const std::string bad : {"{\"a\":null}", "{\"a\":1}", "[]", "\"s\"", "1", "true"}) {
    CHECK(with_metadata(bad) != "");
  }
}

TEST_CASE("dtypes that ambit does not have do not prevent reading the file's other tensors") {
  const TemporaryFolder folder;
  const std::pair<const char*, size_t> others[] = {
      {"F8_E4M3", 8},     {"F8_E5M2", 8}, {"F8_E8M0", 8}, {"F8_E4M3FNUZ", 8},
      {"F8_E5M2FNUZ", 8}, {"F4", 4},      {"F6_E2M3", 6}, {"F6_E3M2", 6}};
  for (const auto& [dtype, bits] : others) {
    CAPTURE(dtype);
    const size_t bytes = 4 * bits / 8;
    const auto header = [&](const char* shape) {
      return std::string(R"({"other":{"dtype":")") + dtype + R"(","shape":)" + shape +
             R"(,"data_offsets":[0,)" + std::to_string(bytes) +
             R"(]},"x":{"dtype":"U8","shape":[1],"data_offsets":[)" + std::to_string(bytes) + "," +
             std::to_string(bytes + 1) + "]}}";
    };
    const std::string data = std::string(bytes, '\xff') + "\7";
    const std::string path = folder.write("f.safetensors", file_bytes(header("[2,2]"), data));
    const StateDict dict = load(path);
    REQUIRE(dict.size() == 1);
    CHECK(dict[0].second.equal(tensor({7}, kUInt8)));
    CHECK(tensor_names(path) == std::vector<std::string>{"other", "x"});
    CHECK(load_tensor(path, "x").equal(tensor({7}, kUInt8)));
    CHECK_THROWS_WITH_AS(
        load_tensor(path, "other"),
        ("load_tensor: expected a dtype that ambit has of 'other' in '" + path + "', got " + dtype)
            .c_str(),
        DTypeError);
    CHECK(load_error(folder, file_bytes(header("[2,3]"), data)) != "");  // too few bytes
  }
  CHECK_THROWS_AS(load_tensor(folder.write("g.safetensors", file_bytes("{}")), "x"),
                  SerializationError);
  // Elements of half a byte.
  CHECK(contains(
      load_error(folder,
                 file_bytes(R"({"x":{"dtype":"F4","shape":[3],"data_offsets":[0,2]}})", "12")),
      "expected whole bytes"));
}
