// How long a step takes on more ranks than there are: from what one rank took, and what a network
// is said to do. It measures nothing itself.
#pragma once

#include <string>
#include <vector>

namespace bench::distributed {

/// Ranks on machines, each with one link to the others. Between ranks of one machine nothing is
/// counted.
struct Network {
  int ranks = 1;
  int per_machine = 1;
  double bytes_per_second = 0;  ///< of a link, in each direction
  double latency_seconds = 0;   ///< from one machine to another
};

/// Read "1024x8,25GB/s,5us": ranks, of which so many share a machine (x1 where not said),
/// bandwidth in KB, MB, GB or Kbit, Mbit, Gbit (powers of ten) a second, latency in ns, us, ms or
/// s. Errors: ambit::Error.
Network parse_network(const std::string& text);

/// What one rank took for a step, in seconds from its beginning.
struct Step {
  struct Bucket {
    double bytes = 0;
    double ready = 0;  ///< when its gradients have been computed
  };
  std::vector<Bucket> buckets;  ///< in the order of their exchange
  double backward_end = 0;
  double end = 0;   ///< after the optimizer
  double lost = 0;  ///< of computing to an exchange under way; 0 where nobody has measured it
};

/// An allreduce between so many machines in seconds. Ring: 2 (m - 1) steps, each of a latency and
/// an m-th of the bytes. Tree: a step of a latency for each level up and down, which halve and
/// double what they send: as many bytes as the ring's. Source: Thakur, Rabenseifner, Gropp 2005.
double ring_seconds(const Network& network, int machines, double bytes);
double tree_seconds(const Network& network, int machines, double bytes);

struct Prediction {
  int ranks = 1, machines = 1;
  double ring = 0, tree = 0;  ///< seconds of exchange of all buckets, begun at once
  double end = 0;             ///< of the step, each bucket by the quicker of both
  double efficiency = 1;      ///< the step of one rank by this
  double hidden = 1;          ///< the part of the exchange that computing covers
};

/// Predict a step on `ranks` of the network's kind, each of which computes as the one did: a bucket
/// is sent when it is ready and the link is done with the bytes of the one before it, whose
/// latencies it does not wait for; the optimizer follows the last. Computing takes longer by what
/// it loses to the exchange.
Prediction predict(const Step& step, const Network& network, int ranks);

}  // namespace bench::distributed
