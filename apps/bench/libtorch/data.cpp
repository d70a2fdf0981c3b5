// DataLoader, copies and files.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "works.h"

namespace bench::libtorch {
namespace {

namespace data = torch::data;

// Images in memory as bytes, as in ambit's datasets.
class ByteImages : public data::datasets::Dataset<ByteImages> {
 public:
  ByteImages(torch::Tensor images, torch::Tensor targets)
      : images_(std::move(images)), targets_(std::move(targets)) {}
  data::Example<> get(size_t i) override {
    const auto index = static_cast<int64_t>(i);
    return {images_[index].to(torch::kFloat32).div_(255), targets_[index]};
  }
  torch::optional<size_t> size() const override { return static_cast<size_t>(images_.size(0)); }

 private:
  torch::Tensor images_, targets_;
};

auto make_loader(const Specification& s) {
  auto dataset = ByteImages(borrow(s.operands[0]).to(torch::kUInt8), borrow(s.operands[1]))
                     .map(data::transforms::Normalize<>({0.5, 0.5, 0.5}, {0.5, 0.5, 0.5}))
                     .map(data::transforms::Stack<>());
  return data::make_data_loader<data::samplers::SequentialSampler>(
      std::move(dataset), data::DataLoaderOptions()
                              .batch_size(static_cast<size_t>(s.parameters[0]))
                              .workers(static_cast<size_t>(s.parameters[1])));
}

class Epoch final : public Work {
 public:
  explicit Epoch(const Specification& s) : loader_(make_loader(s)) {}
  void run() override {
    for (auto& batch : *loader_) last_ = batch.data;
  }
  double result() override { return last_.sum().item<double>(); }

 private:
  decltype(make_loader(std::declval<Specification>())) loader_;
  torch::Tensor last_;
};

class Copying final : public Work {
 public:
  explicit Copying(const Specification& s) : copies_(s.operands.size()) {
    for (const Operand& operand : s.operands) from_.push_back(borrow(operand));
  }
  void run() override {
    for (size_t i = 0; i < from_.size(); ++i) {
      copies_[i].reset();
      copies_[i] = from_[i].to(torch::kCPU, torch::kFloat32, /*non_blocking=*/false, /*copy=*/true);
    }
  }
  double result() override { return copies_[0].sum().item<double>(); }

 private:
  std::vector<torch::Tensor> from_, copies_;
};

// A list of tensors in a file, in the same folder as ambit's.
class File : public Work {
 public:
  explicit File(const Specification& s) {
    for (const Operand& operand : s.operands) tensors_.push_back(borrow(operand).clone());
    const char* const asked = std::getenv("AMBIT_BENCH_FOLDER");
    const bool memory = std::filesystem::is_directory("/dev/shm");
    const std::filesystem::path folder = asked    ? asked
                                         : memory ? "/dev/shm"
                                                  : std::filesystem::temp_directory_path();
    path_ = (folder / ("ambit_bench_" + std::to_string(getpid()) + ".pt")).string();
    torch::save(tensors_, path_);
  }
  ~File() override { unlink(path_.c_str()); }
  double result() override { return tensors_[0].sum().item<double>(); }

 protected:
  std::vector<torch::Tensor> tensors_;
  std::string path_;
};

class Saving final : public File {
 public:
  using File::File;
  void run() override { torch::save(tensors_, path_); }
};

class Loading final : public File {
 public:
  using File::File;
  void run() override {
    tensors_.clear();
    torch::load(tensors_, path_);
  }
};

}  // namespace

std::unique_ptr<Work> make_data(const Specification& s) {
  if (s.what == "data_loader") return std::make_unique<Epoch>(s);
  // Without another device, copies to and from it are the same.
  if (s.what == "to_device" || s.what == "to_host") return std::make_unique<Copying>(s);
  if (s.what == "save_pth") return std::make_unique<Saving>(s);
  if (s.what == "load_pth") return std::make_unique<Loading>(s);
  return nullptr;
}

}  // namespace bench::libtorch
