// By CLI11. Mistakes are found here, before anything is loaded.
#include "training/options.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

namespace training {
namespace {

CLI::Validator at_least(double least) {
  const auto check = [least](const std::string& text) {
    double value = 0;
    if (CLI::detail::lexical_cast(text, value) && value >= least) return std::string();
    return fmt::format("expected a number of at least {}, got {}", least, text);
  };
  return CLI::Validator(check, "");
}

}  // namespace

std::string check_folder(const std::string& file) {
  std::filesystem::path folder = std::filesystem::path(file).parent_path();
  if (folder.empty()) folder = ".";
  if (::access(folder.c_str(), W_OK) == 0) return "";
  return fmt::format("cannot write into '{}': {}", folder.string(),
                     std::generic_category().message(errno));
}

void add_options(CLI::App& app, Options& o) {
  app.add_option("--device", o.device,
                 "cpu, cuda:0, ... (default: cuda:0 if there is one, else cpu)")
      ->type_name("NAME");
  app.add_option("--data", o.images.folder,
                 "folder that is or holds cifar-10-batches-bin, cifar-10-sample or mnist\n"
                 "(default: $AMBIT_DATA, else ./data)")
      ->type_name("DIR");
  app.add_flag("--download", o.images.download, "get CIFAR-10 (163 MB) into that folder first");
  app.add_option("--epochs", o.epochs, "times through the images")
      ->capture_default_str()
      ->check(at_least(0));
  app.add_option("--batch-size", o.batch_size, "images per step")
      ->capture_default_str()
      ->check(at_least(1));
  app.add_option("--lr", o.lr, "learning rate")->capture_default_str()->check(at_least(0));
  app.add_option("--seed", o.seed, "of weights, order and generated images")->capture_default_str();
  app.add_option("--limit", o.limit, "use only the first N images for training and for testing")
      ->check(at_least(1));
  app.add_option("--log-every", o.log_every, "mini-batches between two lines of loss")
      ->capture_default_str()
      ->check(at_least(1));
  app.add_option("--resume", o.resume, "go on from this checkpoint, with the same other options")
      ->type_name("FILE");
}

size_t count_used(const ambit::data::datasets::CIFAR10& images, const Options& options) {
  const size_t all = *images.size();
  return options.limit == 0 ? all : std::min(all, options.limit);
}

size_t count_steps(size_t size, const Options& options) {
  return size / options.batch_size + (size % options.batch_size != 0);
}

}  // namespace training
