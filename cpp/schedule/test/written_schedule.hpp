#pragma once

#include <doctest/doctest.h>

#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "../../routes/test/small_ring.hpp"
#include "contend/base/error.hpp"
#include "contend/schedule/carry_out.hpp"

namespace contend::test {

/// Operations as they are written down, one strand after the other.
struct Written {
  void strand(std::uint32_t rank) {
    rank_of_strand.push_back(rank);
    begin.push_back(action.size());
  }
  void add(Action what, std::uint32_t other = 0, double much = 0, std::int32_t label = 0) {
    action.push_back(static_cast<std::uint8_t>(what));
    peer.push_back(other);
    tag.push_back(label);
    amount.push_back(much);
    begin.back() = action.size();
  }
  void send(std::uint32_t to, double bytes, std::int32_t label = 0) {
    add(Action::send, to, bytes, label);
  }
  void receive(std::uint32_t from, std::int32_t label = 0) { add(Action::receive, from, 0, label); }
  void compute(double seconds) { add(Action::compute, 0, seconds); }
  void wait_all() { add(Action::wait_all); }
  /// A rank that sends one message and waits for its end.
  void sender(std::uint32_t rank, std::uint32_t to, double bytes) {
    strand(rank);
    send(to, bytes);
    wait_all();
  }
  /// A rank that waits for one message.
  void receiver(std::uint32_t rank, std::uint32_t from) {
    strand(rank);
    receive(from);
    wait_all();
  }

  Schedule schedule() const { return {rank_of_strand, begin, action, peer, tag, amount}; }

  std::vector<std::uint32_t> rank_of_strand;
  std::vector<std::uint64_t> begin{0};
  std::vector<std::uint8_t> action;
  std::vector<std::uint32_t> peer;
  std::vector<std::int32_t> tag;
  std::vector<double> amount;
};

/// A ring that is walked clockwise only, rank r on host r; every channel carries 10 bytes a second.
/// From s to t a message crosses the channels of switches s, s + 1, ..., t - 1.
struct Ring {
  explicit Ring(SwitchId size)
      : ring(size),
        resolver(ring.tabled({contend::test::in_order(size), false})),
        network{*resolver, contend::test::in_order(size), {}, {}} {
    channels = resolver->switch_channels();
    const std::size_t all = channels + 3 * std::size_t{size};
    network.rate.assign(all, 10);
    network.burst.assign(all, 0);
    costs.between.push_back(free());
    costs.within.push_back(free());
    own_processors(size);
  }

  static MessageClass free() {
    MessageClass one;
    one.up_to = std::numeric_limits<double>::infinity();
    return one;
  }
  void own_processors(std::uint32_t ranks) {
    costs.processor_of_rank.clear();
    costs.processors.clear();
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      costs.processor_of_rank.push_back(rank);
      costs.processors.push_back(1);
    }
  }
  Outcome run(const Written& written) const {
    return carry_out(written.schedule(), network, costs);
  }
  std::string error_of(const Written& written) const {
    try {
      static_cast<void>(run(written));
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }

  ClockwiseRing ring;
  std::unique_ptr<Resolver> resolver;
  std::size_t channels = 0;
  Network network;
  Costs costs;
};

inline doctest::Approx near(double value) { return doctest::Approx(value).epsilon(1e-9); }

/// One message of so many bytes from rank 0 to rank 1.
inline Written one_message(double bytes) {
  Written written;
  written.sender(0, 1, bytes);
  written.receiver(1, 0);
  return written;
}

}  // namespace contend::test
