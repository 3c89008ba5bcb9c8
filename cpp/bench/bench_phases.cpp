// Phases of all-to-alls by routes, on trees of two stages whose up-links are chosen by target, as
// d-mod-k does, or by a hash of leaf and target, as balanced tables without a rule do: phases
// beside their bound, and processor time. Ranks are in a random order; half trees have half of the
// hosts.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <numeric>
#include <random>
#include <vector>

#include "contend/schedule/phases_by_routes.hpp"

namespace {

using contend::HostRoutes;

/// A tree of as many leaves as hosts on each leaf and as top switches.
HostRoutes tree(std::uint32_t each, bool by_target) {
  const std::uint32_t hosts = each * each;
  HostRoutes routes{hosts, 2 * hosts, {0}, {}};
  for (std::uint32_t from = 0; from < hosts; ++from) {
    for (std::uint32_t to = 0; to < hosts; ++to) {
      const std::uint32_t leaf = from / each, other = to / each;
      if (leaf != other) {
        const std::uint32_t mixed = (leaf * 2654435761U) ^ (to * 2246822519U);
        const std::uint32_t top = by_target ? to % each : (mixed >> 7) % each;
        routes.channel.push_back(leaf * each + top);
        routes.channel.push_back(hosts + other * each + top);
      }
      routes.begin.push_back(routes.channel.size());
    }
  }
  return routes;
}

void bench(std::uint32_t each, bool by_target, bool half) {
  const HostRoutes routes = tree(each, by_target);
  std::vector<std::uint32_t> host_of_rank(routes.hosts);
  std::iota(host_of_rank.begin(), host_of_rank.end(), 0U);
  std::shuffle(host_of_rank.begin(), host_of_rank.end(), std::mt19937(1));
  if (half) host_of_rank.resize(routes.hosts / 2);
  const std::clock_t begin = std::clock();
  const auto phases = contend::phases_by_routes(routes, host_of_rank);
  const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  std::printf("%4u ranks, %-4s tree %-9s  %4u phases  bound %4u  ratio %.3f  %8.3f s\n",
              phases.ranks, half ? "half" : "full", by_target ? "by target" : "by hash",
              phases.count, phases.bound, phases.count / static_cast<double>(phases.bound),
              seconds);
  std::fflush(stdout);
}

}  // namespace

int main() {
  for (const std::uint32_t each : {8U, 16U, 32U}) {
    for (const bool by_target : {true, false}) {
      for (const bool half : {false, true}) bench(each, by_target, half);
    }
  }
}
