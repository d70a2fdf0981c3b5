// From tensors to transfers of contiguous memory, and back.
#include <ambit/autograd.h>
#include <ambit/backend/op.h>
#include <ambit/backend/registry.h>
#include <ambit/distributed/process_group.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <set>
#include <string_view>
#include <utility>

namespace ambit::distributed {
namespace {

double seconds(Milliseconds t) { return static_cast<double>(t.count()) / 1000; }

// The tensors of one side of a call, and the memory that stands for them.
struct Side {
  std::vector<Tensor> tensors;
  Tensor memory = {};  // contiguous, where the communicator takes it; undefined: there is none
  bool is_staged = false;
};

// Host memory that `device` copies fastest from and to.
Tensor host_memory(int64_t count, DType dtype, Device device) {
  const Tensor memory = empty({count}, TensorOptions(dtype));
  return device.is_cpu() || count == 0 ? memory : memory.pin_memory(device);
}

// `transfer`: its dtype is the memory's; another than the tensors' where these are too short to be
// summed.
void lay_out(Side& side, const Communicator& communicator, const Transfer& transfer, bool fill) {
  if (side.tensors.empty()) return;
  const Tensor& first = side.tensors[0];
  const Device device = first.device();
  const DType dtype = transfer.dtype;
  const int64_t count = transfer.count;
  const bool is_direct = communicator.takes(device, transfer);
  if (side.tensors.size() == 1 && first.is_contiguous() && is_direct && dtype == first.dtype()) {
    side.memory = first.detach();
    return;
  }
  side.is_staged = true;
  const int64_t all = count * static_cast<int64_t>(side.tensors.size());
  side.memory = is_direct ? empty({all}, TensorOptions(dtype).device(device))
                          : host_memory(all, dtype, device);
  for (size_t i = 0; fill && i < side.tensors.size(); ++i) {
    const Tensor& t = side.tensors[i];
    side.memory.narrow(0, static_cast<int64_t>(i) * count, count).view(t.sizes()).copy_(t);
  }
}

// Have what is queued on the memory be done; a communicator of a device comes behind it by itself.
void hand_over(const Tensor& memory, const Communicator& communicator) {
  if (!memory.defined() || memory.device().is_cpu() || !communicator.device().is_cpu()) return;
  backend_of(memory.device()).synchronize(memory.device().index());
}

// Bring the results to where they belong.
void bring_back(const Side& side, int64_t count) {
  const NoGradGuard no_grad;
  for (size_t i = 0; i < side.tensors.size(); ++i) {
    const Tensor t = side.tensors[i].detach();
    if (side.is_staged) {
      t.copy_(side.memory.narrow(0, static_cast<int64_t>(i) * count, count).view(t.sizes()));
    } else {
      t.bump_version();
    }
  }
}

}  // namespace

// What a collective was called with.
struct ProcessGroup::Call {
  Collective what;
  std::vector<Tensor> outs, ins;
  int peer = 0;
  ReduceOp op = ReduceOp::SUM;
  int tag = 0;

