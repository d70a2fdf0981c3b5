#include <ambit/backend/registry.h>
#include <ambit/detail/packed_constants.h>

#include <algorithm>
#include <exception>
#include <utility>

namespace ambit {
namespace {

[[gnu::tls_model("initial-exec")]] constinit thread_local PackedConstants* current = nullptr;

}  // namespace

struct PackedConstants::Kept {
  explicit Kept(size_t n) : bytes(n), data(backend_of(kCPU).allocate(0, n)) {}
  ~Kept() { backend_of(kCPU).free(0, data, bytes); }
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;

  size_t bytes;
  void* data;
};

PackedConstants::PackedConstants() = default;
PackedConstants::~PackedConstants() = default;

void PackedConstants::reset(std::vector<const void*> constants) {
  forms_.clear();
  bytes_ = 0;
  constants_ = std::move(constants);
  std::sort(constants_.begin(), constants_.end());
}

PackedConstants::Scope::Scope(PackedConstants& constants)
    : before_(std::exchange(current, &constants)) {}
PackedConstants::Scope::~Scope() {
  // The kernel that threw may not have filled its form.
  if (std::uncaught_exceptions() > 0) current->reset(std::move(current->constants_));
  current = before_;
}

bool PackedConstants::keeps(const void* constant, size_t bytes) {
  if (!current || bytes == 0 || bytes > kMostBytes) return false;
  const std::vector<const void*>& all = current->constants_;
  return std::binary_search(all.begin(), all.end(), constant);
}

PackedConstants::Form PackedConstants::find(const void* constant, const Key& key, size_t bytes) {
  if (!keeps(constant, bytes)) return {};
  std::unique_ptr<Kept>& kept = current->forms_[{constant, key}];
  const bool is_new = !kept;
  if (is_new) {
    kept = std::make_unique<Kept>(bytes);
    current->bytes_ += bytes;
  }
  return {kept->data, is_new};
}

}  // namespace ambit
