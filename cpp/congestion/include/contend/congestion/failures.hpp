#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "contend/congestion/simulate.hpp"
#include "contend/fabric/remains.hpp"
#include "contend/pattern/pattern.hpp"
#include "contend/routes/engines/mend.hpp"

namespace contend {

/// What a failure costs. The same messages are counted on the whole fabric and on what is left of
/// it: those of the samples whose ends are both left.
struct FailureCost {
  std::size_t hosts_left = 0;
  /// Table entries that had to change.
  std::size_t changed = 0;
  /// By sample, the mean of what these messages get on the whole fabric, and where parts of it
  /// died; 1 for a sample of which no message is left. Empty where fewer than two hosts are left.
  std::vector<double> before;
  std::vector<double> after;
};

/// Says for one failure after the other what it costs: tables are mended only where they led over
/// what died, and routes are followed anew only to hosts whose tables changed.
///
/// Memory: 6 bytes an address and switch, 4 a sample and channel, and a message takes up to 28 and
/// 8 for every hop of the longest route; while a failure is judged, at most as much again as the
/// messages take. Safe to use from several threads.
class FailureJudge {
 public:
  /// `hosts` are those of the ranks. Samples are drawn and counted as by simulate(), and `rate` is
  /// as there, with ranks for places: its figure `bandwidth`, or with rates `share`, is what
  /// judge() says where nothing died. The fabric is borrowed. Throws Error when tables, hosts or
  /// rates do not belong to the fabric, a message does not arrive, or a pattern has several rounds,
  /// weights, or more than one message at a host's end.
  FailureJudge(const Fabric& fabric, const Targets& targets, const Tables& tables,
               const Pattern& pattern, std::span<const HostId> hosts, const Samples& samples,
               std::span<const double> rate = {});

  /// Cost: to mend what is broken, a few steps for every message to a host whose tables changed,
  /// and to count the messages on channels whose load changed, of every sample.
  FailureCost judge(const Losses& losses) const;

 private:
  /// A message that takes another route: its channels are [begin, end) of all those found.
  struct Detour {
    std::uint32_t message;
    std::uint32_t begin;
    std::uint32_t end;
  };
  struct ToHost {
    std::uint32_t message;
    SwitchId from;
  };
  struct Detours {
    std::vector<std::vector<Detour>> of_sample;
    std::vector<ChannelId> channels;

    std::span<const ChannelId> route(const Detour& detour) const {
      return std::span(channels).subspan(detour.begin, detour.end - detour.begin);
    }
  };
  class Count;

  std::span<const ChannelId> route(std::size_t message) const {
    return {route_.data() + message * stride_, stride_};
  }
  void draw(const Pattern& pattern, std::span<const HostId> hosts, const Samples& samples);
  void weigh(std::span<const HostId> hosts, std::span<const double> rate);
  void sort_by_target();
  void find_routes();
  void list_across();
  void count_whole();
  void walk(std::span<const PortNumber> ports, const MendableTables::Destined& to,
            std::uint32_t message, std::vector<ChannelId>& route) const;
  bool is_same(std::size_t message, std::span<const ChannelId> found) const;
  /// Of messages from switches that were lost; routes of all others stay.
  void find_detours(std::span<const PortNumber> ports, const MendableTables::Destined& to,
                    std::span<const std::uint8_t> is_lost, const Remains& rest,
                    Detours& detours) const;
  std::span<const std::uint32_t> across(ChannelId channel) const {
    return {across_.data() + across_begin_[channel],
            across_begin_[channel + 1] - across_begin_[channel]};
  }
  template <class Load>
  double share_by_rates(std::size_t message, std::span<const ChannelId> route,
                        const Load& load) const;

  MendableTables tables_;
  std::vector<std::size_t> begin_;         ///< first message of a sample
  std::vector<HostId> source_;             ///< by message
  std::vector<HostId> target_;             ///< by message
  std::vector<std::uint32_t> sample_;      ///< by message
  std::vector<std::size_t> to_begin_;      ///< first of a host's in to_
  std::vector<ToHost> to_;                 ///< messages by target
  std::vector<Address> first_;             ///< address of a host that messages go to
  std::size_t stride_ = 0;                 ///< channels of the longest route
  std::vector<ChannelId> route_;           ///< by message, filled up with one that nobody uses
  std::vector<std::uint32_t> load_;        ///< by sample and channel
  std::vector<double> seconds_;            ///< a byte takes on a channel; empty where all are alike
  std::vector<double> alone_;              ///< and between a message's ports
  std::vector<std::size_t> across_begin_;  ///< first of a channel's in across_
  std::vector<std::uint32_t> across_;      ///< messages by channel
  // On the whole fabric.
  std::vector<double> whole_;
  std::vector<std::uint32_t> pi_;                  ///< by message, where all rates are alike
  std::vector<std::vector<std::uint64_t>> by_pi_;  ///< messages by sample and pi
  std::vector<double> share_;                      ///< by message, where rates differ
};

}  // namespace contend
