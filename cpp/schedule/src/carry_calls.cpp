#include "contend/schedule/carry_calls.hpp"

#include <cmath>
#include <string>
#include <utility>

#include "call_carrier.hpp"
#include "contend/base/error.hpp"
#include "contend/packets/transfers.hpp"

namespace contend {

namespace {

/// Bytes that a message over TCP has beside its own.
constexpr double kEnvelope = 64;
/// Bytes that a host takes over from a rank there.
constexpr double kTaken = 64 << 10;

void check(const Schedule& schedule, const Calls& calls, std::size_t channels) {
  const std::size_t ranks = calls.place_of_rank.size();
  for (const std::uint32_t rank : schedule.rank_of_strand) {
    if (rank >= ranks) throw Error("rank " + std::to_string(rank) + " has no place");
  }
  if (calls.rate.size() != channels) throw Error("a rate for every channel");
  if (ranks == 0 || calls.starts.empty() || calls.starts.size() % ranks != 0) {
    throw Error("when every rank begins every call");
  }
}

/// Calls look(starts) for every call, until it is false.
template <class Look>
void for_each_call(const Calls& calls, const Look& look) {
  const std::size_t ranks = calls.place_of_rank.size();
  for (std::size_t begin = 0; begin < calls.starts.size(); begin += ranks) {
    if (!look(calls.starts.subspan(begin, ranks))) return;
  }
}

}  // namespace

StreamedOutcome carry_streams(const Schedule& schedule, const Resolver& resolver,
                              const StreamedCalls& calls) {
  check(schedule, calls, resolver.switch_channels() + 2 * resolver.places());
  const std::vector<Match> matches = match(schedule);
  const RankStreams pairs(schedule, matches, calls, false);
  const Crossings routes(resolver, pairs.source, pairs.target);
  Streams streams(
      routes, pairs.back, calls.model,
      DroppingPorts(calls.rate, resolver.places(), calls.model.queues, calls.switch_of));
  const double payload = calls.model.payload;
  CallCarrier carrier(schedule, matches, pairs, calls.eager,
                      {kEnvelope, static_cast<std::uint32_t>(kTaken / payload), payload}, streams);
  streams.listen(carrier);
  StreamedOutcome outcome;
  StreamCounts& counts = streams.counts();
  const auto channels = static_cast<std::uint32_t>(counts.drops.size());
  for_each_call(calls, [&](std::span<const double> starts) {
    counts.first_channel = kNone;
    const std::uint64_t before = counts.timeouts;
    const std::optional<double> seconds = carrier.carry_out(starts);
    if (!seconds) carrier.refuse();
    outcome.seconds.push_back(*seconds);
    outcome.timeouts.push_back(counts.timeouts - before);
    const bool none = counts.first_channel == kNone;
    outcome.first_channel.push_back(none ? channels : counts.first_channel);
    outcome.first_at.push_back(none ? 0 : counts.first_at - carrier.first());
    return !(calls.until_timeout && outcome.timeouts.back() > 0);
  });
  outcome.drops = counts.drops;
  for (std::uint32_t c = 0; c < channels; ++c) outcome.most.push_back(streams.ports().most(c));
  return outcome;
}

StreamEnds stream_ends(const Schedule& schedule, const Calls& calls) {
  RankStreams pairs(schedule, match(schedule), calls, true);
  return {std::move(pairs.source), std::move(pairs.target), pairs.first_short};
}

LosslessOutcome carry_lossless(const Schedule& schedule, const PacketRoutes& routes,
                               const LosslessCalls& calls) {
  check(schedule, calls, routes.channels);
  const std::vector<Match> matches = match(schedule);
  const RankStreams pairs(schedule, matches, calls, true);
  if (routes.first.size() != pairs.source.size() + 1) throw Error("routes of every stream");
  Transfers transfers(routes, calls.rate, calls.model, {pairs.first_short, kShortMessage});
  CallCarrier carrier(schedule, matches, pairs, calls.eager,
                      {0, 0, calls.model.packet_bytes, calls.overhead}, transfers);
  transfers.listen(carrier);
  LosslessOutcome outcome;
  bool stuck = false;
  for_each_call(calls, [&](std::span<const double> starts) {
    const std::optional<double> seconds = carrier.carry_out(starts);
    stuck = !seconds;
    if (!stuck) outcome.seconds.push_back(*seconds);
    return !stuck;
  });
  PacketFlows found = transfers.results();
  if (stuck && found.circle.empty()) carrier.refuse();
  outcome.busy = std::move(found.busy);
  outcome.blocked = std::move(found.blocked);
  outcome.circle = std::move(found.circle);
  outcome.hops = found.hops;
  return outcome;
}

}  // namespace contend
