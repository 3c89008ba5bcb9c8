#include "contend/congestion/failures.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "channel_rates.hpp"
#include "contend/base/error.hpp"
#include "contend/base/progress.hpp"
#include "round_averages.hpp"
#include "worker.hpp"

namespace contend {

/// Counts the messages of one sample where parts of the fabric died: those that changed themselves,
/// and those on a channel whose load did. All others get what they get on the whole fabric.
class FailureJudge::Count {
 public:
  Count(const FailureJudge& judge, const Remains& rest)
      : judge_(judge), rest_(rest), more_(judge.tables_.fabric().switch_channels() + 1, 0) {}

  /// Starts with the loads of the whole fabric, and takes off those of hosts that are gone.
  /// Returns whether there are any.
  bool begin(std::size_t sample) {
    sample_ = sample;
    for (const ChannelId channel : touched_) more_[channel] = 0;
    touched_.clear();
    changed_.clear();
    if (rest_.hosts_left < rest_.host_gone.size()) {
      for (std::size_t m = judge_.begin_[sample]; m < judge_.begin_[sample + 1]; ++m) {
        if (is_gone(m)) change(static_cast<std::uint32_t>(m), -1, judge_.route(m));
      }
    }
    return !changed_.empty();
  }

  /// Takes messages off their routes and puts them on others.
  void turn(const Detours& detours) {
    for (const Detour& detour : detours.of_sample[sample_]) {
      change(detour.message, -1, judge_.route(detour.message));
      change(detour.message, 1, detours.route(detour));
    }
  }

  /// The mean of what messages get: 1/pi, or by the rates of channels. 1 where none is left.
  double bandwidth(const Detours& detours) {
    list_changed();
    return judge_.seconds_.empty() ? mean_by_pi(detours) : mean_by_rates(detours);
  }

 private:
  bool is_gone(std::size_t message) const {
    return rest_.host_gone[judge_.source_[message]] != 0 ||
           rest_.host_gone[judge_.target_[message]] != 0;
  }

  void change(std::uint32_t message, std::int32_t more, std::span<const ChannelId> route) {
    changed_.push_back(message);
    for (const ChannelId channel : route) {
      if (channel + std::size_t{1} == more_.size()) break;
      more_[channel] += more;
      touched_.push_back(channel);
    }
  }

  /// Adds those that share a channel with more or fewer than before.
  void list_changed() {
    const auto begin = static_cast<std::uint32_t>(judge_.begin_[sample_]);
    const auto end = static_cast<std::uint32_t>(judge_.begin_[sample_ + 1]);
    for (const ChannelId channel : touched_) {
      if (more_[channel] == 0) continue;
      const std::span<const std::uint32_t> across = judge_.across(channel);
      for (auto m = std::ranges::lower_bound(across, begin); m != across.end() && *m < end; ++m) {
        changed_.push_back(*m);
      }
    }
    std::ranges::sort(changed_);
    changed_.erase(std::ranges::unique(changed_).begin(), changed_.end());
  }

  /// Visits every message that changed with the channels of its route; none where it is gone.
  template <class Visit>
  void for_each_changed(const Detours& detours, const Visit& visit) const {
    const std::vector<Detour>& turned = detours.of_sample[sample_];
    auto detour = turned.begin();
    for (const std::uint32_t m : changed_) {
      while (detour != turned.end() && detour->message < m) ++detour;
      const bool turns = detour != turned.end() && detour->message == m;
      visit(m, turns ? detours.route(*detour) : judge_.route(m), is_gone(m));
    }
  }

  std::uint32_t load(ChannelId channel) const {
    const std::uint32_t whole = judge_.load_[sample_ * more_.size() + channel];
    return whole + static_cast<std::uint32_t>(more_[channel]);
  }

  double mean_by_pi(const Detours& detours) {
    by_pi_ = judge_.by_pi_[sample_];
    for_each_changed(detours, [&](std::uint32_t m, std::span<const ChannelId> route, bool gone) {
      --by_pi_[judge_.pi_[m]];
      if (gone) return;
      // A message that crosses no channel between switches still has its host's, all to itself.
      std::uint32_t pi = 1;
      for (const ChannelId channel : route) pi = std::max(pi, load(channel));
      if (pi >= by_pi_.size()) by_pi_.resize(pi + std::size_t{1}, 0);
      ++by_pi_[pi];
    });
    const RoundAverages averages = average(by_pi_);
    return averages.any ? averages.bandwidth : 1;
  }

