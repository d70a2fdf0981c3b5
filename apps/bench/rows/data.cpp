// Data transfers: the loader, copies between devices, files.
#include <ambit/data/data.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/random.h>
#include <ambit/ops/reduce.h>
#include <ambit/random.h>
#include <ambit/serialize.h>
#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <utility>

#include "images/generated_images.h"
#include "op_works.h"
#include "rows.h"
#include "scratch_folder.h"

namespace bench {
namespace {

using namespace ambit;
using data::datasets::CIFAR10;

constexpr int64_t kImages = 10000, kBatch = 64;
constexpr double kFileBytes = 1 << 26;

auto make_loader(const CIFAR10& images) {
  auto dataset = images.map(data::transforms::Normalize<>({0.5, 0.5, 0.5}, {0.5, 0.5, 0.5}))
                     .map(data::transforms::Stack<>());
  return data::make_data_loader<data::samplers::SequentialSampler>(
      std::move(dataset), data::DataLoaderOptions().batch_size(kBatch).workers(2));
}

class Epoch final : public Work {
 public:
  Epoch() : loader_(make_loader(CIFAR10(images::generate_images(1, 0, kImages)))) {}
  void run() override {
    for (const auto& batch : *loader_) last_ = batch.data;
  }
  double result() override { return last_.sum().item<double>(); }

 private:
  decltype(make_loader(std::declval<CIFAR10>())) loader_;
  Tensor last_;
};

// Peers get the images' bytes as float32 [N,3,32,32]; parameters: the batch size, the number of
// workers.
Row loader_row() {
  Row row{"data_loader", "normalized", {kBatch, 2}};
  row.amount = kImages;
  row.unit = "images";
  row.inputs = [] {
    const CIFAR10 dataset(images::generate_images(1, 0, kImages));
    return Inputs{{"images", dataset.raw_images().to(kFloat32)}, {"target", dataset.targets()}};
  };
  row.make = [](const Inputs&, Device) { return std::make_unique<Epoch>(); };
  return row;
}

Row bytes_row(const char* what, const char* size) {
  Row row{what, size};
  row.cost.bytes = 2 * kFileBytes;  // every byte is read and written
  row.amount = kFileBytes * 1e-9;
  row.unit = "GB";
  row.inputs = [] {
    manual_seed(1);
    Inputs all;
    for (int i = 0; i < 16; ++i) all.push_back({std::to_string(i), rand({1 << 20})});
    return all;
  };
  return row;
}

class Copying final : public Work {
 public:
  Copying(const Inputs& inputs, Device from, Device to) : to_(to) {
    for (const Input& input : inputs) from_.push_back(input.value.to(from));
    copies_.resize(from_.size());
  }
  void run() override {
    for (size_t i = 0; i < from_.size(); ++i) {
      copies_[i].reset();
      copies_[i] = from_[i].to(to_, /*non_blocking=*/false, /*copy=*/true);
    }
    synchronize(to_);
  }
  double result() override { return copies_[0].sum().item<double>(); }

 private:
  Device to_;
  Tensors from_, copies_;
};

StateDict state_of(const Inputs& inputs, Device device) {
  StateDict state;
  for (const Input& input : inputs) state.emplace_back(input.name, input.value.to(device));
  return state;
}

class Saving final : public Work {
 public:
  Saving(const Inputs& inputs, Device device, const char* file)
      : state_(state_of(inputs, device)), file_(folder_.file(file)) {}
  void run() override { save(state_, file_); }
  double result() override { return load(file_)[0].second.sum().item<double>(); }

 private:
  ScratchFolder folder_;
  StateDict state_;
  std::string file_;
};

class Loading final : public Work {
 public:
  Loading(const Inputs& inputs, Device device, const char* file)
      : device_(device), file_(folder_.file(file)) {
    save(state_of(inputs, kCPU), file_);
  }
  void run() override {
    state_.clear();
    state_ = load(file_, device_);
    synchronize(device_);
  }
  double result() override { return state_[0].second.sum().item<double>(); }

