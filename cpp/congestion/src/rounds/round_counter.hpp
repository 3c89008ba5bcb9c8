#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "../split/split_counter.hpp"
#include "channel_rates.hpp"
#include "contend/base/error.hpp"
#include "contend/routes/resolver.hpp"
#include "fold_usage.hpp"
#include "lone_piece.hpp"
#include "pi_values.hpp"
#include "round_averages.hpp"

namespace contend {

/// Counts the messages on every channel during one round, then finds every message's pi.
///
/// `Id` holds a channel number, `Load` what a channel carries: with 16 bits more of it stays in the
/// cache, with 32 each is read faster, which is more where all of it stays there. Those of 16 bits
/// are for rounds that have no more messages, none of which split.
///
/// The calls of a round come in order: count() for every piece, fold() once, judge() for every
/// piece, finish() and clear() once. Where channels differ in rate, weigh() follows judge().
/// Several counters can share a round's pieces: one absorb()s the others before it folds, and these
/// adopt() what it has, judge, and are absorbed by finish().
///
/// Loads are in parts of messages, see Resolver::unit(). Where messages split over ways that no
/// resolver tells one by one, count() only counts who sends to whom, and fold() spreads it.
///
/// More parts on a channel in one round than a counter is sure to hold are refused; how many
/// messages a piece has does not matter.
template <class Id, class Load>
class RoundCounter {
 public:
  /// Half of what a counter holds: a look at all of them is due only when as many more are counted.
  static constexpr std::uint32_t kMostMessages = std::numeric_limits<Load>::max() / 2;

  /// A round has about so many messages as `expected` says, but may have any number.
  RoundCounter(const Resolver& resolver, bool with_hosts,
               std::uint32_t most_messages = kMostMessages, std::uint64_t expected = 0)
      : resolver_(resolver),
        split_(make_split_counter(resolver, expected)),
        unit_(resolver.unit()),
        most_messages_(most_messages),
        places_(with_hosts ? resolver.places() : 0),
        sent_(resolver.switch_channels() + kPads),
        usage_(sent_ + 2 * places_, 0),
        total_(usage_.size(), 0) {}

  /// Which drawing of routes the pieces that follow take; see Resolver::resolve_drawn.
  void draw_routes(std::uint64_t draw) { draw_ = draw; }

  /// Looks up the routes of a piece and counts it. Source and target differ in every message; both
  /// arrays stay until clear() where they are the round's only ones.
  /// Throws Error where a channel gets too many messages.
  void count(std::span<const Place> source, std::span<const Place> target) {
    if (!split_) look_up(source, target);
    lone_.add(source, target);
    // No channel is sure to hold more at once.
    const std::size_t at_once = std::max<std::size_t>(1, most_messages_ / unit_);
    for (std::size_t first = 0; first < source.size(); first += at_once) {
      const std::size_t size = std::min(at_once, source.size() - first);
      note(size * unit_);
      count_some(source.subspan(first, size), target.subspan(first, size), first);
    }
  }

  /// Takes over what another has counted of the same round. Throws Error as count() does.
  void absorb(RoundCounter& other) {
    forget_padding();
    other.forget_padding();
    for (std::size_t c = 0; c < usage_.size(); ++c) {
      refuse_more(std::uint64_t{usage_[c]} + other.usage_[c]);
      usage_[c] += other.usage_[c];
    }
    if (split_) split_->absorb(*other.split_);
    lone_.add_others();
    other.clear();
  }

  /// Closes the counting.
  void fold() {
    forget_padding();
    if constexpr (kWide) {
      if (split_) refuse_more(static_cast<std::uint64_t>(split_->spread(unit_, between()) + 0.5));
    }
    const std::uint32_t largest =
        few() ? fold_few() : fold_usage(usage_.data(), total_.data(), usage_.size());
    if (places_ > 0 && !few()) most_on_ports_ = largest_usage(usage_.data() + sent_, 2 * places_);
    most_total_ += largest;
    find_values(largest);
    counters_.begin(values().size());
  }

  /// After finish(): the most messages on any channel of a host, 1 where no port has two.
  double most_on_ports() const {
    return places_ == 0 ? 1.0 : static_cast<double>(most_on_ports_) / unit_;
  }

