#include "sampler_state.h"

#include <ambit/detail/memory_errors.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>

#include <fmt/format.h>

#include <algorithm>

namespace ambit::data::samplers {

void write_count(serialize::OutputArchive& archive, const std::string& key, size_t count) {
  archive.write(key, full({}, static_cast<int64_t>(count), TensorOptions(kInt64).device(kCPU)),
                /*is_buffer=*/true);
}

size_t read_count(serialize::InputArchive& archive, const std::string& key, size_t most) {
  Tensor count;
  archive.read(key, count, /*is_buffer=*/true);
  if (count.numel() != 1 || count.dtype() != kInt64) {
    throw SerializationError(fmt::format("load: expected one int64 as '{}', got {}{}", key,
                                         name(count.dtype()), str(count.sizes())));
  }
  const auto n = count.item<int64_t>();
  if (n < 0 || static_cast<uint64_t>(n) > most) {
    throw SerializationError(fmt::format("load: expected '{}' in [0, {}], got {}", key, most, n));
  }
  return static_cast<size_t>(n);
}

void write_words(serialize::OutputArchive& archive, const std::string& key,
                 const std::vector<uint64_t>& words) {
  const Tensor all =
      empty({static_cast<int64_t>(words.size())}, TensorOptions(kInt64).device(kCPU));
  std::copy(words.begin(), words.end(), all.data_ptr<int64_t>());
  archive.write(key, all, /*is_buffer=*/true);
}

std::vector<uint64_t> read_words(serialize::InputArchive& archive, const std::string& key,
                                 size_t count) {
  Tensor all;
  if (!archive.try_read(key, all, /*is_buffer=*/true)) return {};
  if (all.dim() != 1 || static_cast<size_t>(all.numel()) != count || all.dtype() != kInt64) {
    throw SerializationError(fmt::format("load: expected int64[{}] as '{}', got {}{}", count, key,
                                         name(all.dtype()), str(all.sizes())));
  }
  const Tensor words = all.to(kCPU).contiguous();
  const auto* const first = words.data_ptr<int64_t>();
  return {first, first + count};
}

std::vector<size_t> checked_order(const Tensor& order) {
  const Tensor positions = order.to(kCPU, kInt64).contiguous();
  const auto size = static_cast<size_t>(positions.numel());
  std::vector<bool> seen(size);
  std::vector<size_t> all;
  all.reserve(size);
  for (size_t i = 0; i < size; ++i) {
    const int64_t at = positions.data_ptr<int64_t>()[i];
    if (at < 0 || static_cast<size_t>(at) >= size || seen[static_cast<size_t>(at)]) {
      throw SerializationError(
          fmt::format("load: expected each position below {} once, got {}", size, at));
    }
    seen[static_cast<size_t>(at)] = true;
    all.push_back(static_cast<size_t>(at));
  }
  return all;
}

std::vector<size_t> allocate_order(const char* sampler, size_t n) {
  std::vector<size_t> positions;
  if (n > positions.max_size()) throw_out_of_host_memory(sampler);
  typed_memory_errors(sampler, [&] { positions.resize(n); });
  return positions;
}

}  // namespace ambit::data::samplers