 private:
  ScratchFolder folder_;
  Device device_;
  std::string file_;
  StateDict state_;
};

// The floor of files: the same bytes, written and read by the system's functions. A new file
// replaces the old one after fsync(), as when ambit saves a file.
class PlainFile : public Work {
 public:
  explicit PlainFile(const Inputs& inputs) : file_(folder_.file("plain")) {
    for (const Input& input : inputs) tensors_.push_back(input.value.clone());
    write();
  }
  double result() override { return tensors_[0].sum().item<double>(); }

 protected:
  void write() {
    const std::string next = file_ + ".new";
    const int fd = ::open(next.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    bool is_written = fd >= 0;
    for (const Tensor& t : tensors_) {
      const auto* data = static_cast<const char*>(t.data_ptr());
      for (size_t left = t.nbytes(); is_written && left > 0;) {
        const ssize_t n = ::write(fd, data, left);
        is_written = n > 0;
        if (!is_written) break;
        data += n;
        left -= static_cast<size_t>(n);
      }
    }
    is_written = is_written && ::fsync(fd) == 0;
    if (fd >= 0) ::close(fd);
    if (!is_written) throw Error("bench: expected to write " + next);
    std::filesystem::rename(next, file_);
  }
  void read() {
    std::ifstream in(file_, std::ios::binary);
    in.exceptions(std::ios::failbit | std::ios::badbit);
    for (Tensor& t : tensors_) {
      in.read(static_cast<char*>(t.data_ptr()), static_cast<std::streamsize>(t.nbytes()));
    }
  }

 private:
  ScratchFolder folder_;
  std::string file_;
  Tensors tensors_;
};

class PlainWriting final : public PlainFile {
 public:
  using PlainFile::PlainFile;
  void run() override { write(); }
};

class PlainReading final : public PlainFile {
 public:
  using PlainFile::PlainFile;
  void run() override { read(); }
};

// A network's weights: 20 of convolutions, and after each five small tensors.
Row weights_row(const char* what) {
  constexpr int64_t kLayers = 20, kWeight = 562'500, kSmall = 256;
  Row row{what, "45MB"};
  const double bytes = 4. * kLayers * (kWeight + 5 * kSmall);
  row.cost.bytes = 2 * bytes;
  row.amount = bytes * 1e-9;
  row.unit = "GB";
  row.inputs = [] {
    manual_seed(1);
    Inputs all;
    for (int64_t i = 0; i < 6 * kLayers; ++i) {
      all.push_back({std::to_string(i), rand({i % 6 == 0 ? kWeight : kSmall})});
    }
    return all;
  };
  return row;
}

template <class W, class Floor>
Row file_row(Row row, const char* file) {
  row.make = [file](const Inputs& in, Device device) {
    return std::make_unique<W>(in, device, file);
  };
  row.make_floor = [](const Inputs& in) { return std::make_unique<Floor>(in); };
  return row;
}

}  // namespace

std::vector<Row> data_rows() {
  Row to_device = bytes_row("to_device", "64MiB"), to_host = bytes_row("to_host", "64MiB");
  to_device.make = [](const Inputs& in, Device device) {
    return std::make_unique<Copying>(in, kCPU, device);
  };
  to_host.make = [](const Inputs& in, Device device) {
    return std::make_unique<Copying>(in, device, kCPU);
  };
  return {
      loader_row(),
      to_device,
      to_host,
      file_row<Saving, PlainWriting>(bytes_row("save_safetensors", "64MiB"), "all.safetensors"),
      file_row<Loading, PlainReading>(bytes_row("load_safetensors", "64MiB"), "all.safetensors"),
      file_row<Loading, PlainReading>(weights_row("load_safetensors"), "all.safetensors"),
      file_row<Saving, PlainWriting>(bytes_row("save_pth", "64MiB"), "all.pth"),
      file_row<Loading, PlainReading>(bytes_row("load_pth", "64MiB"), "all.pth"),
      file_row<Loading, PlainReading>(weights_row("load_pth"), "all.pth")};
}

}  // namespace bench
