// Transfers as MPI's non-blocking calls. MPI counts in int: what is larger goes in pieces.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <map>
#include <optional>
#include <utility>

#include <ambit/backend/plugin.h>

#include "runtime.h"
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

namespace ambit::distributed::mpi {
namespace {

constexpr int kPieceTag = 1;  // beside that of notes

// Elements of one call: $AMBIT_MPI_PIECE, for tests.
int64_t piece_size() {
  constexpr int64_t kMost = int64_t{1} << 30;
  const char* const text = std::getenv("AMBIT_MPI_PIECE");
  int64_t value = kMost;
  if (text) std::from_chars(text, text + std::strlen(text), value);
  return std::clamp<int64_t>(value, 1, kMost);
}

// Numbers of 16 bits and floating point are only moved.
MPI_Datatype type_of(DType dtype) {
  static const std::map<DType, MPI_Datatype> types{
      {kBool, MPI_C_BOOL},     {kUInt8, MPI_UINT8_T},  {kInt8, MPI_INT8_T},
      {kInt16, MPI_INT16_T},   {kInt32, MPI_INT32_T},  {kInt64, MPI_INT64_T},
      {kFloat32, MPI_FLOAT},   {kFloat64, MPI_DOUBLE}, {kFloat16, MPI_INT16_T},
      {kBFloat16, MPI_INT16_T}};
  return types.at(dtype);
}

MPI_Op op_of(ReduceOp op, DType dtype) {
  static const std::map<ReduceOp, std::pair<MPI_Op, MPI_Op>> ops{
      // of numbers, of bool
      {ReduceOp::SUM, {MPI_SUM, MPI_LOR}},    {ReduceOp::PRODUCT, {MPI_PROD, MPI_LAND}},
      {ReduceOp::MIN, {MPI_MIN, MPI_LAND}},   {ReduceOp::MAX, {MPI_MAX, MPI_LOR}},
      {ReduceOp::BAND, {MPI_BAND, MPI_LAND}}, {ReduceOp::BOR, {MPI_BOR, MPI_LOR}},
      {ReduceOp::BXOR, {MPI_BXOR, MPI_LXOR}}};
  return dtype == kBool ? ops.at(op).second : ops.at(op).first;
}

bool takes_cuda() {
#if defined(MPIX_CUDA_AWARE_SUPPORT)
  return MPIX_Query_cuda_support() == 1;
#else
  return false;
#endif
}

// Begins the calls of one operation.
class Starter {
 public:
  explicit Starter(Operation& o) : o_(o), t_(o.transfer), comm_(o.group->comm) {}
  void start();

 private:
  char* at(const void* base, int64_t element) const {
    return const_cast<char*>(static_cast<const char*>(base)) +
           element * static_cast<int64_t>(element_size(t_.dtype));
  }
  MPI_Request* next() { return &o_.requests.emplace_back(MPI_REQUEST_NULL); }
  void check(int code) const { mpi::check(code, name(t_.what)); }
  // f(first element, count) for each piece of the share; once for an empty one, which is a meeting
  // all the same.
  template <class F>
  void in_pieces(const F& f) const {
    int64_t first = 0;
    do {
      const auto n = static_cast<int>(std::min(piece_, t_.count - first));
      f(first, n);
      first += n;
    } while (first < t_.count);
  }
  void reduce_to(int root, const void* in, void* out);
  void exchange();

