#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "contend/congestion/crossings.hpp"

namespace contend {

/// Messages that begin and end, and the max-min fair share that each has of its channels meanwhile.
///
/// What begins or ends touches only the messages that it is joined to by shared channels: those get
/// their shares anew, all others keep theirs. Cost of that: O(n log n) for n channels crossed by
/// the joined messages together. Nothing is allocated once as many messages were under way before.
class Flows {
 public:
  /// `rate`: of every channel, one for each of `crossings`, in bytes per second. Routes are by
  /// number of message in `crossings`, which outlives this; many flows may have one route.
  Flows(const Crossings& crossings, std::vector<double> rate);

  /// Something gets under way; returns its number, which is free again when it has ended.
  std::uint32_t begin(std::size_t route);
  void end(std::uint32_t flow);

  /// Bytes per second; right after fill().
  double share(std::uint32_t flow) const { return flow_[flow].share; }
  std::size_t route(std::uint32_t flow) const { return flow_[flow].route; }
  /// How many are under way on a channel.
  std::size_t count(std::uint32_t channel) const { return on_channel_[channel].size(); }
  /// Bytes per second that all flows of a channel have together; right after fill().
  double used(std::uint32_t channel) const { return channel_[channel].used; }
  /// The most flows on any channel of a flow's route, itself included: its congestion.
  std::size_t congestion(std::uint32_t flow) const;

  double rate(std::uint32_t channel) const { return rate_[channel]; }
  /// Gives a channel another rate; counts from the next time on that it is gathered.
  void set_rate(std::uint32_t channel, double rate) { rate_[channel] = rate; }
  /// Lets the next gather() take a channel in.
  void touch(std::uint32_t channel);

  bool changed() const { return !touched_.empty(); }
  /// The channels whose flows the next fill() looks at, in no particular order; channels that have
  /// just been left by their last flow among them.
  std::span<const std::uint32_t> gather();
  /// Finds the shares of all flows of the gathered channels; returns those whose share is another.
  std::span<const std::uint32_t> fill();

 private:
  struct Flow {
    double share = 0;
    std::size_t route = 0;
    std::uint32_t waits = 0;  ///< whether its share is not found yet
    std::uint32_t seen = 0;
  };
  struct Channel {
    double left = 0;
    double used = 0;
    std::uint32_t waiting = 0;  ///< flows whose share is not found yet
    std::uint32_t seen = 0;
    bool touched = false;
    double level() const { return left / waiting; }
  };
  struct Entry {
    double level;
    std::uint32_t channel;
    bool operator>(const Entry& other) const {
      return level != other.level ? level > other.level : channel > other.channel;
    }
  };

  void saturate(std::uint32_t channel, double level);

  const Crossings& crossings_;
  std::vector<double> rate_;
  std::vector<Flow> flow_;
  std::vector<std::uint32_t> free_;
  std::vector<Channel> channel_;
  std::vector<std::vector<std::uint32_t>> on_channel_;
  std::size_t longest_ = 0;
  std::vector<std::uint32_t> position_;  ///< of a flow on each of its channels, `longest_` a flow
  std::uint32_t epoch_ = 0;
  std::vector<std::uint32_t> touched_;
  std::vector<std::uint32_t> gathered_;
  std::vector<std::uint32_t> joined_;  ///< flows of the gathered channels
  std::vector<double> before_;         ///< their shares until now
  std::vector<std::uint32_t> different_;
  std::vector<Entry> heap_;
};

}  // namespace contend
