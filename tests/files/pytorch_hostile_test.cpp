// PyTorch files that are broken or lie: either values or SerializationError, and never harm.
#include <ambit/checkpoint.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/shape.h>
#include <ambit/parallel.h>
#include <doctest/doctest.h>
#include <sys/stat.h>

#include <string>

#include "pickled_file.h"
#include "tests/temporary_folder.h"

using namespace ambit;

namespace {

// Load bytes as a file; return the error's text, empty where it loaded.
std::string load_error(const std::string& bytes) {
  static const TemporaryFolder folder;
  // Some file systems wait for the disk when a file is written over.
  std::filesystem::remove(folder / "hostile.pth");
  const std::string path = folder.write("hostile.pth", bytes);
  try {
    load_checkpoint(path);
  } catch (const SerializationError& e) {
    CHECK(std::string(e.what()).starts_with("load: cannot read '" + path + "': "));
    return e.what();
  }
  return "";
}

std::string pickle_error(const std::string& pickle) { return load_error(pytorch_bytes(pickle)); }

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string small_file() {
  const TemporaryFolder folder;
  save_checkpoint(Value::dict({{"weight", arange(3.)}, {"epoch", 3}, {"done", false}}),
                  folder / "f.pth");
  return read_bytes(folder / "f.pth");
}

std::string repeat(const std::string& what, size_t times) {
  std::string out;
  for (size_t i = 0; i < times; ++i) out += what;
  return out;
}

}  // namespace

TEST_CASE("a PyTorch file truncated anywhere is refused") {
  const std::string whole = small_file();
  for (size_t n = 0; n < whole.size(); ++n) {
    INFO(n);
    CHECK(load_error(whole.substr(0, n)) != "");
  }
  CHECK(load_error(whole) == "");
}

TEST_CASE("a flipped bit in a PyTorch file gives an error or a value, nothing else") {
  const std::string whole = small_file();
  size_t refused = 0;
  for (size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    std::string flipped = whole;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    refused += load_error(flipped) != "";
  }
  CHECK(refused > 0);
  std::string changed = whole;  // where only the CRC can tell: in a number of the storage, 1.0
  changed[whole.find(std::string("\0\0\x80\x3f", 4))] = 1;
  CHECK(contains(load_error(changed), "CRC error"));
}

// Those are read in parts, by several threads, and not by libzip.
TEST_CASE("of a large storage every bit is checked, and the file must hold all of it") {
  const int threads = get_num_threads();
  const Tensor large = arange(1'300'001, kInt32), small = arange(3.);
  const TemporaryFolder folder;
  save_checkpoint(Value::dict({{"small", small}, {"large", large}, {"again", large.slice(0, 5)}}),
                  folder / "f.pth");
  const std::string whole = read_bytes(folder / "f.pth");
  const std::string third{"\3\0\0\0\4\0\0\0\5\0\0\0", 12};
  const size_t begin = whole.find(third) - 12, size = large.nbytes();
  for (const int n : {1, 2, 3, 7}) {
    set_num_threads(n);
    const Value loaded = load_checkpoint(folder / "f.pth");
    CHECK(equal(loaded["large"].to_tensor(), large));
    CHECK(equal(loaded["again"].to_tensor(), large.slice(0, 5)));
    CHECK(equal(loaded["small"].to_tensor(), small));
    for (const size_t at : {size_t{0}, size / 3, size / 2, size - 1}) {
      std::string changed = whole;
      changed[begin + at] = static_cast<char>(changed[begin + at] ^ 0x10);
      CHECK(contains(load_error(changed), "'archive/data/1': CRC error"));
    }
    CHECK(load_error(whole.substr(0, begin + size / 2)) != "");
  }
  set_num_threads(threads);
}

