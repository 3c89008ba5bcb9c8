#pragma once

#include <cstdint>
#include <memory>

#include "contend/base/mixed.hpp"
#include "contend/fabric/fabric.hpp"
#include "contend/routes/resolver.hpp"
#include "contend/routes/ways/next_hops.hpp"
#include "contend/routes/ways/topology.hpp"

namespace contend {

/// What hashes choose by.
struct Hashing {
  /// Parts of a message that are hashed each by itself, as queue pairs are; at least 1.
  std::uint32_t flows = 1;
  /// Whether all switches hash alike. What one has chosen then decides what the next chooses.
  bool alike = false;
};

/// The hashes of one drawing.
class Hashes {
 public:
  Hashes(std::uint64_t draw, bool alike) : salt_(mixed(draw + kOdd)), odd_(alike ? 0 : kOdd) {}

  /// That of a flow of what a host sends to another.
  std::uint64_t of_flow(HostId source, HostId target, std::uint64_t flow) const {
    return mixed((salt_ ^ (std::uint64_t{source} << 32 | target)) + flow * kOdd);
  }
  /// Which of so many channels a switch chooses for it: 32 bits, spread over the count without a
  /// division.
  std::size_t choose(std::uint64_t of_flow, SwitchId s, std::size_t count) const {
    return (mixed(of_flow + s * odd_) >> 32) * count >> 32;
  }

 private:
  static constexpr std::uint64_t kOdd = 0x9E3779B97F4A7C15u;

  std::uint64_t salt_;
  std::uint64_t odd_;
};

/// Routes that hashes choose: at every switch a message takes one of the channels that lead on,
/// chosen by a hash of source, target, flow, draw and, unless all hash alike, switch. Parallel
/// cables each count as one, and the same draw gives the same routes. With the shortest ways these
/// are those of Ethernet fabrics (ECMP).
/// Cost: a few multiplications a hop.
std::unique_ptr<Resolver> make_hashed_resolver(const Fabric& fabric, const Places& places,
                                               NextHops next, const Hashing& hashing = {});

/// The same by the shortest ways on a topology.
std::unique_ptr<Resolver> make_hashed_resolver(const Fabric& fabric, const Places& places,
                                               const Topology& topology,
                                               const Hashing& hashing = {});

}  // namespace contend