  bool is_between_two() const { return what == Collective::send || what == Collective::recv; }
  std::string text() const { return name(what); }
  const Tensor& any() const { return outs.empty() ? ins[0] : outs[0]; }
  bool is_empty() const { return outs.empty() && ins.empty(); }
  // Tensors expected on a rank: outputs, inputs.
  std::pair<size_t, size_t> counts(int rank, int size) const;
  void check(int rank, int size) const;
  void check_reduction() const;
  bool is_reduction() const {
    return what == Collective::allreduce || what == Collective::reduce ||
           what == Collective::reduce_scatter;
  }
};

void ProcessGroup::Call::check_reduction() const {
  const DType dtype = any().dtype();
  const bool is_bits = op == ReduceOp::BAND || op == ReduceOp::BOR || op == ReduceOp::BXOR;
  if (is_bits && ambit::is_floating_point(dtype)) {
    throw DTypeError(fmt::format("{}: expected integers or bool for {}, got {}", text(), name(op),
                                 ambit::name(dtype)));
  }
  if (op == ReduceOp::AVG && !ambit::is_floating_point(dtype)) {
    throw DTypeError(fmt::format("{}: expected a floating-point dtype for AVG, got {}", text(),
                                 ambit::name(dtype)));
  }
}

std::pair<size_t, size_t> ProcessGroup::Call::counts(int rank, int size) const {
  const auto all = static_cast<size_t>(size);
  const size_t of_root = rank == peer ? all : 0;
  switch (what) {
    case Collective::allgather:
      return {all, 1};
    case Collective::gather:
      return {of_root, 1};
    case Collective::scatter:
      return {1, of_root};
    case Collective::reduce_scatter:
      return {1, all};
    case Collective::alltoall:
      return {all, all};
    case Collective::send:
      return {0, 1};
    case Collective::barrier:
      return {0, 0};
    default:
      return {1, 0};
  }
}

void ProcessGroup::Call::check(int rank, int size) const {
  if (peer < 0 || peer >= size) {
    throw Error(fmt::format("{}: expected a rank below {}, got {}", text(), size, peer));
  }
  if (is_between_two() && peer == rank) {
    throw Error(fmt::format("{}: expected another rank than this, got {}", text(), peer));
  }
  if (const auto [out, in] = counts(rank, size); outs.size() != out || ins.size() != in) {
    throw Error(fmt::format("{}: expected {} outputs and {} inputs on rank {} of {}, got {} and {}",
                            text(), out, in, rank, size, outs.size(), ins.size()));
  }
  if (is_empty()) return;
  if (!any().defined()) throw Error(fmt::format("{}: expected a tensor, got none", text()));
  for (const auto* side : {&outs, &ins}) {
    for (const Tensor& t : *side) {
      if (!t.defined()) throw Error(fmt::format("{}: expected a tensor, got none", text()));
      check_devices(text().c_str(), {{"tensor", any()}, {"tensor", t}}, DeviceRule::in_place);
      if (t.device().is_meta()) {
        throw BackendError(
            fmt::format("{}: expected a tensor with memory, got one on meta", text()));
      }
      if (t.dtype() != any().dtype()) {
        throw DTypeError(fmt::format("{}: expected one dtype, got {} and {}", text(),
                                     ambit::name(any().dtype()), ambit::name(t.dtype())));
      }
      if (t.sizes() != any().sizes()) {
        throw ShapeError(fmt::format("{}: expected one size, got {} and {}", text(),
                                     str(any().sizes()), str(t.sizes())));
      }
    }
  }
  check_reduction();
}

ProcessGroup::ProcessGroup(std::shared_ptr<Communicator> communicator, Milliseconds timeout)
    : communicator_(std::move(communicator)), timeout_(timeout) {
  const char* const debug = std::getenv("AMBIT_DISTRIBUTED_DEBUG");
  compares_ = debug && std::string_view(debug) != "0" && *debug;
}

ProcessGroup::~ProcessGroup() = default;

void ProcessGroup::abort(const std::string& reason) noexcept { communicator_->abort(reason); }

// Have all ranks say what they were called with, before what differs could hang them.
void ProcessGroup::compare(const Call& call) {
  constexpr size_t kDims = 11, kWords = kDims + 5;
  std::array<int64_t, kWords> mine{static_cast<int64_t>(call.what), static_cast<int64_t>(call.op),
                                   call.peer, -1, 0};
  if (!call.is_empty()) {
    const IntArrayRef sizes = call.any().sizes();
    mine[3] = static_cast<int64_t>(call.any().dtype());
    mine[4] = static_cast<int64_t>(sizes.size());
    std::copy_n(sizes.begin(), std::min(sizes.size(), kDims), mine.begin() + 5);
  }
  const Tensor row = empty({static_cast<int64_t>(kWords)}, TensorOptions(kInt64));
  std::copy(mine.begin(), mine.end(), row.data_ptr<int64_t>());
  Call exchange{Collective::allgather, {}, {row.to(communicator_->device())}};
  for (int r = 0; r < size(); ++r) exchange.outs.push_back(empty_like(exchange.ins[0]));
  const WorkPtr work = begin(exchange);
  work->what_ = fmt::format("{} (comparing what the ranks were called with)", call.text());
  work->wait();
  const auto text = [&](int rank) {
    const Tensor theirs = exchange.outs[static_cast<size_t>(rank)].cpu();
    const int64_t* const w = theirs.data_ptr<int64_t>();
    const std::string what = name(static_cast<Collective>(w[0]));
    if (w[3] < 0) return what + "()";
    const int64_t* const end = w + 5 + std::min(static_cast<size_t>(w[4]), kDims);
    return fmt::format("{}({}[{}], {}, root {})", what, ambit::name(static_cast<DType>(w[3])),
                       fmt::join(w + 5, end, ", "), name(static_cast<ReduceOp>(w[1])), w[2]);
  };
  for (int r = 1; r < size(); ++r) {
    if (text(r) == text(0)) continue;
    const std::string reason =
        fmt::format("{}: expected the same call on all ranks, got {} on rank 0 and {} on rank {}",
                    call.text(), text(0), text(r), r);
    communicator_->abort(reason);
    throw DistributedError(reason);
  }
}

ProcessGroup::WorkPtr ProcessGroup::start(const Call& call) {
  call.check(rank(), size());
  const Device home = communicator_->device();
  if (!call.is_empty() && !home.is_cpu() && call.any().device() != home) {
    const Tensor& t = call.any();
    throw DeviceMismatchError(
        call.text(),
        {{"process group", "communicator", home, ""},
         {"tensor", ambit::name(t.dtype()) + str(t.sizes()), t.device(), t.name()}},
        0, 1);
  }
  // Of gather and scatter, ranks other than root have one side: what they compare is the size.
  if (compares_ && !call.is_between_two()) compare(call);
  return begin(call);
}

ProcessGroup::WorkPtr ProcessGroup::begin(const Call& call) {
  const NoGradGuard no_grad;
  struct Memory {
    Side out, in;
  };
  const auto memory = std::make_shared<Memory>();
  const bool is_in_place = call.ins.empty(), is_root = rank() == call.peer;
  const bool is_mean = call.op == ReduceOp::AVG;
  memory->out.tensors = call.outs;
  memory->in.tensors = call.ins;
  Transfer transfer{.what = call.what,
                    .op = is_mean ? ReduceOp::SUM : call.op,
                    .dtype = call.is_empty() ? kUInt8 : call.any().dtype(),
                    .count = call.is_empty() ? 0 : call.any().numel(),
                    .peer = call.peer,
                    .tag = call.tag,
                    .memory = memory};
  // As everywhere, numbers of 16 bits are summed in float32; devices of communicators do it.
  if (call.is_reduction() && is_reduced(transfer.dtype) && communicator_->device().is_cpu()) {
    transfer.dtype = kFloat32;
  }
  lay_out(memory->out, *communicator_, transfer,
          is_in_place && call.what != Collective::recv &&
              (call.what != Collective::broadcast || is_root));
  lay_out(memory->in, *communicator_, transfer, true);
  // What reduce leaves on the other ranks is nobody's business.
  if (call.what == Collective::reduce && !is_root && !memory->out.is_staged) {
    memory->out.memory = memory->out.memory.clone();
  }
  hand_over(memory->out.memory, *communicator_);
  hand_over(memory->in.memory, *communicator_);
  const auto address = [](const Side& side) {
    return side.memory.defined() ? side.memory.data_ptr() : nullptr;
  };
  transfer.in = address(is_in_place ? memory->out : memory->in);
  transfer.out = address(memory->out);
  const bool has_result = call.what != Collective::reduce || is_root;
  WorkPtr work(new Work);
  work->communicator_ = communicator_;
  work->what_ = call.text();
  if (call.is_between_two()) {
    work->peer_ = call.peer;
  } else {
    work->number_ = ++number_;
  }
  work->timeout_ = timeout_;
  if (has_result) {
    work->results_ = call.outs;
    work->finish_ = [memory, count = transfer.count, is_mean, size = size()] {
      if (is_mean && memory->out.memory.defined()) memory->out.memory.div_(size);
      bring_back(memory->out, count);
    };
  }
  work->request_ = communicator_->start(transfer);
  return work;
}

ProcessGroup::WorkPtr ProcessGroup::broadcast(const Tensor& tensor, int root) {
  return start({Collective::broadcast, {tensor}, {}, root});
}
ProcessGroup::WorkPtr ProcessGroup::allreduce(const Tensor& tensor, ReduceOp op) {
  return start({Collective::allreduce, {tensor}, {}, 0, op});
}
ProcessGroup::WorkPtr ProcessGroup::reduce(const Tensor& tensor, int root, ReduceOp op) {
  return start({Collective::reduce, {tensor}, {}, root, op});
}
ProcessGroup::WorkPtr ProcessGroup::allgather(const std::vector<Tensor>& outputs,
                                              const Tensor& input) {
  return start({Collective::allgather, outputs, {input}});
}
ProcessGroup::WorkPtr ProcessGroup::gather(const std::vector<Tensor>& outputs, const Tensor& input,
                                           int root) {
  return start({Collective::gather, outputs, {input}, root});
}
ProcessGroup::WorkPtr ProcessGroup::scatter(const Tensor& output, const std::vector<Tensor>& inputs,
                                            int root) {
  return start({Collective::scatter, {output}, inputs, root});
}
ProcessGroup::WorkPtr ProcessGroup::reduce_scatter(const Tensor& output,
                                                   const std::vector<Tensor>& inputs, ReduceOp op) {
  return start({Collective::reduce_scatter, {output}, inputs, 0, op});
}
ProcessGroup::WorkPtr ProcessGroup::alltoall(const std::vector<Tensor>& outputs,
                                             const std::vector<Tensor>& inputs) {
  return start({Collective::alltoall, outputs, inputs});
}
ProcessGroup::WorkPtr ProcessGroup::send(const Tensor& tensor, int destination, int tag) {
  return start({Collective::send, {}, {tensor}, destination, ReduceOp::SUM, tag});
}
ProcessGroup::WorkPtr ProcessGroup::recv(const Tensor& tensor, int source, int tag) {
  return start({Collective::recv, {tensor}, {}, source, ReduceOp::SUM, tag});
}
ProcessGroup::WorkPtr ProcessGroup::barrier() { return start({Collective::barrier, {}, {}}); }

std::shared_ptr<ProcessGroup> ProcessGroup::new_group(const std::vector<int>& ranks) {
  std::set<int> seen;
  for (const int r : ranks) {
    if (r < 0 || r >= size() || !seen.insert(r).second) {
      throw Error(fmt::format("new_group: expected different ranks below {}, got [{}]", size(),
                              fmt::join(ranks, ", ")));
    }
  }
  barrier()->wait();  // so that nobody waits for a rank that does not come
  ++number_;
  std::shared_ptr<Communicator> part = communicator_->split(ranks);
  return part ? std::make_shared<ProcessGroup>(std::move(part), timeout_) : nullptr;
}

Work::~Work() = default;

std::exception_ptr Work::exception() const {
  const std::lock_guard lock(mutex_);
  return error_;
}

// Return whether it has ended; the caller holds the lock. What failed is in error_.
bool Work::finish_within(Milliseconds limit) {
  if (error_ || !request_) return true;
  try {
    if (!request_->wait(limit)) return false;
    if (finish_) finish_();
  } catch (...) {
    error_ = std::current_exception();
  }
  request_.reset();
  finish_ = nullptr;
  return true;
}

bool Work::is_completed() {
  const std::lock_guard lock(mutex_);
  return finish_within(Milliseconds(0));
}

bool Work::wait(std::optional<Milliseconds> timeout) {
  const std::lock_guard lock(mutex_);
  const Milliseconds limit = timeout.value_or(timeout_);
  if (!finish_within(limit)) {
    std::string missing;
    if (peer_ >= 0) {
      missing = fmt::format("{}: expected rank {} to take part within {:g} s, got nothing of it",
                            what_, peer_, seconds(limit));
    } else {
      // Long enough for an answer, whatever the network; short beside any sensible timeout.
      const auto absent = communicator_->absent(number_, std::max(limit / 4, Milliseconds(500)));
      for (const Absence& a : absent) {
        missing += fmt::format("{}rank {} ({})", missing.empty() ? "" : ", ", a.rank, a.reason);
      }
      missing = fmt::format(
          "{}: expected all ranks in collective {} within {:g} s, {}{}", what_, number_,
          seconds(limit),
          missing.empty() ? "got no end of it, though none is known to be missing" : "got all but ",
          missing);
    }
    communicator_->abort(missing);
    error_ = std::make_exception_ptr(DistributedError(missing));
    request_.reset();
    finish_ = nullptr;
  }
  if (error_) std::rethrow_exception(error_);
  return true;
}

}  // namespace ambit::distributed