  Operation& o_;
  const Transfer& t_;
  const MPI_Comm comm_;
  const int64_t piece_ = piece_size();
  const MPI_Datatype type_ = type_of(t_.dtype);
  const MPI_Op op_ = op_of(t_.op, t_.dtype);
};

void Starter::reduce_to(int root, const void* in, void* out) {
  const bool is_root = o_.group->rank == root;
  in_pieces([&](int64_t first, int n) {
    const void* from = in == out && is_root ? MPI_IN_PLACE : at(in, first);
    check(
        MPI_Ireduce(from, is_root ? at(out, first) : nullptr, n, type_, op_, root, comm_, next()));
  });
}

// What moves shares that are too large for one call: each from rank to rank, piece by piece.
void Starter::exchange() {
  const MPI_Comm comm = o_.group->notes;
  const int me = o_.group->rank;
  for (int r = 0; r < o_.group->size; ++r) {
    const std::optional<Route> in = route(t_, r, me), out = route(t_, me, r);
    if (r == me) {
      if (in) {
        std::memcpy(at(t_.out, in->out), at(t_.in, in->in),
                    static_cast<size_t>(t_.count) * element_size(t_.dtype));
      }
      continue;
    }
    in_pieces([&](int64_t first, int n) {
      if (in) check(MPI_Irecv(at(t_.out, in->out + first), n, type_, r, kPieceTag, comm, next()));
      if (out) check(MPI_Isend(at(t_.in, out->in + first), n, type_, r, kPieceTag, comm, next()));
    });
  }
}

void Starter::start() {
  const int root = t_.peer, n = static_cast<int>(std::min<int64_t>(t_.count, INT_MAX));
  const bool is_large = t_.count * o_.group->size > piece_, is_root = o_.group->rank == root;
  switch (t_.what) {
    case Collective::broadcast:
      return in_pieces([&](int64_t first, int some) {
        check(MPI_Ibcast(at(t_.out, first), some, type_, root, comm_, next()));
      });
    case Collective::allreduce:
      return in_pieces([&](int64_t first, int some) {
        void* const all = at(t_.out, first);
        check(MPI_Iallreduce(MPI_IN_PLACE, all, some, type_, op_, comm_, next()));
      });
    case Collective::reduce:
      return reduce_to(root, t_.in, t_.out);
    case Collective::reduce_scatter:
      for (int r = 0; is_large && r < o_.group->size; ++r) {
        reduce_to(r, at(t_.in, r * t_.count), t_.out);
      }
      if (is_large) return;
      return check(MPI_Ireduce_scatter_block(t_.in, t_.out, n, type_, op_, comm_, next()));
    case Collective::allgather:
      if (is_large) return exchange();
      return check(MPI_Iallgather(t_.in, n, type_, t_.out, n, type_, comm_, next()));
    case Collective::alltoall:
      if (is_large) return exchange();
      return check(MPI_Ialltoall(t_.in, n, type_, t_.out, n, type_, comm_, next()));
    case Collective::gather: {
      if (is_large) return exchange();
      void* const all = is_root ? t_.out : nullptr;
      return check(MPI_Igather(t_.in, n, type_, all, n, type_, root, comm_, next()));
    }
    case Collective::scatter: {
      if (is_large) return exchange();
      const void* const all = is_root ? t_.in : nullptr;
      return check(MPI_Iscatter(all, n, type_, t_.out, n, type_, root, comm_, next()));
    }
    case Collective::barrier:
      return check(MPI_Ibarrier(comm_, next()));
    case Collective::send:
      return in_pieces([&](int64_t first, int some) {
        check(MPI_Isend(at(t_.in, first), some, type_, root, t_.tag, comm_, next()));
      });
    case Collective::recv:
      return in_pieces([&](int64_t first, int some) {
        check(MPI_Irecv(at(t_.out, first), some, type_, root, t_.tag, comm_, next()));
        o_.counts.push_back(some * static_cast<int64_t>(element_size(t_.dtype)));
      });
  }
}

class MpiRequest final : public Request {
 public:
  explicit MpiRequest(std::shared_ptr<Operation> o) : operation_(std::move(o)) {}
  bool wait(Milliseconds limit) override {
    const auto is_over = [&] { return operation_->is_done || !operation_->error.empty(); };
    if (!Runtime::of_process().drive(limit, is_over)) return false;
    if (!operation_->error.empty()) throw DistributedError(operation_->error);
    return true;
  }

 private:
  std::shared_ptr<Operation> operation_;
};

class MpiCommunicator final : public Communicator {
 public:
  MpiCommunicator(std::shared_ptr<Group> group, bool is_world)
      : group_(std::move(group)), is_world_(is_world) {}
  ~MpiCommunicator() override {
    if (is_world_) {
      runtime_.leave_world(runtime_.timeout);
      return;
    }
    const auto held = runtime_.lock();
    runtime_.leave(*group_);
  }
  int rank() const override { return group_->rank; }
  int size() const override { return group_->size; }
  bool takes(Device d, const Transfer&) const override {
    return d.is_cpu() || (d.is_cuda() && takes_cuda());
  }

