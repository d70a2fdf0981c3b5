#include "zoo/shared/text.h"

#include <ambit/autograd.h>
#include <ambit/error.h>
#include <ambit/ops/arrange.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/index.h>
#include <ambit/ops/norm.h>
#include <ambit/ops/random.h>
#include <ambit/ops/shape.h>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <vector>

namespace zoo {
namespace {

namespace fs = std::filesystem;
using namespace ambit;

constexpr int64_t kLeastCharacters = 5000;

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(in), {}};
  if (!in.is_open() || in.bad()) {
    throw Error(fmt::format("--data: cannot read '{}'", path.string()));
  }
  return bytes;
}

std::string read_own_pages() {
  std::string all;
  for (const char* folder :
       {".", "core", "backends", "backends/cpu", "backends/cuda", "nn", "torch", "apps", "tests"}) {
    all += read(fs::path(AMBIT_SOURCES) / folder / "README.md");
  }
  return all;
}

// Return, for each of `starts` [B], the characters from start to start + length, and the characters
// one position later.
std::pair<Tensor, Tensor> pieces(const Tensor& ids, const Tensor& starts, int64_t length) {
  const Tensor at = starts.unsqueeze(1) + arange(length);
  return {ids.take(at), ids.take(at + 1)};
}

}  // namespace

Text::Text(const std::string& path)
    : source_(path.empty() ? "ambit's own README files" : fmt::format("'{}'", path)) {
  const std::string text = path.empty() ? read_own_pages() : read(path);
  if (std::ssize(text) < kLeastCharacters) {
    throw Error(fmt::format("--data: expected a text of at least {} characters in {}, got {}",
                            kLeastCharacters, source_, text.size()));
  }
  // Use signed char on all machines: char is unsigned on AArch64, so bytes from 0x80 on would be
  // sorted differently, and checkpoints from x86-64 would give other characters.
  const std::set<signed char> distinct(text.begin(), text.end());
  characters_.assign(distinct.begin(), distinct.end());
  const int64_t held_out = std::ssize(text) / 10;
  const auto parts = encode(text).split(std::vector{std::ssize(text) - held_out, held_out}, 0);
  train_ = parts[0];
  held_out_ = parts[1];
}

std::pair<Tensor, Tensor> Text::batch(int64_t size, int64_t length) const {
  return pieces(train_, randint(train_.size(0) - length, {size}, kInt64), length);
}

std::pair<Tensor, Tensor> Text::held_out(int64_t size, int64_t length) const {
  const int64_t there = (held_out_.size(0) - 1) / length;
  return pieces(held_out_, arange(std::min(size, there)) * length, length);
}

Tensor Text::encode(const std::string& text) const {
  std::vector<int64_t> ids;
  ids.reserve(text.size());
  for (const char c : text) {
    const size_t id = characters_.find(c);
    if (id == std::string::npos) {
      throw Error(fmt::format("expected characters of {}, got '{}'", source_, c));
    }
    ids.push_back(static_cast<int64_t>(id));
  }
  return tensor(ids);
}

std::string Text::decode(const Tensor& ids) const {
  const Tensor on_host = ids.cpu().contiguous();
  std::string text;
  for (int64_t i = 0; i < on_host.numel(); ++i) {
    text += characters_[static_cast<size_t>(on_host.data_ptr<int64_t>()[i])];
  }
  return text;
}

std::string write_on(const Text& text, const std::string& start, int64_t count, double temperature,
                     const std::function<Tensor(const Tensor&)>& logits) {
  const NoGradGuard no_grad;
  Tensor ids = text.encode(start).unsqueeze(0);
  for (int64_t i = 0; i < count; ++i) {
    const Tensor chances = softmax(logits(ids).cpu() / temperature, -1);
    ids = cat({ids, multinomial(chances, 1)}, 1);
  }
  return text.decode(ids);
}

}  // namespace zoo
