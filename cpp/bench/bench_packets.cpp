// Packets of random pairs on complete trees of two levels: nanoseconds per packet and channel,
// beside a bare loop that moves as many events through one queue and does nothing else; the ratio
// is how many times as long that takes. Times are processor times, the best of several repetitions.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <numeric>
#include <random>
#include <vector>

#include "../packets/src/delay_lines.hpp"
#include "contend/packets/packets.hpp"

namespace {

using namespace contend;

double processor_seconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Every host sends to another one; each leaf has as many cables up as hosts, and the target tells
/// which of them its messages take.
PacketRoutes random_pairs(std::uint32_t leaves, std::uint32_t hosts_of_leaf) {
  const std::uint32_t hosts = leaves * hosts_of_leaf;
  std::vector<std::uint32_t> target(hosts);
  std::iota(target.begin(), target.end(), 0U);
  std::shuffle(target.begin(), target.end(), std::mt19937(1));
  PacketRoutes routes;
  routes.places = hosts;
  routes.channels = std::size_t{4} * hosts;
  routes.first.push_back(0);
  for (std::uint32_t from = 0; from < hosts; ++from) {
    const std::uint32_t to = target[from];
    if (from != to) {
      routes.channel.push_back(2 * hosts + from);
      if (from / hosts_of_leaf != to / hosts_of_leaf) {
        const std::uint32_t spine = to % hosts_of_leaf;
        routes.channel.push_back(from / hosts_of_leaf * hosts_of_leaf + spine);
        routes.channel.push_back(hosts + to / hosts_of_leaf * hosts_of_leaf + spine);
      }
      routes.channel.push_back(3 * hosts + to);
    }
    routes.message.resize(routes.channel.size(), from);
    routes.first.push_back(static_cast<std::uint32_t>(routes.channel.size()));
  }
  return routes;
}

/// As many events as so many hops have, two each, through one queue of so many.
double bare_loop(std::uint64_t hops, std::uint32_t at_once) {
  const double begin = processor_seconds();
  packets::DelayLines lines;
  const std::uint32_t line = lines.add(1000);
  for (std::uint32_t k = 0; k < at_once; ++k) lines.put(line, k, {0, k, k});
  std::uint64_t sum = 0;
  for (std::uint64_t n = 0; n < 2 * hops; ++n) {
    const packets::PacketEvent event = *lines.next();
    lines.pop();
    sum += event.channel;
    lines.put(line, event.time, event);
  }
  // So that the loop has a result.
  if (sum == 1) std::puts("");
  return processor_seconds() - begin;
}

}  // namespace

int main() {
  std::printf("%8s %6s %12s %10s %10s\n", "hosts", "queues", "M hops/s", "ns/hop", "bare loops");
  for (const auto& [leaves, hosts] : {std::pair{32U, 32U}, {128U, 32U}, {1024U, 64U}}) {
    const PacketRoutes routes = random_pairs(leaves, hosts);
    const std::vector<double> rate(routes.channels, 25e9);
    for (const Queueing queueing : {Queueing::kInOrder, Queueing::kByOutput}) {
      PacketModel model;
      model.queueing = queueing;
      model.message_packets = leaves > 500 ? 16 : 256;
      double best = 1e9;
      double bare = 1e9;
      std::uint64_t hops = 0;
      for (int repetition = 0; repetition < 3; ++repetition) {
        const double begin = processor_seconds();
        hops = packet_flows(routes, rate, model).hops;
        best = std::min(best, processor_seconds() - begin);
        bare = std::min(bare, bare_loop(hops, static_cast<std::uint32_t>(routes.places)));
      }
      std::printf("%8zu %6s %12.1f %10.1f %10.1f\n", routes.places,
                  queueing == Queueing::kInOrder ? "fifo" : "voq",
                  static_cast<double>(hops) / best / 1e6, 1e9 * best / static_cast<double>(hops),
                  best / bare);
    }
  }
}
