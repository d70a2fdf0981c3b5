// Broken and hostile pickles in PyTorch's files give values or a SerializationError, without harm.
#include <ambit/checkpoint.h>
#include <ambit/error.h>
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "load_error.h"
#include "pickled_file.h"
#include "tests/temporary_folder.h"

using namespace ambit;

namespace {

std::string repeat(const std::string& what, size_t times) {
  std::string out;
  for (size_t i = 0; i < times; ++i) out += what;
  return out;
}

}  // namespace

TEST_CASE("a flipped bit in a pickle or a storage, with the correct CRC, does no harm") {
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

TEST_CASE("a truncated or empty pickle is refused") {
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

TEST_CASE("a pickle that calls a function is refused with the function's name") {
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

TEST_CASE("the known functions accept only their own arguments") {
  const std::string ordered = pickled_global("collections", "OrderedDict");
  const std::string rebuild = pickled_global("torch._utils", "_rebuild_tensor_v2");
  const std::string parameter = pickled_global("torch._utils", "_rebuild_parameter");
  const std::string storage = pickled_global("torch", "FloatStorage");
  for (const std::string& pickle : std::vector<std::string>{
           ordered + "NR",
           ordered + "(NtR",
           ordered + "(]NatR",
           ordered + "(]](NNNeatR",
           ordered + "(]]tR",
           ordered + "}R",
           "NNR",
           ordered + ")R" + ")R",
           storage + ")R",
           rebuild + ")R",
           rebuild + "(NNNNNNtR",
           parameter + "(NNNtR",
           parameter + "(" + rebuild + "NNtR",
           pickled_global("torch", "Size") + "(NtR",
           "}Nb",
           "]Nb",
           "NNb",
           "b",
           ordered + ")R" + "b",
           "NQ",
           ")Q",
           "(" + pickled("storage") + "NNNNtQ",
           "(" + pickled("storage") + storage + pickled("0") + pickled("cpu") + "K\x01tQ",
           "(" + storage + "tR"}) {
    INFO(pickle);
    CHECK(pickle_error(pickle) != "");
  }
  CHECK(pickle_error(ordered + ")R}b") == "");
}

TEST_CASE("invalid use of the stack is refused") {
  for (const std::string pickle :
       {"t",       "e",    "u",   "a",        "s",     "]a",    "}s",
        "}Ns",     "NNa",  "](N", "]Ne",      "}(Nu",  "](NNu", "}(NNe",
        "N(\x85",  "](t",  "((t", "N(q\x01t", "q\x01", "h\x01", "(h\x01t",
        "j\1\0\0", "\x94", "R",   "NR",       "\x87",  "N\x86", "]](Ne"}) {
    INFO(pickle);
    CHECK(pickle_error(pickle) != "");
  }
}

// torch.load(weights_only=True) reads them. opaque_test.cpp tests their values.
TEST_CASE("values that contain themselves are read, and complete ones do not change") {
  CHECK(pickle_error("]q\x01h\x01"
                     "a") == "");
  CHECK(pickle_error("]q\x01(]h\x01"
                     "ae") == "");
  CHECK(pickle_error("}q\x01(K\x01h\x01u") == "");
  // Lists nested in 200,000 levels, and a list that contains itself 200,000 or 600,000 times.
  CHECK(contains(pickle_error(repeat("]\x94(", 200'000) + repeat("h\x01"
                                                                 "e",
                                                                 200'000)),
                 "levels"));
  CHECK(pickle_error("]q\x01(" + repeat("h\x01", 200'000) + "e") == "");
  CHECK(contains(pickle_error("]q\x01(" + repeat("h\x01", 600'000) + "e"), "bytes in memory"));
  CHECK(contains(pickle_error("]q\x01\x85h\x01h\x01"
                              "a"),
                 "expected a list or a dict to fill"));
  CHECK(pickle_error("](]q\x01h\x01h\x01"
                     "e") == "");
}

TEST_CASE("shared values cost nothing, however often they are shared") {
  std::string pickle = "](" + pickled("x") + "q\x01";
  for (int level = 0; level < 45; ++level)
    pickle +=
        "](h\x01h\x01"
        "e\x85q\x01";  // 2^45 strings
  CHECK(pickle_error(pickle + "e") == "");
}

// If each torch.Size were a copy, these would be 10^11 numbers.
TEST_CASE("torch.Size shares its tuple, and accepts nothing else") {
  const std::string size = pickled_global("torch", "Size");
  const size_t numbers = 1'000'000, times = 100'000;
  const std::string shared = "(" + size + "q\x02(" + repeat("N", numbers) + "tq\x01\x85R";
  CHECK(pickle_error(shared + repeat("h\x02h\x01\x85R", times) + "t") == "");
  CHECK(contains(pickle_error(size + "}\x85R"), "a tuple or a list in torch.Size"));
}

TEST_CASE("names in a file have no effect on a terminal, and are shortened") {
  const std::string clear_screen = "\x1b[2J\n";
  CHECK(contains(pickle_error(pickled(clear_screen) + pickled("f") + "\x93"), "'\\x1b[2J\\n.f'"));
  CHECK(contains(load_error(zip_bytes({{"x/data.pkl", "\x80\x02N."}, {clear_screen, ""}})),
                 "'\\x1b[2J\\n'"));
  CHECK(pickle_error("c" + std::string(1'000'000, 'A') + "\nf\n").size() < 2000);
}

TEST_CASE("nesting of half a million levels is refused, for any values") {
  const size_t depth = 500'000;
  CHECK(contains(pickle_error(repeat("]", depth) + repeat("a", depth - 1)), "levels"));
  CHECK(contains(pickle_error(")" + repeat("\x85", depth)), "levels"));
  CHECK(contains(pickle_error(repeat("}K\x01", depth) + "N" + repeat("s", depth)), "levels"));
  CHECK(pickle_error(repeat("(", depth) + repeat("t", depth)) != "");
  CHECK(pickle_error(repeat("]", depth)) != "");
  CHECK(pickle_error(repeat("(", depth)) != "");
  CHECK(pickle_error(repeat("]", Value::kMaxDepth) + repeat("a", Value::kMaxDepth - 1)) == "");
}

TEST_CASE("dicts accept plain values and tuples as keys, each once") {
  CHECK(contains(pickle_error("}(]Nu"), "expected keys that are strings, numbers, None or tuples"));
  CHECK(contains(pickle_error("}(}Nu"), "got a dict"));
  CHECK(contains(pickle_error("}(NNNNu"), "None twice"));
  CHECK(contains(pickle_error("}(K\x01N\x88Nu"), "True twice"));  // 1 == True, as in Python
  CHECK(contains(pickle_error("}(K\x01NG\x3f\xf0" + std::string(6, '\0') + "Nu"), "1 twice"));
  CHECK(contains(pickle_error("}(K\x01NK\x01Nu"), "1 twice"));
  CHECK(contains(pickle_error("}(" + pickled("a") + "N" + pickled("a") + "Nu"), "'a' twice"));
}

TEST_CASE("text that is not UTF-8, and strings longer than the pickle, are refused") {
  CHECK(contains(pickle_error(pickled("\xff\xfe")), "UTF-8"));
  CHECK(contains(pickle_error(pickled("\xed\xa0")), "UTF-8"));
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

TEST_CASE("a pickle above the size limit is not read") {
  const std::string long_one = "\x80\x02](" + std::string(1 << 24, 'N') + "e.";
  CHECK(contains(load_error(zip_bytes({{"x/data.pkl", long_one}})), "a data.pkl of at most"));
}

// Each of these needed gigabytes and many seconds, for 16 MB.
TEST_CASE("a pickle of many small values is refused before it fills the memory") {
  constexpr size_t kRoom = (1 << 24) - 100;  // bytes
  const std::string ordered = pickled_global("collections", "OrderedDict") + "q\x01" +
                              pickled_global("numpy", "dtype") + "q\x02";
  for (const std::string& thing : std::vector<std::string>{
           "]", "}", ")", "N", "\x88", "N\x94", "N\x85", "\x8c\x01x", "(t", "K\x01", "](Ne",
           "h\x01)R", "\x8f", "(\x91", "C\x01x", "U\x01x", "U\x01\xff",
           "\x8a\x09" + std::string(9, '\1'), "h\x02(" + pickled("f4") + "NNtR"}) {
    INFO(thing);
    const std::string error = pickle_error(ordered + "](" + repeat(thing, kRoom / thing.size()));
    CHECK(contains(error, "expected plain values of together at most 268435456 bytes in memory"));
  }
}

TEST_CASE("two pickles in one file share the memory limit of one") {
  const std::string many = "\x80\x02(" + repeat("K\x01", 720'000) + "t.";
  CHECK(load_error(zip_bytes({{"x/data.pkl", many}})) == "");
  CHECK(load_error(zip_bytes({{"x/data.pkl", "\x80\x02}."}, {"x/constants.pkl", many}})) == "");
  const std::string dict = "\x80\x02}K\x01(" + repeat("K\x01", 720'000) + "ts.";
  CHECK(contains(load_error(zip_bytes({{"x/data.pkl", dict}, {"x/constants.pkl", many}})),
                 "expected plain values of together at most 268435456 bytes in memory"));
}

TEST_CASE("values that are too large to be read are not written, and written values are read") {
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