// As torch.serialization.set_crc32_options(False) of PyTorch 2.15 has it: CRCs of 0.
TEST_CASE("a zip entry without a checksum is read, and one with a wrong checksum is not") {
  const Tensor large = arange(100'000.);
  const TemporaryFolder folder;
  save_checkpoint(Value::dict({{"large", large}, {"small", arange(3.)}}), folder / "f.pth");
  const std::string whole = read_bytes(folder / "f.pth");
  const auto with_crc = [&](const auto& change) {
    std::string bytes = whole;
    for (size_t at = 0; (at = bytes.find("PK", at)) != bytes.npos; ++at) {
      if (bytes.compare(at, 4, "PK\x03\x04") == 0) change(bytes, at + 14);
      if (bytes.compare(at, 4, "PK\x01\x02") == 0) change(bytes, at + 16);
    }
    return bytes;
  };
  const std::string none =
      with_crc([](std::string& b, size_t at) { b.replace(at, 4, std::string(4, '\0')); });
  REQUIRE(none != whole);
  const Value value = load_checkpoint(folder.write("none.pth", none));
  CHECK(value["large"].to_tensor().equal(large));
  CHECK(value["small"].to_tensor().equal(arange(3.)));
  const std::string wrong =
      with_crc([](std::string& b, size_t at) { b[at] = static_cast<char>(b[at] ^ 1); });
  CHECK(contains(load_error(wrong), "CRC error"));
}

TEST_CASE("a flipped bit in a pickle or a storage, with a CRC that fits, does no harm") {
  const std::string pickle = "}(" + pickled("w") +
                             pickled(PickledTensor{.numel = 2, .sizes = {2}, .strides = {1}}) +
                             pickled("n") + "](K\x01G" + std::string(8, '?') + "eu";
  REQUIRE(load_error(pytorch_bytes(pickle, {std::string(8, '\0')})) == "");
  size_t refused = 0;
  for (size_t bit = 0; bit < 8 * pickle.size(); ++bit) {
    std::string flipped = pickle;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    refused += load_error(pytorch_bytes(flipped, {std::string(8, '\0')})) != "";
  }
  CHECK(refused > 0);
}

TEST_CASE("a pickle truncated anywhere, or without anything, is refused") {
  const std::string pickle = "](K\x01" + pickled("text") + "N\x88" + pickled(7) + "e";
  REQUIRE(pickle_error(pickle) == "");
  for (size_t n = 0; n < pickle.size(); ++n) {
    INFO(n);
    const std::string part = "\x80\x02" + pickle.substr(0, n);
    CHECK(load_error(zip_bytes({{"x/data.pkl", part}})) != "");
  }
  CHECK(load_error(zip_bytes({{"x/data.pkl", ""}})) != "");
  CHECK(load_error(zip_bytes({{"x/data.pkl", "\x80\x02."}})) != "");
  CHECK(load_error(zip_bytes({{"x/data.pkl", "\x80\x02NN."}})) != "");
  CHECK(load_error(zip_bytes({{"x/data.pkl", "\x80\x02N.N"}})) != "");
  CHECK(load_error(zip_bytes({{"x/data.pkl", "\x80\x01N."}})) != "");
  CHECK(load_error(zip_bytes({{"x/data.pkl", "\x80\x06N."}})) != "");
  CHECK(contains(load_error(zip_bytes({{"x/data.txt", ""}})), "data.pkl"));
}

TEST_CASE("a pickle that calls a function is refused by the function's name") {
  const std::string command = "(" + pickled("touch /tmp/harm") + "tR";
  CHECK(contains(pickle_error(pickled_global("os", "system") + command), "'os.system'"));
  CHECK(contains(pickle_error(pickled_global("builtins", "eval") + command), "'builtins.eval'"));
  CHECK(contains(pickle_error(pickled_global("torch", "load") + command), "'torch.load'"));
  CHECK(contains(pickle_error(pickled("posix") + pickled("system") + "\x93" + command),
                 "'posix.system'"));
  CHECK(contains(pickle_error(pickled_global("__main__", "Tudui") + ")\x81"), "'__main__.Tudui'"));
  // Old opcodes and extensions that name or build objects.
  for (const std::string op : {"i__main__\nA\n", "(o", "\x82\x01", "P1\n", "I1\n", "L1L\n", "F1\n",
                               "S'x'\n", "Vx\n", "\x92", "\x97", "\x98", "0", "1", "2"}) {
    INFO(op);
    CHECK(contains(pickle_error(op), "expected opcodes of plain values, got 0x"));
  }
}

TEST_CASE("the few functions known take only what is theirs") {
  const std::string ordered = pickled_global("collections", "OrderedDict");
  const std::string rebuild = pickled_global("torch._utils", "_rebuild_tensor_v2");
  const std::string parameter = pickled_global("torch._utils", "_rebuild_parameter");
  const std::string storage = pickled_global("torch", "FloatStorage");
  for (const std::string& pickle : std::vector<std::string>{
           ordered,
           storage,
           rebuild,
           ordered + "NR",
           ordered + "(]tR",
           ordered + "}R",
           "NNR",
           ordered + ")R" + ")R",
           storage + ")R",
           rebuild + ")R",
           rebuild + "(NNNNNNtR",
           parameter + "(NNNtR",
           parameter + "(" + rebuild + "NNtR",
           pickled_global("torch", "Size") + "(NtR",
           "]" + ordered + "a",
           "}Nb",
           "]Nb",
           "NNb",
           "b",
           ordered + ")R" + "b",
           "NQ",
           ")Q",
           "(" + pickled("storage") + "NNNNtQ",
           "(" + pickled("storage") + storage + pickled("0") + pickled("cpu") + "K\x01tQ",
           "(" + storage + "t",
           "(" + storage + "t\x85"}) {
    INFO(pickle);
    CHECK(pickle_error(pickle) != "");
  }
  CHECK(pickle_error(ordered + ")R}b") == "");
}

TEST_CASE("a stack that is used wrongly is refused") {
  for (const std::string pickle :
       {"t",       "e",    "u",   "a",        "s",     "]a",    "}s",
        "}Ns",     "NNa",  "](N", "]Ne",      "}(Nu",  "](NNu", "}(NNe",
        "N(\x85",  "](t",  "((t", "N(q\x01t", "q\x01", "h\x01", "(h\x01t",
        "j\1\0\0", "\x94", "R",   "NR",       "\x87",  "N\x86", "]](Ne"}) {
    INFO(pickle);
    CHECK(pickle_error(pickle) != "");
  }
}

TEST_CASE("values that contain themselves are refused, and finished ones stay as they are") {
  CHECK(contains(pickle_error("]q\x01h\x01"
                              "a"),
                 "contain themselves"));
  CHECK(contains(pickle_error("]q\x01(]h\x01"
                              "ae"),
                 "contain themselves"));
  CHECK(contains(pickle_error("}q\x01(K\x01h\x01u"), "contain themselves"));
  CHECK(contains(pickle_error("]q\x01\x85h\x01h\x01"
                              "a"),
                 "expected a list or a dict to fill"));
  CHECK(pickle_error("](]q\x01h\x01h\x01"
                     "e") == "");
}

TEST_CASE("what is shared costs nothing, however often it is shared") {
  std::string pickle = "](" + pickled("x") + "q\x01";
  for (int level = 0; level < 45; ++level)
    pickle +=
        "](h\x01h\x01"
        "e\x85q\x01";  // 2^45 strings
  CHECK(pickle_error(pickle + "e") == "");
}

// If each torch.Size were a copy, these were 10^11 numbers.
TEST_CASE("torch.Size shares its tuple, and takes nothing else") {
  const std::string size = pickled_global("torch", "Size");
  const size_t numbers = 1'000'000, times = 100'000;
  const std::string shared = "(" + size + "q\x02(" + repeat("N", numbers) + "tq\x01\x85R";
  CHECK(pickle_error(shared + repeat("h\x02h\x01\x85R", times) + "t") == "");
  CHECK(contains(pickle_error(size + "]\x85R"), "a tuple in torch.Size"));
}

TEST_CASE("names in a file cannot reach the terminal, nor fill it") {
  const std::string clear_screen = "\x1b[2J\n";
  CHECK(contains(pickle_error(pickled(clear_screen) + pickled("f") + "\x93"), "'\\x1b[2J\\n.f'"));
  CHECK(contains(load_error(zip_bytes({{"x/data.pkl", "\x80\x02N."}, {clear_screen, ""}})),
                 "'\\x1b[2J\\n'"));
  CHECK(pickle_error("c" + std::string(1'000'000, 'A') + "\nf\n").size() < 2000);
}

TEST_CASE("nesting of half a million levels is refused, whatever it is made of") {
  const size_t depth = 500'000;
  CHECK(contains(pickle_error(repeat("]", depth) + repeat("a", depth - 1)), "levels"));
  CHECK(contains(pickle_error(")" + repeat("\x85", depth)), "levels"));
  CHECK(contains(pickle_error(repeat("}K\x01", depth) + "N" + repeat("s", depth)), "levels"));
  CHECK(pickle_error(repeat("(", depth) + repeat("t", depth)) != "");
  CHECK(pickle_error(repeat("]", depth)) != "");
  CHECK(pickle_error(repeat("(", depth)) != "");
  CHECK(pickle_error(repeat("]", Value::kMaxDepth) + repeat("a", Value::kMaxDepth - 1)) == "");
}

TEST_CASE("dicts take plain values and tuples as keys, each once") {
  CHECK(contains(pickle_error("}(]Nu"), "expected keys that are strings, numbers, None or tuples"));
  CHECK(contains(pickle_error("}(}Nu"), "got a dict"));
  CHECK(contains(pickle_error("}(NNNNu"), "None twice"));
  CHECK(contains(pickle_error("}(K\x01N\x88Nu"), "True twice"));  // 1 == True, as in Python
  CHECK(contains(pickle_error("}(K\x01NG\x3f\xf0" + std::string(6, '\0') + "Nu"), "1 twice"));
  CHECK(contains(pickle_error("}(K\x01NK\x01Nu"), "1 twice"));
  CHECK(contains(pickle_error("}(" + pickled("a") + "N" + pickled("a") + "Nu"), "'a' twice"));
}

TEST_CASE("text that is not UTF-8, and what is longer than the pickle, is refused") {
  CHECK(contains(pickle_error(pickled("\xff\xfe")), "UTF-8"));
  CHECK(pickle_error("\x8a\x09" + std::string(9, '\1')) == "");  // opaque
  for (const std::string op : {"\x8a\xff", "\x8b\xff\xff\xff\xff", "B\xff\xff\xff\xff", "C\xff",
                               "U\xff", "T\xff\xff\xff\xff"}) {
    CHECK(contains(pickle_error(op), "an end before"));
  }
  CHECK(contains(pickle_error("\x8e" + std::string(8, '\xff')), "an end before"));
  CHECK(contains(pickle_error("\x96" + std::string(8, '\xff')), "an end before"));
  CHECK(contains(pickle_error("X\xff\xff\xff\xff"), "an end before"));
  CHECK(contains(pickle_error("\x8d" + std::string(8, '\xff')), "an end before"));
}

TEST_CASE("tensors that reach out of their storage are refused") {
  const auto error = [](const PickledTensor& t) {
    return load_error(pytorch_bytes(pickled(t), {std::string(16, '\0')}));
  };
  const int64_t most = INT64_MAX, big = int64_t{1} << 32;
  CHECK(error({.numel = 4, .sizes = {2, 2}, .strides = {2, 1}}) == "");
  CHECK(error({.numel = 4, .offset = 4, .sizes = {0}, .strides = {1}}) == "");
  CHECK(error({.numel = 4, .sizes = {5}, .strides = {1}}) != "");
  CHECK(error({.numel = 4, .offset = 1, .sizes = {4}, .strides = {1}}) != "");
  CHECK(error({.numel = 4, .offset = -1, .sizes = {4}, .strides = {1}}) != "");
  CHECK(error({.numel = 4, .offset = most, .sizes = {4}, .strides = {1}}) != "");
  CHECK(error({.numel = 4, .offset = 5, .sizes = {0}, .strides = {1}}) != "");
  CHECK(error({.numel = 4, .sizes = {2, 2}, .strides = {3, 1}}) != "");
  CHECK(error({.numel = 4, .sizes = {2}, .strides = {most}}) != "");
  CHECK(error({.numel = 4, .sizes = {3, 3}, .strides = {most, most}}) != "");
  CHECK(error({.numel = 4, .offset = 3, .sizes = {2}, .strides = {-1}}) != "");
  CHECK(error({.numel = 4, .sizes = {-1}, .strides = {1}}) != "");
  CHECK(error({.numel = 4, .sizes = {2}, .strides = {1, 1}}) != "");
  CHECK(contains(error({.numel = 4, .sizes = {big, big}, .strides = {0, 0}}), "memory can hold"));
  CHECK(contains(error({.numel = 4, .sizes = {0, big, big}, .strides = {0, 0, 0}}), "can hold"));
  CHECK(contains(error({.numel = 4, .sizes = {most / 2}, .strides = {0}}), "can hold"));
  CHECK(error({.numel = 4,
               .sizes = std::vector<int64_t>(65, 1),
               .strides = std::vector<int64_t>(65, 1)}) != "");
}

TEST_CASE("storages that are not what the pickle says are refused") {
  const auto error = [](const PickledTensor& t, const std::string& bytes) {
    return load_error(pytorch_bytes(pickled(t), {bytes}));
  };
  const std::string four(4, '\0');
  CHECK(error({.numel = 1}, four) == "");
  CHECK(error({.numel = 2}, four) != "");
  CHECK(error({.numel = -1}, four) != "");
  CHECK(error({.numel = (int64_t{1} << 62) + 1}, four) != "");  // 4 bytes, if it wrapped
  CHECK(error({.numel = 1}, four + "x") != "");
  CHECK(error({.type = "DoubleStorage", .numel = 1}, four) != "");
  CHECK(error({.key = "1", .numel = 1}, four) != "");
  CHECK(error({.key = "../data/0", .numel = 1}, four) != "");
  CHECK(error({.key = "/etc/passwd", .numel = 1}, four) != "");
  CHECK(error({.type = "ComplexFloatStorage"}, four) == "");  // opaque, and not read
  CHECK(contains(error({.type = "StrangeStorage"}, four), "'torch.StrangeStorage'"));
  CHECK(contains(error({.type = "BoolStorage", .numel = 4, .sizes = {4}, .strides = {1}},
                       std::string("\0\1\2\1", 4)),
                 "bytes 0 and 1"));
  const std::string two = "(" + pickled(PickledTensor{.numel = 1}) +
                          pickled(PickledTensor{.type = "IntStorage", .numel = 1}) + "t";
  CHECK(contains(load_error(pytorch_bytes(two, {four})), "one type and size"));
}

TEST_CASE("zip bombs are refused before anything is unpacked") {
  const std::string pickle = std::string("\x80\x02N.");
  // Deflated to a thousandth, as it says.
  CHECK(contains(load_error(zip_bytes(
                     {{"x/data.pkl", pickle}, {"x/data/0", std::string(100, 'a'), 8, 1 << 30}})),
                 "compressed"));
  // Stored, and longer than the file.
  CHECK(load_error(zip_bytes({{"x/data.pkl", pickle, 0, 1 << 30}})) != "");
  // Many names for the same bytes.
  CHECK(load_error(zip_bytes({{"x/data.pkl", pickle}, {"x/data.pkl", pickle}})) != "");
}

TEST_CASE("a pickle longer than a pickle may be is not read") {
  const std::string long_one = "\x80\x02](" + std::string(1 << 24, 'N') + "e.";
  CHECK(contains(load_error(zip_bytes({{"x/data.pkl", long_one}})), "a data.pkl of at most"));
}

// Each of these took gigabytes and many seconds, for 16 MB.
TEST_CASE("a pickle full of small things is refused before it fills the memory") {
  constexpr size_t kRoom = (1 << 24) - 100;  // bytes
  const std::string ordered = pickled_global("collections", "OrderedDict") + "q\x01";
  for (const std::string& thing : std::vector<std::string>{
           "]", "}", ")", "N", "\x88", "N\x94", "N\x85", "\x8c\x01x", "(t", "K\x01", "](Ne",
           "h\x01)R", "\x8f", "(\x91", "C\x01x", "U\x01x", "\x8a\x09" + std::string(9, '\1')}) {
    INFO(thing);
    const std::string error = pickle_error(ordered + "](" + repeat(thing, kRoom / thing.size()));
    CHECK(contains(error, "expected plain values of together at most 268435456 bytes in memory"));
  }
}

TEST_CASE("what is too much to be read is not written, and what is written is read") {
  const TemporaryFolder folder;
  const std::string path = folder / "f.pth";
  const auto error = [&](size_t count, const Value& item) {
    try {
      save_checkpoint(Value::list(Value::List(count, item)), path);
    } catch (const SerializationError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  CHECK(error(4'000'000, 7) == "");
  CHECK(load_checkpoint(path).items().size() == 4'000'000);
  const std::string many = error(4'200'000, 7);
  CHECK_MESSAGE(contains(many, "save: cannot write '" + path + "': expected plain values"), many);
  CHECK(load_checkpoint(path).items().size() == 4'000'000);
}

TEST_CASE("entries with names that lead elsewhere are refused") {
  const std::string pickle = std::string("\x80\x02N.");
  for (const std::string name :
       {"../data/0", "x/../../etc/passwd", "/etc/passwd", "y/data/0", "data", "", "x/..", "x"}) {
    INFO(name);
    CHECK(load_error(zip_bytes({{"x/data.pkl", pickle}, {name, "data"}})) != "");
    CHECK(load_error(zip_bytes({{name, "data"}, {"x/data.pkl", pickle}})) != "");
  }
  CHECK(load_error(zip_bytes({{"/data.pkl", pickle}})) != "");
  CHECK(load_error(zip_bytes({{"data.pkl", pickle}})) != "");
}

TEST_CASE("files of other formats are refused with what they are") {
  const std::string old("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.", 15);
  CHECK(contains(load_error(old), "before PyTorch 1.6: expected a pickle that ends with STOP"));
  CHECK(contains(load_error("{}"), "expected a zip file"));
  CHECK(contains(load_error(""), "expected a zip file"));
  CHECK(contains(load_error("PK"), "sound zip file"));
  CHECK(contains(load_error(zip_bytes({{"x/data.pkl", "\x80\x02N."}, {"x/byteorder", "big"}})),
                 "got 'big'"));
  CHECK(load_error(zip_bytes({{"x/data.pkl", "\x80\x02N."}, {"x/byteorder", "little"}})) == "");
  CHECK_THROWS_AS(load_checkpoint("/dev/zero"), SerializationError);
  const TemporaryFolder folder;
  REQUIRE(::mkfifo((folder / "pipe.pth").c_str(), 0600) == 0);
  CHECK_THROWS_AS(load_checkpoint(folder / "pipe.pth"), SerializationError);
}
