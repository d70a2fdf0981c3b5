// Files that are broken or request too much, and parts that ambit does not have: typed errors that
// name the cause.
#include <ambit/error.h>
#include <ambit/random.h>

#include <map>
#include <random>

#include "graph_files.h"

using namespace ambit;

namespace {

using Parts = std::map<std::string, std::string>;

// The entries of a small file: a linear layer and relu.
const Parts& tiny() {
  static const Parts parts = [] {
    Parts all;
    const std::filesystem::path folder = graph_folder() / "tiny";
    for (const auto& file : std::filesystem::recursive_directory_iterator(folder)) {
      if (!file.is_regular_file()) continue;
      all[std::filesystem::relative(file.path(), folder).string()] =
          read_bytes(file.path().string());
    }
    return all;
  }();
  return parts;
}

constexpr const char* kModel = "models/model.json";
constexpr const char* kWeights = "data/weights/model_weights_config.json";

std::string file_of(const Parts& parts) {
  std::vector<ZipEntry> entries;
  for (const auto& [name, data] : parts) entries.push_back({"tiny/" + name, data});
  return zip_bytes(entries);
}

std::string error_of_bytes(const std::string& bytes) {
  static const TemporaryFolder folder;
  std::filesystem::remove(folder / "a.pt2");
  const std::string path = folder.write("a.pt2", bytes);
  try {
    const graph::Graph net = graph::load(path);
    net->dot();
    graph::save(net, folder / "b.pt2");
    CHECK(graph::load(folder / "b.pt2")->text() == net->text());
    net->train();  // rewrites the calls
    graph::save(net, folder / "b.pt2");
  } catch (const SerializationError& e) {
    const std::string text = e.what();
    if (text.starts_with("graph::save: ")) return text;
    const std::string begin = "graph::load: cannot read '" + path + "': ";
    CHECK(text.starts_with(begin));
    return text.substr(std::min(begin.size(), text.size()));
  } catch (const NotImplementedError& e) {
    return e.what();
  }
  return "";
}

std::string error_with(const std::string& part, const std::string& from, const std::string& to) {
  Parts parts = tiny();
  const size_t at = parts[part].find(from);
  REQUIRE(at != std::string::npos);
  parts[part].replace(at, from.size(), to);
  return error_of_bytes(file_of(parts));
}

bool contains(const std::string& text, const std::string& part) {
  INFO(text);
  const bool found = text.find(part) != std::string::npos;
  CHECK(found);
  return found;
}

}  // namespace

TEST_CASE("the parts of a small graph make a file that loads") {
  CHECK(error_of_bytes(file_of(tiny())).empty());
}

TEST_CASE("functions that ambit does not have are listed all at once with their calls") {
  Parts parts = tiny();
  std::string& model = parts[kModel];
  for (const char* name : {"linear", "relu"}) {
    const std::string target = std::string("torch.ops.aten.") + name + ".default";
    model.replace(model.find(target), target.size(), std::string("torch.ops.own.") + name + ".v2");
  }
  const std::string text = error_of_bytes(file_of(parts));
  contains(text, "got also torch.ops.own.linear.v2 (call 'linear'), torch.ops.own.relu.v2 (call ");
  contains(error_with(kModel, "{\"dtype\": 7", "{\"dtype\": 9"), "dtype complex32");
  contains(error_with(kModel, "\"name\": \"bias\"", "\"name\": \"basis\""),
           "the argument basis of linear.default");
}

TEST_CASE("the error for another kind of file names it and the remedy") {
  contains(error_of_bytes(""), "expected a .pt2 file");
  contains(error_of_bytes("version https://git-lfs.github.com/spec/v1\n"), "a Git LFS pointer");
  contains(error_of_bytes(zip_bytes({{"x/data.pkl", "a"}, {"x/constants.pkl", "b"}})),
           "got a TorchScript archive: export the module");
  contains(error_of_bytes(zip_bytes({{"x/serialized_exported_program.json", "{}"}})),
           "PyTorch 2.9 or newer, got an older one");
  contains(error_of_bytes(zip_bytes({{"x/y", "a"}})), "got another zip file");
  CHECK_THROWS_AS(graph::load("/nowhere/at/all.pt2"), SerializationError);
}

TEST_CASE("contradictions in a file are refused") {
  contains(error_with(kModel, "\"major\": 8", "\"major\": 9"), "expected version 8");
  contains(error_with(kModel, "\"nodes\"", "\"knots\""), "an object with 'nodes'");
  contains(error_with(kModel, "{", ""), "expected JSON");
  contains(error_with(kWeights, "weight_0", "weight_9"),
           "expected an entry 'data/weights/weight_9'");
  contains(error_with(kWeights, "\"0.weight\"", "\"1.weight\""), "the tensor '0.weight'");
  contains(error_with(kWeights, "\"dtype\": 7", "\"dtype\": 8"), "inside its 3 elements");
  contains(error_with(kWeights, "{\"as_int\": 3}", "{\"as_int\": 4}"), "inside its 6 elements");
  contains(error_with(kWeights, "{\"as_int\": 3}", "{\"as_int\": 4611686018427387904}"),
           "inside its 6 elements");
  contains(error_with(kWeights, "{\"as_int\": 3}", "{\"as_int\": -3}"), "inside its 6 elements");
  contains(error_with(kModel, "\"parameter_name\": \"0.weight\"", "\"parameter_name\": \"0\""),
           "the tensor '0'");
  // a name that is used before it is given
  contains(error_with(kModel,
                      "{\"name\": \"weight\", \"arg\": {\"as_tensor\": {\"name\": \"p_0_weight\"}}",
                      "{\"name\": \"weight\", \"arg\": {\"as_tensor\": {\"name\": \"relu\"}}"),
           "expected a value before its use, got 'relu'");
}

TEST_CASE("deep and long JSON is refused") {
  Parts parts = tiny();
  parts[kModel] = std::string(1'000'000, '[');
  contains(error_of_bytes(file_of(parts)), "at most 200 levels");
  parts[kModel] = "{\"a\": [" + std::string(36'000'000, '0') + "]}";
  CHECK_FALSE(error_of_bytes(file_of(parts)).empty());
}

TEST_CASE("damaged files give typed errors, and a graph that loads also prints and is saved") {
  std::mt19937 random(1);
  const std::string whole = file_of(tiny());
  for (size_t length = 0; length < whole.size(); length += 97) {
    CHECK_FALSE(error_of_bytes(whole.substr(0, length)).empty());
  }
  // Changes in the JSON for which the checksums are recomputed.
  for (int i = 0; i < 3000; ++i) {
    Parts parts = tiny();
    std::string& text = parts[i % 3 == 0 ? kWeights : kModel];
    const size_t at = random() % text.size();
    switch (i % 4) {
      case 0:
        text[at] = static_cast<char>(random());
        break;
      case 1:
        text.erase(at, random() % 40);
        break;
      case 2:
        text[at] = "0123456789\"{}[],:"[random() % 17];
        break;
      default:
        text.insert(at, text.substr(random() % text.size(), random() % 60));
    }
    error_of_bytes(file_of(parts));
  }
}
