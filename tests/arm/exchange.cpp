// Values that no architecture may change, in each format that ambit writes:
//   exchange write FOLDER   writes them
//   exchange check FOLDER   reads what another architecture wrote, and compares every byte
#include <ambit/ambit.h>
#include <fmt/format.h>

#include <cstring>
#include <exception>
#include <filesystem>
#include <iostream>
#include <limits>
#include <stdexcept>
#include <string>

using namespace ambit;

namespace {

constexpr DType kDTypes[] = {kBool,  kUInt8,    kInt8,    kInt16,   kInt32,
                             kInt64, kBFloat16, kFloat16, kFloat32, kFloat64};

/// Numbers at and beyond the ends of integers, subnormals, infinities, both zeros and NaN.
Tensor ends() {
  using Limits = std::numeric_limits<double>;
  return tensor({0.0,
                 -0.0,
                 0.5,
                 -0.5,
                 1.5,
                 -1.5,
                 127.5,
                 128.0,
                 -129.0,
                 255.9,
                 256.0,
                 -1.0,
                 32768.0,
                 -32769.0,
                 0x1p31,
                 -0x1p31 - 1,
                 0x1p63,
                 -0x1p63,
                 1e20,
                 -1e20,
                 0x1p-24,
                 0x1p-130,
                 0x1p-1060,
                 65519.0,
                 65520.0,
                 3.4e38,
                 3.5e38,
                 Limits::infinity(),
                 -Limits::infinity(),
                 Limits::quiet_NaN()},
                kFloat64);
}

/// Conversions between all dtypes: rounding, and integers out of range.
void add_conversions(StateDict& all) {
  const Tensor x = ends();
  for (const DType from : {kBFloat16, kFloat16, kFloat32, kFloat64}) {
    for (const DType to : kDTypes) {
      all.emplace_back(fmt::format("{} to {}", name(from), name(to)), x.to(from).to(to));
    }
  }
}

/// Philox's numbers as integers, masks, permutations and uniform floats.
void add_random_numbers(StateDict& all) {
  manual_seed(20);
  for (const DType dtype : {kUInt8, kInt8, kInt16, kInt32, kInt64}) {
    all.emplace_back(fmt::format("randint {}", name(dtype)), randint(0, 100, {1001}, dtype));
  }
  for (const DType dtype : {kBFloat16, kFloat16, kFloat32, kFloat64}) {
    all.emplace_back(fmt::format("rand {}", name(dtype)), rand({1001}, dtype));
    all.emplace_back(fmt::format("bernoulli {}", name(dtype)), bernoulli(full({1001}, 0.3, dtype)));
    all.emplace_back(fmt::format("dropout {}", name(dtype)),
                     nn::functional::dropout(ones({1001}, dtype), 0.25, true));
  }
  all.emplace_back("randperm", randperm(1001));
}

/// Integer arithmetic and order, with values that wrap.
void add_integers(StateDict& all) {
  for (const DType dtype : {kUInt8, kInt8, kInt16, kInt32, kInt64}) {
    const Tensor x = arange(-500, 501, kInt64).mul(0x0123456789abcdef).to(dtype);
    const Tensor y = arange(-500, 501, kInt64).remainder(7).add(1).to(dtype);
    const std::string of = std::string(name(dtype));
    all.emplace_back("mul " + of, x * x);
    all.emplace_back("floor_divide " + of, floor_divide(x, y));
    all.emplace_back("remainder " + of, remainder(x, y));
    all.emplace_back("cumsum " + of, cumsum(x, 0));
    all.emplace_back("sort " + of, std::get<0>(sort(x)));
    all.emplace_back("argsort " + of, argsort(x));
  }
}

StateDict values() {
  StateDict all;
  add_conversions(all);
  add_random_numbers(all);
  add_integers(all);
  manual_seed(21);
  const nn::Linear layer(17, 19);
  for (const auto& [key, parameter] : layer->state_dict()) {
    all.emplace_back("linear " + key, parameter.clone());
  }
  return all;
}

serialize::OutputArchive archive_of(const StateDict& all) {
  serialize::OutputArchive archive;
  for (size_t i = 0; i < all.size(); ++i) archive.write(std::to_string(i), all[i].second);
  return archive;
}

void write(const std::string& folder) {
  const StateDict all = values();
  save(all, folder + "/values.safetensors", {{"written", "by exchange"}});
  save(all, folder + "/values.pth");
  archive_of(all).save_to(folder + "/values.archive");
}

void compare(const std::string& where, const Tensor& read, const Tensor& expected) {
  if (read.dtype() == expected.dtype() && read.sizes() == expected.sizes() &&
      std::memcmp(read.data_ptr(), expected.data_ptr(), expected.nbytes()) == 0) {
    return;
  }
  throw std::runtime_error(
      fmt::format("{}: expected the bytes of this architecture, got others", where));
}

void check(const std::string& folder) {
  const StateDict all = values();
  for (const std::string file : {"values.safetensors", "values.pth"}) {
    const StateDict read = load(folder + "/" + file);
    if (read.size() != all.size()) throw std::runtime_error(file + ": a tensor is missing");
    for (const auto& [key, expected] : all) {
      for (const auto& [read_key, tensor] : read) {
        if (read_key == key) compare(file + ": " + key, tensor, expected);
      }
    }
  }
  serialize::InputArchive archive;
  archive.load_from(folder + "/values.archive");
  for (size_t i = 0; i < all.size(); ++i) {
    Tensor read;
    archive.read(std::to_string(i), read);
    compare("values.archive: " + all[i].first, read, all[i].second);
  }
  std::cout << fmt::format("{} tensors in 3 files are equal\n", all.size());
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string command = argc == 3 ? argv[1] : "";
  if (command == "write") {
    write(argv[2]);
  } else if (command == "check") {
    check(argv[2]);
  } else {
    std::cerr << "exchange write|check FOLDER\n";
    return 2;
  }
} catch (const std::exception& e) {
  std::cerr << "exchange: " << e.what() << '\n';
  return 1;
}