  /// Sums up in the order of messages, so that digits do not depend on which changed.
  double mean_by_rates(const Detours& detours) const {
    std::size_t next = judge_.begin_[sample_];
    double messages = 0;
    double sum = 0;
    const auto add_up_to = [&](std::size_t end) {
      for (; next < end; ++next) {
        messages += 1;
        sum += judge_.share_[next];
      }
    };
    for_each_changed(detours, [&](std::uint32_t m, std::span<const ChannelId> route, bool gone) {
      add_up_to(m);
      ++next;
      if (gone) return;
      messages += 1;
      sum += judge_.share_by_rates(m, route, [&](std::size_t k) { return load(route[k]); });
    });
    add_up_to(judge_.begin_[sample_ + 1]);
    return messages > 0 ? sum / messages : 1;
  }

  const FailureJudge& judge_;
  const Remains& rest_;
  std::size_t sample_ = 0;
  std::vector<std::int32_t> more_;      ///< messages than on the whole fabric, by channel
  std::vector<ChannelId> touched_;      ///< channels where there may be
  std::vector<std::uint32_t> changed_;  ///< messages
  std::vector<std::uint64_t> by_pi_;
};

FailureJudge::FailureJudge(const Fabric& fabric, const Targets& targets, const Tables& tables,
                           const Pattern& pattern, std::span<const HostId> hosts,
                           const Samples& samples, std::span<const double> rate)
    : tables_(fabric, targets, tables),
      first_(targets.hosts.first.begin(), targets.hosts.first.end()) {
  if (pattern.rounds() != 1 || pattern.weighted() || pattern.shares_ends() ||
      pattern.sends_to_itself()) {
    throw Error("a pattern of one round of messages that share no host's end");
  }
  if (hosts.size() != pattern.ranks()) throw Error("a host for every rank");
  for (const HostId host : hosts) {
    if (host >= fabric.hosts()) throw Error("no host " + std::to_string(host) + " in the fabric");
  }
  if (std::uint64_t{samples.count} * hosts.size() > std::numeric_limits<std::uint32_t>::max()) {
    throw Error("fewer than 2^32 samples times ranks");
  }
  draw(pattern, hosts, samples);
  weigh(hosts, rate);
  sort_by_target();
  find_routes();
  list_across();
  count_whole();
}

void FailureJudge::draw(const Pattern& pattern, std::span<const HostId> hosts,
                        const Samples& samples) {
  Messages messages;
  begin_.push_back(0);
  for (const std::uint32_t k : InParts(samples.count)) {
    const std::uint64_t number = samples.first + k;
    RandomChoices random({samples.seed, number, kFirstRoundDraws});
    EnumeratedChoices enumerated(samples.enumerate ? number : 0);
    for (std::uint32_t piece = 0; piece < pattern.pieces(0); ++piece) {
      if (samples.enumerate) {
        pattern.fill(0, piece, enumerated, messages);
      } else {
        pattern.fill(0, piece, random, messages);
      }
      for (const Rank rank : messages.source) source_.push_back(hosts[rank]);
      for (const Rank rank : messages.target) target_.push_back(hosts[rank]);
    }
    sample_.resize(source_.size(), k);
    begin_.push_back(source_.size());
  }
}

/// Rates are those of the channels between switches, then of injection and ejection by rank.
void FailureJudge::weigh(std::span<const HostId> hosts, std::span<const double> rate) {
  if (rate.empty()) return;
  const Fabric& fabric = tables_.fabric();
  const ChannelRates rates(fabric.switch_channels(), hosts.size(), rate);
  seconds_ = rates.seconds_between(1);
  std::vector<Place> rank_of(fabric.hosts(), 0);
  for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
    rank_of[hosts[rank]] = static_cast<Place>(rank);
  }
  for (std::size_t m = 0; m < source_.size(); ++m) {
    alone_.push_back(rates.alone(rank_of[source_[m]], rank_of[target_[m]]));
  }
}

