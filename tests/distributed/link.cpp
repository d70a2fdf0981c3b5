// The network between the hosts of hosts.sh, for Linux kernels that cannot delay packets:
//   ambit_link BITS_PER_SECOND LATENCY_US DEVICE...
// creates a TUN device for each host and forwards packets between them. A packet passes the links
// of its sender and its receiver, which have that rate in each direction, and is delayed by the
// latency. Host n has the address x.y.z.n. Prints "ready" when it can be used; ends at end of file.
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
using Time = Clock::time_point;

// Length of the segmentation data before each packet: a virtio_net_hdr, whose header is not valid
// C++.
constexpr ssize_t kHeader = 10;

struct Packet {
  Time due;
  std::vector<char> bytes;
};

struct Host {
  int device = -1;
  Time out_free, in_free;    // when each direction of its link is free
  std::deque<Packet> to_it;  // in order of arrival
};

void check(bool succeeded, const std::string& what) {
  if (!succeeded) throw std::runtime_error(what + ": " + std::strerror(errno));
}

int open_device(const char* name) {
  const int device = open("/dev/net/tun", O_RDWR | O_NONBLOCK);
  check(device >= 0, "/dev/net/tun");
  ifreq request{};
  request.ifr_flags = IFF_TUN | IFF_NO_PI | IFF_VNET_HDR;
  std::strncpy(request.ifr_name, name, IFNAMSIZ - 1);
  check(ioctl(device, TUNSETIFF, &request) == 0, name);
  // TCP passes several segments as one large packet without a checksum, as it does to network
  // cards: forwarding them one by one would use the ranks' cores.
  check(ioctl(device, TUNSETOFFLOAD, TUN_F_CSUM | TUN_F_TSO4) == 0, "TUNSETOFFLOAD");
  return device;
}

class Network {
 public:
  Network(double bytes_a_second, std::chrono::microseconds latency, std::vector<Host> hosts)
      : bytes_a_second_(bytes_a_second), latency_(latency), hosts_(std::move(hosts)) {}

  // Read all packets that hosts have sent.
  void take() {
    for (Host& from : hosts_) {
      for (;;) {
        const ssize_t n = read(from.device, buffer_.data(), buffer_.size());
        if (n < kHeader + 20) break;
        const char* const ip = buffer_.data() + kHeader;
        const auto to = static_cast<unsigned char>(ip[19]);  // the end of IPv4's destination
        const bool is_ip4 = (ip[0] & 0xf0) == 0x40;
        if (is_ip4 && to >= 1 && to <= hosts_.size()) carry(from, hosts_[to - 1U], n);
      }
    }
  }
  // Deliver the packets that are due; return the time of the next.
  Time give() {
    const Time now = Clock::now();
    Time next = now + std::chrono::milliseconds(100);
    for (Host& host : hosts_) {
      for (; !host.to_it.empty() && host.to_it.front().due <= now; host.to_it.pop_front()) {
        const std::vector<char>& bytes = host.to_it.front().bytes;
        // A packet that a host does not accept is lost, as in any network.
        [[maybe_unused]] const ssize_t n = write(host.device, bytes.data(), bytes.size());
      }
      if (!host.to_it.empty()) next = std::min(next, host.to_it.front().due);
    }
    return next;
  }
  // Return true until standard input is closed.
  bool wait(Time until) {
    std::vector<pollfd> all{{0, POLLIN, 0}};
    for (const Host& host : hosts_) all.push_back({host.device, POLLIN, 0});
    const auto left = std::max(std::chrono::nanoseconds(0), until - Clock::now());
    const timespec limit{left.count() / 1'000'000'000, left.count() % 1'000'000'000};
    ppoll(all.data(), all.size(), &limit, nullptr);
    return all[0].revents == 0;
  }

 private:
  void carry(Host& from, Host& to, ssize_t n) {
    const auto length = std::chrono::duration_cast<Clock::duration>(
        std::chrono::duration<double>(static_cast<double>(n) / bytes_a_second_));
    from.out_free = std::max(Clock::now(), from.out_free) + length;
    // A packet passes both links at the same time, as soon as the second one is free.
    to.in_free = std::max(from.out_free + latency_, to.in_free + length);
    to.to_it.push_back({to.in_free, {buffer_.data(), buffer_.data() + n}});
  }

  double bytes_a_second_;
  std::chrono::microseconds latency_;
  std::vector<Host> hosts_;
  std::array<char, kHeader + 65536> buffer_;
};

int run(int argc, char** argv) {
  if (argc < 4) throw std::runtime_error("usage: ambit_link BITS_PER_SECOND LATENCY_US DEVICE...");
  std::vector<Host> hosts;
  for (int i = 3; i < argc; ++i) hosts.emplace_back().device = open_device(argv[i]);
  // Run at a higher priority than the ranks, which are always busy.
  const sched_param priority{.sched_priority = 1};
  check(sched_setscheduler(0, SCHED_FIFO, &priority) == 0, "SCHED_FIFO");
  Network network(std::atof(argv[1]) / 8, std::chrono::microseconds(std::atol(argv[2])),
                  std::move(hosts));
  std::puts("ready");
  std::fflush(stdout);
  do {
    network.take();
  } while (network.wait(network.give()));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