  /// The most on any channel, where nothing else is asked of the round than this and
  /// most_seconds(); clear() follows. Not where messages split.
  std::uint32_t largest() {
    forget_padding();
    if (!few()) return largest_usage(usage_.data(), usage_.size());
    std::uint32_t most = 0;
    for_each_of_few([&](std::size_t channel, std::uint32_t) {
      most = std::max<std::uint32_t>(most, usage_[channel]);
    });
    return most;
  }
  /// After largest(): the most that a byte takes on any channel, by the rates.
  double most_seconds() const { return seconds_->most(std::span<const Load>(usage_)); }

  /// Takes the counts of another, which has folded them.
  void adopt(const RoundCounter& folded) {
    usage_ = folded.usage_;
    lone_.add_others();
    pi_values_ = folded.pi_values_;
    if (split_) split_->adopt(*folded.split_);
    counters_.begin(values().size());
  }

  /// The values that pi may have, in parts of messages: those on all channels that are no less than
  /// a message, with 0 and a message, in ascending order.
  std::span<const std::uint32_t> values() const { return pi_values_.values(); }

  /// Counts every message of the piece by its value of pi; one with a weight is added to `by_value`
  /// at once. When a round has several pieces their routes must be looked up again.
  void judge(std::span<const Place> source, std::span<const Place> target,
             std::span<const std::uint64_t> weight, bool look_up_again,
             std::span<std::uint64_t> by_value) {
    find_numbers(source, target, look_up_again);
    if (weight.empty()) {
      counters_.add({pi_.data(), source.size()}, by_value);
    } else {
      for (std::size_t m = 0; m < source.size(); ++m) by_value[pi_[m]] += weight[m];
    }
  }

  /// After judge(), and weigh() where there are rates, of a piece of a round of pairs: adds its
  /// messages to `by_value` by the larger pi of theirs and their opposites', so that each pair
  /// counts from both ends. What an opposite meets depends on its ends alone, in whichever piece it
  /// is. Routes that are looked up for it stay: those of a round's only piece are the same ones.
  void judge_pairs(std::span<const Place> source, std::span<const Place> target,
                   std::span<const std::uint64_t> weight, std::span<std::uint64_t> by_value) {
    std::swap(pi_, pi_there_);
    find_numbers(target, source, true);
    for (std::size_t m = 0; m < source.size(); ++m) {
      by_value[std::max(pi_[m], pi_there_[m])] += weight.empty() ? 1 : weight[m];
    }
  }

  /// Adds what judge() has counted to `by_value`.
  void finish(std::span<std::uint64_t> by_value) { counters_.finish(by_value); }

  /// Prepares weigh() and most_seconds().
  void set_rates(const ChannelRates& rates) {
    if (split_) split_->set_rates(rates);
    seconds_.emplace(rates, resolver_.places(), unit_);
  }

  /// What the messages of the piece get: the least, over a message's channels, of rate over load.
  /// Right after judge(), whose routes it uses, or with the ends exchanged after judge_pairs().
  /// `each` as ByteSeconds::weigh() has it.
  template <class Each>
  RoundShares weigh(std::span<const Place> source, std::span<const Place> target,
                    std::span<const std::uint64_t> weight, const Each& each) {
    const Load* const sent = ports_limit() ? usage_.data() + sent_ : nullptr;
    const auto weigh_by = [&](const auto& beside) {
      RoundShares shares = seconds_->weigh(source, target, weight, sent, beside, each);
      if (places_ > 0) shares.ports = seconds_->most_on_ports(std::span<const Load>(usage_));
      return shares;
    };
    if (split_) {
      split_seconds_.resize(source.size());
      split_->time(source, target, split_seconds_);
      return weigh_by(
          [&](std::size_t m, double alone) { return std::max(alone, split_seconds_[m]); });
    }
    const std::size_t stride = resolver_.stride();
    return weigh_by([&](std::size_t m, double alone) {
      const Id* const route = routes_.data() + m * stride;
      return seconds_beside(route, stride, seconds_->between(), alone,
                            [&](std::size_t k) { return usage_[route[k]]; });
    });
  }

  void clear() {
    if (few()) {
      for_each_of_few([&](std::size_t channel, std::uint32_t) { usage_[channel] = 0; });
    } else {
      std::fill(usage_.begin(), usage_.end(), Load{0});
    }
    lone_.clear();
    if (split_) split_->clear();
    unchecked_ = 0;
  }