void FailureJudge::sort_by_target() {
  to_begin_.assign(tables_.fabric().hosts() + 1, 0);
  for (const HostId to : target_) ++to_begin_[to + 1];
  for (std::size_t h = 0; h + 1 < to_begin_.size(); ++h) to_begin_[h + 1] += to_begin_[h];
  std::vector<std::size_t> next(to_begin_.begin(), to_begin_.end() - 1);
  to_.resize(target_.size());
  for (std::uint32_t m = 0; m < target_.size(); ++m) {
    to_[next[target_[m]]++] = {m, tables_.fabric().host_switch(source_[m])};
  }
}

/// Follows a message by the ports for its target's address.
void FailureJudge::walk(std::span<const PortNumber> ports, const MendableTables::Destined& to,
                        std::uint32_t message, std::vector<ChannelId>& route) const {
  const Fabric& fabric = tables_.fabric();
  const SwitchId from = fabric.host_switch(source_[message]);
  const auto port = [&](SwitchId s) { return ports[s]; };
  if (trace(fabric, from, to.host, port, route).end == TraceEnd::delivered) return;
  throw Error("address " + std::to_string(to.address) + " cannot be reached from switch " +
              std::to_string(from));
}

void FailureJudge::find_routes() {
  const Fabric& fabric = tables_.fabric();
  std::vector<ChannelId> channels;
  std::vector<ChannelId> found;
  std::vector<std::size_t> end(source_.size(), 0);
  std::vector<std::size_t> begin(source_.size(), 0);
  std::vector<std::uint8_t> is_known(fabric.hosts(), 0);
  const auto addresses = tables_.addresses();
  for (const std::size_t i : InParts(addresses.size())) {
    const auto& to = addresses[i];
    if (to.host == MendableTables::kNoHost || to.address != first_[to.host]) continue;
    is_known[to.host] = 1;
    for (std::size_t k = to_begin_[to.host]; k < to_begin_[to.host + 1]; ++k) {
      const std::uint32_t m = to_[k].message;
      begin[m] = channels.size();
      walk(tables_.column(i), to, m, found);
      channels.insert(channels.end(), found.begin(), found.end());
      end[m] = channels.size();
      stride_ = std::max(stride_, end[m] - begin[m]);
    }
  }
  route_.assign(source_.size() * stride_, static_cast<ChannelId>(fabric.switch_channels()));
  for (std::size_t m = 0; m < source_.size(); ++m) {
    if (is_known[target_[m]] == 0 &&
        fabric.host_switch(source_[m]) != fabric.host_switch(target_[m])) {
      throw Error("no switch has a port for host " + std::to_string(target_[m]));
    }
    std::copy(channels.begin() + static_cast<std::ptrdiff_t>(begin[m]),
              channels.begin() + static_cast<std::ptrdiff_t>(end[m]),
              route_.begin() + static_cast<std::ptrdiff_t>(m * stride_));
  }
}

/// Which messages cross every channel, each list in their order.
void FailureJudge::list_across() {
  const std::size_t channels = tables_.fabric().switch_channels();
  const auto visit = [&](const auto& each) {
    for (const std::size_t m : InParts(source_.size())) {
      for (const ChannelId channel : route(m)) {
        if (channel < channels) each(channel, static_cast<std::uint32_t>(m));
      }
    }
  };
  across_begin_.assign(channels + 1, 0);
  visit([&](ChannelId channel, std::uint32_t) { ++across_begin_[channel + 1]; });
  for (std::size_t c = 0; c < channels; ++c) across_begin_[c + 1] += across_begin_[c];
  across_.resize(across_begin_.back());
  std::vector<std::size_t> next(across_begin_.begin(), across_begin_.end() - 1);
  visit([&](ChannelId channel, std::uint32_t m) { across_[next[channel]++] = m; });
}

template <class Load>
double FailureJudge::share_by_rates(std::size_t message, std::span<const ChannelId> route,
                                    const Load& load) const {
  // Seconds a byte: alone between the two ports, and beside the others.
  const double alone = alone_[message];
  return alone / seconds_beside(route.data(), route.size(), seconds_.data(), alone, load);
}

