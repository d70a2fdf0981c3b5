// Compares every collective with a plain loop, for a group of threads or processes.
#pragma once

#include <ambit/ambit.h>
#include <ambit/distributed/process_group.h>
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <string>
#include <vector>

namespace collectives {

using namespace ambit;
using distributed::ProcessGroup;
using distributed::ReduceOp;

/// Return the contribution of rank `r`: small integers, for which all reductions are exact in every
/// dtype.
inline Tensor part(int r, int64_t n, DType dtype, int piece = 0) {
  Tensor t = (arange(n, kInt64) * (r + 2) + (r * 7 + piece * 3)).remainder(3) + 1;
  return dtype == kBool ? (t > 2) : t.to(dtype);
}

/// Return the same elements as a view with gaps.
inline Tensor with_gaps(const Tensor& t) {
  Tensor wide = zeros({t.numel(), 3}, t.options());
  wide.select(1, 1).copy_(t);
  return wide.select(1, 1);
}

inline double fold(ReduceOp op, DType dtype, double a, double b) {
  const auto i = static_cast<int64_t>(a), j = static_cast<int64_t>(b);
  const bool is_bool = dtype == kBool;
  switch (op) {
    case ReduceOp::PRODUCT:
      return a * b;
    case ReduceOp::MIN:
      return std::min(a, b);
    case ReduceOp::MAX:
      return std::max(a, b);
    case ReduceOp::BAND:
      return static_cast<double>(i & j);
    case ReduceOp::BOR:
      return static_cast<double>(i | j);
    case ReduceOp::BXOR:
      return static_cast<double>(i ^ j);
    default:
      return is_bool ? std::max(a, b) : a + b;
  }
}

/// Return the expected reduction over all ranks, by a plain loop over the elements.
inline Tensor reduced(ReduceOp op, int size, int64_t n, DType dtype, int piece = 0) {
  std::vector<double> all(static_cast<size_t>(n));
  for (int r = 0; r < size; ++r) {
    const Tensor t = part(r, n, dtype, piece).to(kFloat64);
    for (int64_t i = 0; i < n; ++i) {
      double& x = all[static_cast<size_t>(i)];
      x = r == 0 ? t.data_ptr<double>()[i] : fold(op, dtype, x, t.data_ptr<double>()[i]);
    }
  }
  Tensor result = empty({n}, TensorOptions(kFloat64));
  for (int64_t i = 0; i < n; ++i) {
    const double x = all[static_cast<size_t>(i)];
    result.data_ptr<double>()[i] = op == ReduceOp::AVG ? x / size : x;
  }
  return result.to(dtype);
}

inline void expect(const std::string& what, const Tensor& got, const Tensor& expected) {
  const Tensor host = got.cpu();
  const bool is_same = host.dtype() == expected.dtype() && host.sizes() == expected.sizes() &&
                       (expected.numel() == 0 || (host == expected).all().item<bool>());
  if (!is_same) throw Error(fmt::format("{}: expected another result", what));
}

/// Check all collectives with one dtype and size on one device, optionally with views.
inline void check(ProcessGroup& group, DType dtype, int64_t n, Device device, bool gaps) {
  const int rank = group.rank(), size = group.size();
  const auto at = [&](const Tensor& t) { return gaps ? with_gaps(t.to(device)) : t.to(device); };
  const auto blank = [&] { return at(zeros({n}, TensorOptions(dtype))); };
  const auto blanks = [&] {
    std::vector<Tensor> all;
    for (int r = 0; r < size; ++r) all.push_back(blank());
    return all;
  };
  const auto pieces = [&] {  // one tensor per rank
    std::vector<Tensor> all;
    for (int r = 0; r < size; ++r) all.push_back(at(part(rank, n, dtype, r)));
    return all;
  };
  std::vector<ReduceOp> ops{ReduceOp::SUM, ReduceOp::PRODUCT, ReduceOp::MIN, ReduceOp::MAX};
  if (is_floating_point(dtype)) {
    ops.push_back(ReduceOp::AVG);
  } else {
    ops.insert(ops.end(), {ReduceOp::BAND, ReduceOp::BOR, ReduceOp::BXOR});
  }
  for (const ReduceOp op : ops) {
    Tensor t = at(part(rank, n, dtype));
    const auto version = t.version();
    group.allreduce(t, op)->wait();
    expect(fmt::format("allreduce {}", name(op)), t, reduced(op, size, n, dtype));
    CHECK(t.version() > version);
    const int root = size - 1;
    t = at(part(rank, n, dtype));
    group.reduce(t, root, op)->wait();
    expect("reduce", t, rank == root ? reduced(op, size, n, dtype) : part(rank, n, dtype));
    t = blank();
    group.reduce_scatter(t, pieces(), op)->wait();
    expect("reduce_scatter", t, reduced(op, size, n, dtype, rank));
  }
  for (int root = 0; root < size; ++root) {
    Tensor t = at(part(rank, n, dtype));
    group.broadcast(t, root)->wait();
    expect("broadcast", t, part(root, n, dtype));
    auto out = rank == root ? blanks() : std::vector<Tensor>();
    group.gather(out, at(part(rank, n, dtype)), root)->wait();
    for (size_t r = 0; r < out.size(); ++r)
      expect("gather", out[r], part(static_cast<int>(r), n, dtype));
    t = blank();
    group.scatter(t, rank == root ? pieces() : std::vector<Tensor>(), root)->wait();
    expect("scatter", t, part(root, n, dtype, rank));
  }
  auto out = blanks();
  group.allgather(out, at(part(rank, n, dtype)))->wait();
  for (int r = 0; r < size; ++r)
    expect("allgather", out[static_cast<size_t>(r)], part(r, n, dtype));
  out = blanks();
  group.alltoall(out, pieces())->wait();
  for (int r = 0; r < size; ++r) {
    expect("alltoall", out[static_cast<size_t>(r)], part(r, n, dtype, rank));
  }
  if (size > 1) {  // in a ring, two messages at once with different tags
    const int next = (rank + 1) % size, before = (rank + size - 1) % size;
    const auto first = group.send(at(part(rank, n, dtype)), next, 3);
    const auto second = group.send(at(part(rank, n, dtype, 1)), next, 4);
    Tensor a = blank(), b = blank();
    group.recv(b, before, 4)->wait();
    group.recv(a, before, 3)->wait();
    expect("recv", a, part(before, n, dtype));
    expect("recv of the second tag", b, part(before, n, dtype, 1));
    first->wait();
    second->wait();
  }
  group.barrier()->wait();
}

/// Check reductions of unsigned numbers that no signed type of the same size holds: -1 - r and 1 +
/// r modulo 2^bits, of rank r. Sums wrap.
inline void check_unsigned(ProcessGroup& group) {
  const int64_t rank = group.rank(), n = group.size(), sum = n * (n - 1) / 2;
  for (const DType dtype : dtypes::kWideUnsigned) {
    INFO(ambit::name(dtype));
    const auto check_reduction = [&](ReduceOp op, int64_t first, int64_t second) {
      Tensor t = tensor({-1 - rank, 1 + rank}).to(dtype);
      group.allreduce(t, op)->wait();
      expect(fmt::format("allreduce {}", name(op)), t, tensor({first, second}).to(dtype));
    };
    check_reduction(ReduceOp::SUM, -n - sum, n + sum);
    check_reduction(ReduceOp::MAX, -1, n);
    check_reduction(ReduceOp::MIN, -n, 1);
  }
}

/// Check 64 MiB with each collective, with all elements distinct, within and between ranks.
inline void check_large(ProcessGroup& group) {
  const int rank = group.rank(), size = group.size(), root = size - 1;
  const int64_t n = int64_t{8} << 20;
  const Tensor places = arange(n, kInt64) * 32;
  // Return the data that `from` has for `to`.
  const auto whole = [&](int from) { return places + from; };
  const auto piece = [&](int from, int to) {
    return places.slice(0, 0, n / size) + (from * 5 + to);
  };
  const auto pieces_of = [&](int from) {
    std::vector<Tensor> all;
    for (int to = 0; to < size; ++to) all.push_back(piece(from, to));
    return all;
  };
  const auto blanks = [&] {
    std::vector<Tensor> all;
    for (int r = 0; r < size; ++r) all.push_back(zeros_like(piece(0, 0)));
    return all;
  };
  // Return the sums over all ranks.
  const int ranks_before = size * (size - 1) / 2;
  const Tensor sum = places * size + ranks_before;
  Tensor t = whole(rank);
  group.allreduce(t)->wait();
  expect("allreduce", t, sum);
  t = whole(rank);
  group.reduce(t, root)->wait();
  if (rank == root) expect("reduce", t, sum);
  t = whole(rank);
  group.broadcast(t, root)->wait();
  expect("broadcast", t, whole(root));
  t = zeros_like(piece(0, 0));
  group.reduce_scatter(t, pieces_of(rank))->wait();
  expect("reduce_scatter", t, sum.slice(0, 0, n / size) + (ranks_before * 4 + size * rank));
  group.scatter(t, rank == root ? pieces_of(root) : std::vector<Tensor>(), root)->wait();
  expect("scatter", t, piece(root, rank));
  const auto expect_all = [&](const char* what, const std::vector<Tensor>& got, int to) {
    for (size_t r = 0; r < got.size(); ++r) expect(what, got[r], piece(static_cast<int>(r), to));
  };
  std::vector<Tensor> out = blanks();
  group.alltoall(out, pieces_of(rank))->wait();
  expect_all("alltoall", out, rank);
  group.allgather(out, piece(rank, 1))->wait();
  expect_all("allgather", out, 1);
  if (rank != root) out.clear();
  group.gather(out, piece(rank, 2), root)->wait();
  expect_all("gather", out, 2);
  if (size == 1) return;
  const auto sent = group.send(whole(rank), (rank + 1) % size);
  group.recv(t = zeros_like(places), (rank + size - 1) % size)->wait();
  expect("recv", t, whole((rank + size - 1) % size));
  sent->wait();
}

/// Minimum and maximum are NaN if any rank has NaN.
inline void check_nan(ProcessGroup& group) {
  for (const DType dtype : {kFloat32, kFloat64, kFloat16, kBFloat16}) {
    for (const ReduceOp op : {ReduceOp::MIN, ReduceOp::MAX}) {
      Tensor t = ones({group.size()}, TensorOptions(dtype));
      t[group.rank()].fill_(NAN);
      group.allreduce(t, op)->wait();
      if (!isnan(t).all().item<bool>()) throw Error(fmt::format("{}: expected NaN", name(op)));
    }
  }
}

/// Run all checks for all dtypes, sizes and devices.
inline void check_all(ProcessGroup& group, const std::vector<Device>& devices) {
  for (const Device device : devices) {
    for (const DType dtype : dtypes::kEvery | dtypes::kWideUnsigned) {
      for (const int64_t n : {0, 1, 7, 1000}) {
        for (const bool gaps : {false, true}) {
          INFO(device.str() << " " << ambit::name(dtype) << " " << n << " " << gaps);
          check(group, dtype, n, device, gaps);
        }
      }
    }
  }
}

}  // namespace collectives