  /// Adds the totals since the last call to `channel_messages` and starts them anew.
  void collect_totals(std::span<std::uint64_t> channel_messages) {
    const std::size_t between = resolver_.switch_channels();
    for (std::size_t c = 0; c < between; ++c) channel_messages[c] += total_[c];
    for (std::size_t c = 0; c < 2 * places_; ++c)
      channel_messages[between + c] += total_[sent_ + c];
    std::fill(total_.begin(), total_.end(), Load{0});
    most_total_ = 0;
  }

  /// See SplitCounter::gap().
  double gap() const { return split_ ? split_->gap() : 1; }

  /// Whether totals are sure to hold one more round; else collect_totals() comes before fold().
  bool totals_have_room() const { return most_total_ <= kMostMessages; }

 private:
  static constexpr bool kWide = sizeof(Load) == sizeof(std::uint32_t);

  std::span<std::uint32_t> between() { return {usage_.data(), resolver_.switch_channels()}; }

  /// Lists what pi may be, where the most on any channel is known.
  void find_values(std::uint32_t largest) {
    if constexpr (!kWide) {
      pi_values_.number(largest, unit_);
    } else if (split_) {
      split_->find_worst(usage_, largest, unit_, pi_values_);
    } else {
      pi_values_.number(usage_, largest, unit_);
    }
  }

  void refuse_more(std::uint64_t parts) const {
    if (parts <= most_messages_) return;
    throw Error("at most " + std::to_string(most_messages_ / unit_) +
                " messages on a channel in one round can be counted");
  }

  /// Makes sure that no counter wraps when so many parts of messages more are counted.
  void note(std::size_t parts) {
    if (unchecked_ + parts > most_messages_) {
      forget_padding();
      for (const std::uint32_t counted : usage_) refuse_more(counted);
      refuse_more(parts);
      unchecked_ = 0;
    }
    unchecked_ += parts;
  }

  /// Counts messages of a piece, from its `first` on, whose routes have been looked up.
  void count_some(std::span<const Place> source, std::span<const Place> target, std::size_t first) {
    if (split_) {
      split_->count(source, target);
    } else {
      count_routes(source.size(), routes_.data() + first * resolver_.stride());
    }
    if (places_ == 0) return;
    Load* const sent = usage_.data() + sent_;
    Load* const received = sent + places_;
    for (std::size_t m = 0; m < source.size(); ++m) {
      sent[source[m]] = static_cast<Load>(sent[source[m]] + unit_);
      received[target[m]] = static_cast<Load>(received[target[m]] + unit_);
    }
  }

  void forget_padding() {
    const auto pads = usage_.begin() + static_cast<std::ptrdiff_t>(resolver_.switch_channels());
    std::fill_n(pads, kPads, Load{0});
  }

  bool few() const { return !split_ && lone_.is_few(resolver_.stride(), usage_.size()); }

  /// Visits every channel of every message of the round, which are few, with what it adds there.
  template <class Visit>
  void for_each_of_few(const Visit& visit) const {
    const std::size_t visits = lone_.source().size() * resolver_.stride();
    for (std::size_t k = 0; k < visits; ++k) visit(std::size_t{routes_[k]}, 1U);
    if (places_ == 0) return;
    for (const Place source : lone_.source()) visit(sent_ + source, unit_);
    for (const Place target : lone_.target()) visit(sent_ + places_ + target, unit_);
  }

  std::uint32_t fold_few() {
    std::uint32_t largest = 0;
    most_on_ports_ = 0;
    for_each_of_few([&](std::size_t channel, std::uint32_t added) {
      total_[channel] = static_cast<Load>(total_[channel] + added);
      largest = std::max<std::uint32_t>(largest, usage_[channel]);
      if (channel >= sent_)
        most_on_ports_ = std::max<std::uint32_t>(most_on_ports_, usage_[channel]);
    });
    return largest;
  }

  /// By channel: the number of the value that it has.
  const Load* number_of_channels() const {
    if constexpr (kWide) {
      return pi_values_.of_channels(usage_);
    } else {
      return usage_.data();
    }
  }

  /// Whether ports that several messages share limit these by themselves.
  bool ports_limit() const { return places_ > 0 && !(split_ && split_->knows_ports()); }

  // Each switches over the stride by itself: one template that calls either makes the loops slower.
  void count_routes(std::size_t messages, const Id* route) {
    switch (resolver_.stride()) {
      case 2:
        return add_routes<2>(messages, route);
      case 4:
        return add_routes<4>(messages, route);
      case 6:
        return add_routes<6>(messages, route);
      default:
        return add_routes<0>(messages, route);
    }
  }