  std::unique_ptr<Request> start(const Transfer& transfer) override {
    auto operation = std::make_shared<Operation>();
    operation->group = group_;
    operation->transfer = transfer;
    const auto held = runtime_.lock();
    if (!group_->failure.empty()) throw DistributedError(group_->failure);
    const bool is_between_two =
        transfer.what == Collective::send || transfer.what == Collective::recv;
    if (!is_between_two) operation->number = ++group_->begun;
    Starter(*operation).start();
    runtime_.begin(operation);
    return std::make_unique<MpiRequest>(std::move(operation));
  }

  std::vector<Absence> absent(uint64_t number, Milliseconds limit) override {
    const auto me = static_cast<size_t>(group_->rank);
    {
      const auto held = runtime_.lock();
      std::fill(group_->answered.begin(), group_->answered.end(), 0);
      group_->answered[me] = 1;
      group_->known[me] = group_->begun;
      runtime_.tell_all(*group_, Note::ask, number);
    }
    runtime_.drive(limit, [&] {
      for (size_t r = 0; r < group_->answered.size(); ++r) {
        if (!group_->answered[r] && !group_->has_left[r]) return false;
      }
      return true;
    });
    const auto held = runtime_.lock();
    std::vector<Absence> all;
    for (size_t r = 0; r < group_->known.size(); ++r) {
      const int rank = static_cast<int>(r);
      if (group_->has_left[r] && group_->known[r] < number) {
        all.push_back({rank, "has left the group"});
      } else if (!group_->answered[r] && !group_->has_left[r]) {
        all.push_back({rank, "does not answer"});
      } else if (group_->known[r] < number) {
        all.push_back({rank, fmt::format("has come to {} collectives", group_->known[r])});
      }
    }
    return all;
  }

  std::unique_ptr<Communicator> split(std::span<const int> ranks) override {
    const auto held = runtime_.lock();
    ++group_->begun;
    const auto me = std::find(ranks.begin(), ranks.end(), group_->rank);
    MPI_Comm part = MPI_COMM_NULL;
    check(MPI_Comm_split(group_->comm, me == ranks.end() ? MPI_UNDEFINED : 0,
                         static_cast<int>(me - ranks.begin()), &part),
          "MPI_Comm_split");
    if (part == MPI_COMM_NULL) return nullptr;
    return std::make_unique<MpiCommunicator>(runtime_.add_group(part), false);
  }

  void abort(const std::string& reason) noexcept override {
    try {
      {
        const auto held = runtime_.lock();
        runtime_.fail(*group_, reason);
      }
      runtime_.drive(Milliseconds(0), [] { return true; });
    } catch (...) {
      // MPI itself has failed: the launcher tells the others.
    }
  }

 private:
  Runtime& runtime_ = Runtime::of_process();
  std::shared_ptr<Group> group_;
  const bool is_world_;
};

std::unique_ptr<Communicator> make(const CommunicatorOptions& options) {
  Runtime& runtime = Runtime::of_process();
  runtime.timeout = options.timeout;
  std::shared_ptr<Group> world = runtime.world();
  if (!world) {
    throw DistributedError(
        "init_process_group: expected MPI once in a process, got it again after "
        "its end");
  }
  return std::make_unique<MpiCommunicator>(std::move(world), true);
}

void load(Registry& registry) {
  // Of what Open MPI has for reductions in place it takes the slowest unless told: half the speed
  // of MPI_Allreduce. It reads this when MPI begins.
  setenv("OMPI_MCA_coll_libnbc_iallreduce_algorithm", "rabenseifner", 0);
  char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(version, &length);
  registry.add_communicator("mpi", make, std::string(version, std::strcspn(version, ",\n")));
}

}  // namespace
}  // namespace ambit::distributed::mpi

AMBIT_PLUGIN(mpi, ambit::distributed::mpi::load)
