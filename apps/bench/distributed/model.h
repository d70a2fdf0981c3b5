// Predicts the time of a step on more ranks, from measurements of one rank and the parameters of a
// network. It measures nothing itself.
#pragma once

#include <string>
#include <vector>

namespace bench::distributed {

/// Ranks on machines with one link each. Communication within a machine counts as free.
struct Network {
  int ranks = 1;
  int per_machine = 1;
  double bytes_per_second = 0;  ///< bandwidth of a link, per direction
  double latency_seconds = 0;   ///< between machines
};

/// Parse "1024x8,25GB/s,5us": number of ranks, ranks per machine (default x1), bandwidth in KB, MB,
/// GB or Kbit, Mbit, Gbit (powers of ten) per second, latency in ns, us, ms or s. Errors:
/// ambit::Error.
Network parse_network(const std::string& text);

/// Times of a step on one rank, in seconds from its start.
struct Step {
  struct Bucket {
    double bytes = 0;
    double ready = 0;  ///< when its gradients are computed
  };
  std::vector<Bucket> buckets;  ///< in the order of their exchange
  double backward_end = 0;
  double end = 0;   ///< end of the optimizer's step
  double lost = 0;  ///< computing time lost to a concurrent exchange; 0 if not measured
};

/// Return the seconds of an allreduce between machines. Ring: 2 (m - 1) steps, each of a latency
/// and an m-th of the bytes. Tree: one latency per level up and down, with halving and doubling of
/// messages; as many bytes as the ring. Source: Thakur, Rabenseifner, Gropp 2005.
double ring_seconds(const Network& network, int machines, double bytes);
double tree_seconds(const Network& network, int machines, double bytes);

struct Prediction {
  int ranks = 1, machines = 1;
  double ring = 0, tree = 0;  ///< seconds of the exchange of all buckets at once
  double end = 0;             ///< end of the step, with the faster algorithm for each bucket
  double efficiency = 1;      ///< step of one rank divided by this
  double hidden = 1;          ///< fraction of the exchange that overlaps with computation
};

/// Predict a step on `ranks` ranks that compute like the measured one. A bucket is sent when it is
/// ready and the link has sent the previous bucket's bytes (latencies overlap); the optimizer runs
/// after the last bucket. The computation is prolonged by the time lost to the exchange.
Prediction predict(const Step& step, const Network& network, int ranks);

}  // namespace bench::distributed