void FailureJudge::count_whole() {
  const std::size_t channels = tables_.fabric().switch_channels() + 1;
  const std::size_t samples = begin_.size() - 1;
  const bool by_rates = !seconds_.empty();
  load_.assign(samples * channels, 0);
  (by_rates ? share_.resize(source_.size()) : pi_.resize(source_.size()));
  by_pi_.resize(samples);
  const Remains all(tables_.fabric());
  Count count(*this, all);
  const Detours none{std::vector<std::vector<Detour>>(samples), {}};
  for (const std::size_t sample : InParts(samples)) {
    std::uint32_t* load = load_.data() + sample * channels;
    for (std::size_t m = begin_[sample]; m < begin_[sample + 1]; ++m) {
      for (const ChannelId channel : route(m)) ++load[channel];
    }
    load[channels - 1] = 0;
    for (std::size_t m = begin_[sample]; m < begin_[sample + 1]; ++m) {
      if (by_rates) {
        share_[m] = share_by_rates(m, route(m), [&](std::size_t k) { return load[route(m)[k]]; });
        continue;
      }
      std::uint32_t pi = 1;
      for (const ChannelId channel : route(m)) pi = std::max(pi, load[channel]);
      pi_[m] = pi;
      by_pi_[sample].resize(std::max<std::size_t>(by_pi_[sample].size(), pi + std::size_t{1}), 0);
      ++by_pi_[sample][pi];
    }
    count.begin(sample);
    whole_.push_back(count.bandwidth(none));
  }
}

bool FailureJudge::is_same(std::size_t message, std::span<const ChannelId> found) const {
  const auto before = route(message);
  if (found.size() > before.size()) return false;
  const bool as_long =
      found.size() == before.size() || before[found.size()] == tables_.fabric().switch_channels();
  return as_long && std::equal(found.begin(), found.end(), before.begin());
}

void FailureJudge::find_detours(std::span<const PortNumber> ports,
                                const MendableTables::Destined& to,
                                std::span<const std::uint8_t> is_lost, const Remains& rest,
                                Detours& detours) const {
  std::vector<ChannelId>& channels = detours.channels;
  std::vector<ChannelId> found;
  for (std::size_t k = to_begin_[to.host]; k < to_begin_[to.host + 1]; ++k) {
    if (is_lost[to_[k].from] == 0) continue;
    const std::uint32_t m = to_[k].message;
    if (rest.host_gone[source_[m]] != 0) continue;
    walk(ports, to, m, found);
    if (is_same(m, found)) continue;
    const std::size_t begin = channels.size();
    channels.insert(channels.end(), found.begin(), found.end());
    detours.of_sample[sample_[m]].push_back(
        {m, static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(channels.size())});
  }
}

FailureCost FailureJudge::judge(const Losses& losses) const {
  const Remains rest(tables_.fabric(), losses);
  FailureCost cost;
  cost.hosts_left = rest.hosts_left;
  if (rest.hosts_left < 2) return cost;
  const std::size_t samples = begin_.size() - 1;
  Detours detours{std::vector<std::vector<Detour>>(samples), {}};
  Mending mending(tables_, rest);
  std::vector<std::uint8_t> is_lost(tables_.fabric().switches(), 0);
  for (const std::uint32_t i : mending.broken()) {
    const std::size_t changed = mending.changed();
    const auto ports = mending.mend(i);
    const auto& to = tables_.addresses()[i];
    if (mending.changed() == changed || to.host == MendableTables::kNoHost) continue;
    if (to.address != first_[to.host]) continue;
    for (const SwitchId s : mending.lost()) is_lost[s] = 1;
    find_detours(ports, to, is_lost, rest, detours);
    for (const SwitchId s : mending.lost()) is_lost[s] = 0;
  }
  cost.changed = mending.changed();
  cost.before = cost.after = whole_;
  // Found address by address; counted message by message.
  for (std::vector<Detour>& turned : detours.of_sample) {
    std::ranges::sort(turned, {}, &Detour::message);
  }
  const Detours none{std::vector<std::vector<Detour>>(samples), {}};
  Count count(*this, rest);
  for (const std::size_t sample : InParts(samples)) {
    const bool any_turned = !detours.of_sample[sample].empty();
    if (!any_turned && rest.hosts_left == rest.host_gone.size()) continue;
    if (count.begin(sample)) cost.before[sample] = cost.after[sample] = count.bandwidth(none);
    if (!any_turned) continue;
    count.turn(detours);
    cost.after[sample] = count.bandwidth(detours);
  }
  return cost;
}

}  // namespace contend