  void look_up(std::span<const Place> source, std::span<const Place> target) {
    routes_.resize(std::max(routes_.size(), source.size() * resolver_.stride()));
    resolver_.resolve_drawn(source, target, draw_, routes_.data());
  }

  template <std::size_t Stride>
  void add_routes(std::size_t messages, const Id* route) {
    const std::size_t stride = Stride > 0 ? Stride : resolver_.stride();
    Load* usage = usage_.data();
    for (std::size_t m = 0; m < messages; ++m, route += stride) {
      for_channels<Stride>(route, stride, [&](std::size_t channel) { ++usage[channel]; });
    }
  }

  /// Visits the channels of one route. Four narrow numbers are read as one word where the stride is
  /// known: the loads, not the counting, are what there is most of.
  template <std::size_t Stride, class Visit>
  static void for_channels(const Id* route, std::size_t stride, Visit visit) {
    std::size_t k = 0;
    if constexpr (sizeof(Id) == 2) {
      for (; k + 4 <= Stride; k += 4) {
        std::uint64_t four;
        std::memcpy(&four, route + k, sizeof four);
        visit(four & 0xFFFF);
        visit(four >> 16 & 0xFFFF);
        visit(four >> 32 & 0xFFFF);
        visit(four >> 48);
      }
    }
    for (; k < stride; ++k) visit(route[k]);
  }

  /// The number of every message's pi, into pi_.
  void find_numbers(std::span<const Place> source, std::span<const Place> target, bool again) {
    if (split_) {
      pi_.resize(std::max(pi_.size(), source.size()));
      split_->number(source, target, pi_values_.of_message(unit_), pi_);
    } else {
      find_route_pi(source, target, again);
    }
    if (!ports_limit()) return;
    const Load* const sent = number_of_channels() + sent_;
    const Load* const received = sent + places_;
    for (std::size_t m = 0; m < source.size(); ++m) {
      pi_[m] = std::max<std::uint32_t>(pi_[m], std::max(sent[source[m]], received[target[m]]));
    }
  }

  /// The same between switches, by the channels of their routes.
  void find_route_pi(std::span<const Place> source, std::span<const Place> target, bool again) {
    if (again) look_up(source, target);
    switch (resolver_.stride()) {
      case 2:
        return find_pi<2>(source.size());
      case 4:
        return find_pi<4>(source.size());
      case 6:
        return find_pi<6>(source.size());
      default:
        return find_pi<0>(source.size());
    }
  }

  template <std::size_t Stride>
  void find_pi(std::size_t messages) {
    const std::size_t stride = Stride > 0 ? Stride : resolver_.stride();
    pi_.resize(std::max(pi_.size(), messages));
    const Load* number = number_of_channels();
    const Id* route = routes_.data();
    std::uint32_t* pi = pi_.data();
    const std::uint32_t whole = pi_values_.of_message(unit_);
    for (std::size_t m = 0; m < messages; ++m, route += stride) {
      // A message that crosses no channel between switches still has its host's, all to itself.
      std::uint32_t most = whole;
      for (std::size_t k = 0; k < stride; ++k)
        most = std::max<std::uint32_t>(most, number[route[k]]);
      pi[m] = most;
    }
  }

  const Resolver& resolver_;
  std::unique_ptr<SplitCounter> split_;  ///< none where resolver_ tells the ways
  std::uint32_t unit_;
  std::uint32_t most_messages_;
  std::size_t places_;  ///< that are counted; 0 where hosts' channels are not
  std::size_t sent_;    ///< where hosts' injection begins; ejection follows
  /// Channels between switches, padding, injection and ejection.
  std::vector<Load> usage_;
  std::vector<Load> total_;
  std::uint64_t most_total_ = 0;  ///< no total is more
  std::uint32_t most_on_ports_ = 0;
  PiValues pi_values_;
  std::uint64_t unchecked_ = 0;  ///< parts of messages since counters were looked at
  std::uint64_t draw_ = 0;
  LonePiece lone_;
  std::vector<Id> routes_;
  std::vector<std::uint32_t> pi_;
  std::vector<std::uint32_t> pi_there_;  ///< of the messages whose opposites pi_ is of
  ValueCounters counters_;
  std::optional<ByteSeconds> seconds_;  ///< where rates matter
  std::vector<double> split_seconds_;   ///< of the messages of a piece
};

}  // namespace contend
