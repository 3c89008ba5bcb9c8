#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <span>
#include <thread>
#include <tuple>
#include <vector>

#include "../../routes/test/random_fabric.hpp"
#include "../../routes/test/small_ring.hpp"
#include "../src/circle.hpp"
#include "contend/packets/packets.hpp"

using namespace contend;

namespace {

/// One switch, and the messages between its hosts.
struct Crossbar {
  explicit Crossbar(HostId hosts)
      : fabric(std::vector<SwitchId>(hosts, 0), ports_from(1, hosts), {PortNumber(hosts)}, {}),
        first(hosts),
        lmc(hosts, 0),
        ports(ports_from(0, hosts + 1)) {
    std::vector<HostId> all(hosts);
    for (HostId h = 0; h < hosts; ++h) first[all[h] = h] = h + 1;
    resolver =
        make_tabled_resolver(fabric, {ports.data(), 1, ports.size()}, {first, lmc}, {all, false});
  }

  static std::vector<PortNumber> ports_from(unsigned begin, unsigned count) {
    std::vector<PortNumber> ports(count);
    for (unsigned k = 0; k < count; ++k) ports[k] = static_cast<PortNumber>(begin + k);
    return ports;
  }

  void send(Place from, Place to, unsigned times = 1) {
    source.insert(source.end(), times, from);
    target.insert(target.end(), times, to);
  }

  PacketFlows run(const PacketModel& model) const {
    const PacketRoutes routes = packet_routes(*resolver, source, target, 0);
    return packet_flows(routes, std::vector<double>(routes.channels, 1e9), model);
  }

  Fabric fabric;
  std::vector<Address> first;
  std::vector<std::uint8_t> lmc;
  std::vector<PortNumber> ports;
  std::unique_ptr<Resolver> resolver;
  std::vector<Place> source;
  std::vector<Place> target;
};

double sum(const std::vector<double>& shares) {
  double all = 0;
  for (const double share : shares) all += share;
  return all;
}

/// What n inputs that always have a packet for any of n outputs get of these.
double saturated(unsigned n, Queueing queueing, std::uint32_t buffer, double until) {
  Crossbar crossbar(2 * n);
  for (Place from = 0; from < n; ++from) {
    for (Place to = 0; to < n; ++to) crossbar.send(from, n + to);
  }
  PacketModel model;
  model.queueing = queueing;
  model.buffer = buffer;
  model.drawn = true;
  model.until = until;
  return sum(crossbar.run(model).share) / n;
}

/// The same network by a list of all events in the order of their time, and queues of packets by
/// value: slow, and plain.
class PlainNetwork {
 public:
  PlainNetwork(const PacketRoutes& routes, const PacketModel& model)
      : routes_(routes),
        model_(model),
        eject_(routes.channels - routes.places),
        inject_(routes.channels - 2 * routes.places),
        channels_(routes.channels * routes.lanes),
        arrived_(routes.first.size() - 1, 0),
        ended_(arrived_.size(), 0) {
    takes_ = std::llround(model.packet_bytes / 1e9 * 1e12);
    latency_ = std::llround(model.latency * 1e12);
    // All cables are as long.
    flight_ = model.flight.empty() ? 0 : std::llround(model.flight[0] * 1e12);
  }

  /// When the last packet of every message has come; 0 where it never does.
  std::vector<std::int64_t> run() {
    for (std::size_t m = 0; m < arrived_.size(); ++m) {
      left_.push_back(model_.message_packets);
      of_host_[routes_.channel[routes_.first[m]] % routes_.channels].push_back(m);
    }
    for (const auto& [channel, _] : of_host_) {
      at(0, 0, [this, c = channel] { serve(c); });
    }
    while (!events_.empty()) {
      const auto first = events_.begin();
      const auto happens = first->second;
      now_ = std::get<0>(first->first);
      events_.erase(first);
      happens();
    }
    return ended_;
  }

  bool empty() const {
    for (const Channel& channel : channels_) {
      if (!channel.buffer.empty() || channel.taken != 0) return false;
    }
    return true;
  }

 private:
  struct Packet {
    std::size_t message;
    std::size_t hop;  ///< of its route: the channel that it came over
  };
  /// On one lane.
  struct Channel {
    std::deque<Packet> buffer;
    std::deque<std::pair<std::int64_t, std::size_t>> waiting;  ///< since when, and where
    std::uint32_t taken = 0;
    bool busy = false;  ///< on any lane, of the first
  };

  void at(std::int64_t time, int kind, std::function<void()> what) {
    events_.emplace(std::make_tuple(time, kind, count_++), std::move(what));
  }

  std::size_t channel_of(const Packet& packet, std::size_t further) const {
    return routes_.channel[routes_.first[packet.message] + packet.hop + further];
  }
  bool full(std::size_t on) const {
    return on % routes_.channels < eject_ && channels_[on].taken == model_.buffer;
  }

  void serve(std::size_t c) {
    if (channels_[c].busy) return;
    Packet packet{0, 0};
    std::size_t from = c;
    std::size_t on = c;
    if (c >= inject_ && c < eject_) {
      auto& mine = of_host_[c];
      std::erase_if(mine, [&](std::size_t m) { return left_[m] == 0; });
      const auto next = std::find_if(mine.begin(), mine.end(),
                                     [&](std::size_t m) { return !full(channel_of({m, 0}, 0)); });
      if (next == mine.end()) return;
      packet.message = *next;
      on = channel_of(packet, 0);
      --left_[packet.message];
      std::rotate(mine.begin(), next + 1, mine.end());
    } else {
      std::int64_t longest = now_ + 1;
      for (std::size_t lane = c; lane < channels_.size(); lane += routes_.channels) {
        const auto& waiting = channels_[lane].waiting;
        if (waiting.empty() || full(lane) || waiting.front().first >= longest) continue;
        longest = waiting.front().first;
        on = lane;
      }
      if (longest > now_) return;
      from = channels_[on].waiting.front().second;
      channels_[on].waiting.pop_front();
      packet = channels_[from].buffer.front();
      ++packet.hop;
    }
    channels_[c].busy = true;
    if (c < eject_) {
      ++channels_[on].taken;
      at(now_ + flight_ + latency_, 2, [this, packet, on] {
        channels_[on].buffer.push_back(packet);
        if (channels_[on].buffer.size() == 1) ask(on);
      });
    }
    at(now_ + takes_, 1, [this, packet, c, from] {
      channels_[c].busy = false;
      if (c >= eject_ && ++arrived_[packet.message] == model_.message_packets) {
        ended_[packet.message] = now_;
      }
      if (from != c) {
        channels_[from].buffer.pop_front();
        if (!channels_[from].buffer.empty()) ask(from);
        const auto frees = [this, from] {
          --channels_[from].taken;
          serve(from % routes_.channels);
        };
        if (flight_ > 0) {
          at(now_ + flight_, 3, frees);
        } else {
          frees();
        }
      }
      serve(c);
    });
  }

  /// The first packet of a buffer wants to go on.
  void ask(std::size_t from) {
    const std::size_t to = channel_of(channels_[from].buffer.front(), 1);
    channels_[to].waiting.emplace_back(now_, from);
    serve(to % routes_.channels);
  }

  const PacketRoutes& routes_;
  PacketModel model_;
  std::size_t eject_;
  std::size_t inject_;
  std::vector<Channel> channels_;
  std::vector<std::uint32_t> arrived_;
  std::vector<std::int64_t> ended_;
  std::vector<std::uint32_t> left_;
  std::map<std::size_t, std::deque<std::size_t>> of_host_;
  std::map<std::tuple<std::int64_t, int, std::uint64_t>, std::function<void()>> events_;
  std::uint64_t count_ = 0;
  std::int64_t now_ = 0;
  std::int64_t takes_ = 0;
  std::int64_t latency_ = 0;
  std::int64_t flight_ = 0;
};

}  // namespace

TEST_CASE("a saturated crossbar with one queue an input gets what Karol et al. found in 1987") {
  // Karol, Hluchyj and Morgan: "Input versus output queueing on a space-division packet switch",
  // IEEE Transactions on Communications 35 (12), table I.
  const std::map<unsigned, double> published = {{2, .7500}, {3, .6825}, {4, .6553}, {8, .6184}};
  for (const auto& [n, share] : published) {
    CHECK(std::abs(saturated(n, Queueing::kInOrder, 64, 30000) - share) < .003);
  }
  // Its limit for large switches is 2 - sqrt(2).
  const double large = saturated(64, Queueing::kInOrder, 64, 3000);
  CHECK(large > .585);
  CHECK(large < .593);
}

TEST_CASE("queues for every output let a saturated crossbar carry nearly all") {
  CHECK(saturated(16, Queueing::kByOutput, 64, 6000) >= .98);
}

TEST_CASE("hot spots take what Pfister and Norton's bound leaves") {
  // "Hot spot" contention and combining in multistage interconnection networks, IEEE Transactions
  // on Computers 34 (10), 1985: with a part h of all packets for one of n hosts, each sends at most
  // 1 / (1 + h (n - 1)), since that host takes in one packet at a time.
  constexpr unsigned n = 64;
  for (const unsigned per : {32U, 16U, 8U, 4U}) {
    Crossbar crossbar(2 * n);
    for (Place from = 0; from < n; ++from) {
      for (Place to = 0; to < n; ++to) crossbar.send(from, n + to, per - 1);
      crossbar.send(from, n, n);
    }
    PacketModel model;
    model.drawn = true;
    model.from = 1500;
    model.until = 31500;
    const PacketFlows found = crossbar.run(model);
    double hot = 0;
    for (std::size_t m = 0; m < found.share.size(); ++m) {
      if (crossbar.target[m] == n) hot += found.share[m];
    }
    // Of 30,000 packets for the hot host, the part that was drawn is right within a percent. The
    // bound by that very part says that the host never waits for one.
    const double drawn = (n * hot / sum(found.share) - 1) / (n - 1);
    CHECK(drawn == doctest::Approx(1.0 / per).epsilon(.02));
    CHECK(hot > .98);
    CHECK(hot < 1.0001);
  }
}

TEST_CASE("a message is held up by one that it shares a trunk with, whose target others want") {
  for (const unsigned rivals : {1U, 2U, 3U}) {
    // Hosts 0 and 1 on the first switch, 2 and 3 and the rivals on the second; 0 -> 2, 1 -> 3 and
    // every rival -> 2. The trunk has room for both.
    const auto hosts = static_cast<HostId>(4 + rivals);
    std::vector<SwitchId> at(hosts, 1);
    at[0] = at[1] = 0;
    std::vector<PortNumber> port{1, 2};
    for (HostId h = 2; h < hosts; ++h) port.push_back(static_cast<PortNumber>(h - 1));
    const auto trunk = static_cast<PortNumber>(hosts);
    const Fabric fabric(at, port, {trunk, trunk}, {{0, trunk, 1, trunk}});
    std::vector<Address> first(hosts);
    const std::vector<std::uint8_t> lmc(hosts, 0);
    std::vector<PortNumber> ports(2 * (hosts + 1), trunk);
    std::vector<HostId> all(hosts);
    for (HostId h = 0; h < hosts; ++h) {
      first[all[h] = h] = h + 1;
      ports[at[h] * (hosts + 1) + h + 1] = port[h];
    }
    const auto resolver =
        make_tabled_resolver(fabric, {ports.data(), 2, hosts + 1U}, {first, lmc}, {all, false});
    std::vector<Place> source{0, 1};
    std::vector<Place> target{2, 3};
    for (Place rival = 4; rival < hosts; ++rival) {
      source.push_back(rival);
      target.push_back(2);
    }
    const PacketRoutes routes = packet_routes(*resolver, source, target, 0);
    const std::vector<double> rate(routes.channels, 1e9);
    PacketModel model;
    model.from = 2000;
    model.until = 12000;
    model.watched = {0};
    for (const Queueing queueing : {Queueing::kInOrder, Queueing::kByOutput}) {
      model.queueing = queueing;
      model.buffer = 16;
      const PacketFlows found = packet_flows(routes, rate, model);
      CHECK(std::abs(found.share[1] - 1.0 / (rivals + 1)) < .002);
      CHECK(found.circle.empty());
      // The trunk carries two of 1 / (k + 1) of its rate and stands still for the rest.
      if (rivals > 1) {
        CHECK(found.busy[0] == doctest::Approx(2.0 / (rivals + 1)).epsilon(.01));
        CHECK(found.busy[0] + found.blocked[0] == doctest::Approx(1).epsilon(.01));
      }
      // At its far end the buffer of 16 is full but for what is on its way out, or in.
      double packets = 0;
      for (const PacketWait& wait : found.waits) {
        if (wait.over != 0) continue;
        packets += wait.packets;
        CHECK(wait.on == routes.channels - routes.places + (wait.message == 0 ? 2 : 3));
        // In one queue the second message's packets are held, though they never wait as the first.
        if (wait.message == 1 && rivals > 1) {
          CHECK(wait.first == doctest::Approx(0));
          if (queueing == Queueing::kInOrder) CHECK(wait.packets > 5);
        }
      }
      if (rivals > 1) {
        CHECK(packets > 13);
        CHECK(packets < 16);
      }
    }
    // Without a limit, and with queues of their own, nothing but the trunk holds it up.
    model.buffer = 0;
    CHECK(std::abs(packet_flows(routes, rate, model).share[1] - .5) < .002);
  }
}

TEST_CASE("a ring whose buffers fill locks up, and its circle is told") {
  const contend::test::ClockwiseRing ring(8);
  std::vector<HostId> all(8);
  for (HostId h = 0; h < 8; ++h) all[h] = h;
  const auto resolver =
      make_tabled_resolver(ring.fabric, ring.tables(), ring.addresses(), {all, false});
  std::vector<Place> target;
  for (Place h = 0; h < 8; ++h) target.push_back((h + 3) % 8);
  const PacketRoutes routes = packet_routes(*resolver, all, target, 0);
  const std::vector<double> rate(routes.channels, 1e9);
  // Those over the last cable on a lane of their own leave no circle on either.
  const std::vector<std::uint8_t> lane{0, 0, 0, 0, 0, 1, 1, 1};
  const PacketRoutes laned = packet_routes(*resolver, all, target, 0, lane);
  for (const Queueing queueing : {Queueing::kInOrder, Queueing::kByOutput}) {
    PacketModel model;
    model.queueing = queueing;
    const PacketFlows found = packet_flows(routes, rate, model);
    CHECK(found.circle == std::vector<std::uint32_t>{0, 2, 4, 6, 8, 10, 12, 14});
    CHECK(sum(found.share) < .01);
    const PacketFlows on_lanes = packet_flows(laned, rate, model);
    CHECK(on_lanes.circle.empty());
    // Where ways merge each takes turns with all that came before, so they do not get a third each.
    CHECK(sum(on_lanes.share) > 8 * .2);
    CHECK(*std::max_element(on_lanes.busy.begin(), on_lanes.busy.end()) <= 1);
    // With room for all nothing does.
    model.buffer = 0;
    CHECK(packet_flows(routes, rate, model).circle.empty());
  }
}

TEST_CASE("messages of random fabrics go as by a plain list of events, and all arrive") {
  for (std::uint32_t seed = 1; seed <= 18; ++seed) {
    const auto on = contend::test::make_random_fabric(seed, 6, 14, 12);
    std::vector<HostId> hosts(14);
    for (HostId h = 0; h < 14; ++h) hosts[h] = h;
    const auto resolver =
        make_tabled_resolver(on.fabric, on.tables(), on.addresses(), {hosts, false});
    std::mt19937 engine(seed);
    std::vector<Place> source;
    std::vector<Place> target;
    for (int m = 0; m < 25; ++m) {
      source.push_back(static_cast<Place>(engine() % 14));
      target.push_back((source.back() + 1 + static_cast<Place>(engine() % 13)) % 14);
    }
    // On one lane, or each on one of three.
    std::vector<std::uint8_t> lane(seed > 6 ? source.size() : 0);
    for (std::uint8_t& one : lane) one = static_cast<std::uint8_t>(engine() % 3);
    const PacketRoutes routes = packet_routes(*resolver, source, target, 0, lane);
    const std::vector<double> rate(routes.channels, 1e9);
    PacketModel model;
    model.buffer = 3;
    model.message_packets = 40;
    model.together = true;
    if (seed > 12) model.flight.assign(routes.channels, 7e-6);
    const PacketFlows found = packet_flows(routes, rate, model);
    PlainNetwork plain(routes, model);
    const auto ended = plain.run();
    CHECK(plain.empty() == found.circle.empty());
    for (std::size_t m = 0; m < ended.size(); ++m) {
      if (ended[m] == 0) {
        CHECK(!found.circle.empty());
      } else {
        const double took = 40 * 4096 / 1e9 / found.share[m];
        CHECK(took == doctest::Approx(static_cast<double>(ended[m]) / 1e12).epsilon(1e-9));
      }
    }
  }
}

TEST_CASE(
    "packets by detours all arrive, however small buffers are, and go straight where they can") {
  const Fabric ring = contend::test::ClockwiseRing::build(8);
  const Places places{contend::test::in_order(8), false};
  const std::vector<std::uint32_t> alike(ring.switch_channels(), 0);
  std::vector<Place> target;
  for (Place h = 0; h < 8; ++h) target.push_back((h + 3) % 8);
  for (const bool adapts : {false, true}) {
    const auto detours =
        std::make_shared<Detours>(ring, places, std::span<const std::uint32_t>{}, alike, adapts);
    // Four hops to a stop at most, and four on, each on a lane of its own.
    CHECK(detours->lanes() == 8);
    CHECK(detours->longest() == 10);
    for (const Queueing queueing : {Queueing::kInOrder, Queueing::kByOutput}) {
      PacketModel model;
      model.queueing = queueing;
      model.buffer = 1;
      model.message_packets = 500;
      const PacketRoutes routes = packet_routes(detours, places.hosts, target);
      const std::vector<double> rate(routes.channels, 1e9);
      const PacketFlows found = packet_flows(routes, rate, model);
      CHECK(found.circle.empty());
      // A stop is two hops away in the mean, and so is the target from there.
      const double hops = static_cast<double>(found.hops) / (8 * 500) - 2;
      if (!adapts) CHECK(std::abs(hops - 4) < .1);
      CHECK(*std::min_element(found.share.begin(), found.share.end()) > .2);
      CHECK(found.crossed.size() == found.crossed_by.size());
      // Alone a packet meets no queue, and the shorter way is the straight one.
      const PacketRoutes lone =
          packet_routes(detours, std::vector<Place>{0}, std::vector<Place>{3});
      model.message_packets = 1;
      if (adapts) CHECK(packet_flows(lone, rate, model).hops == 5);
    }
  }
}

TEST_CASE("threads that carry packets of the same routes find the same") {
  // As samples are, which read the same routes, and ways that detours draw.
  const Fabric ring = contend::test::ClockwiseRing::build(8);
  const Places places{contend::test::in_order(8), false};
  const std::vector<std::uint32_t> alike(ring.switch_channels(), 0);
  const auto detours =
      std::make_shared<Detours>(ring, places, std::span<const std::uint32_t>{}, alike, true);
  std::vector<Place> target;
  for (Place h = 0; h < 8; ++h) target.push_back((h + 3) % 8);
  const PacketRoutes routes = packet_routes(detours, places.hosts, target);
  const std::vector<double> rate(routes.channels, 1e9);
  PacketModel model;
  model.message_packets = 100;
  std::vector<PacketFlows> found(4);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < found.size(); ++t) {
    threads.emplace_back([&, t] {
      PacketModel mine = model;
      mine.queueing = t % 2 == 0 ? Queueing::kInOrder : Queueing::kByOutput;
      found[t] = packet_flows(routes, rate, mine);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::size_t t = 0; t < 2; ++t) {
    CHECK(found[t].share == found[t + 2].share);
    CHECK(found[t].crossed == found[t + 2].crossed);
  }
}

TEST_CASE("packets of several flows take turns, and flows a way each") {
  // Two cables between two switches; by hashes the flows of a message part, or do not.
  const Fabric fabric({0, 1}, {1, 1}, {3, 3}, {{0, 2, 1, 2}, {0, 3, 1, 3}});
  const Places places{{0, 1}, false};
  const auto resolver =
      make_hashed_resolver(fabric, places, next_hops(fabric, places), Hashing{8, false});
  const std::vector<Place> source{0};
  const std::vector<Place> target{1};
  const PacketRoutes routes = packet_routes(*resolver, source, target, 5);
  std::vector<std::uint32_t> written(resolver->stride());
  resolver->resolve_drawn(source, target, 5, written.data());
  const auto over_first = std::count(written.begin(), written.end(), 0U);
  PacketModel model;
  model.message_packets = 800;
  const PacketFlows found = packet_flows(routes, std::vector<double>(routes.channels, 1e9), model);
  // 800 packets in the time that the message takes, of which every flow has 100.
  CHECK(found.busy[0] / (found.busy[0] + found.busy[2]) ==
        doctest::Approx(static_cast<double>(over_first) / 8));
  CHECK(found.share[0] > .99);
}

TEST_CASE("a fast channel behind a slow one never runs out of a packet's bits") {
  Crossbar crossbar(2);
  crossbar.send(0, 1);
  const PacketRoutes routes =
      packet_routes(*crossbar.resolver, crossbar.source, crossbar.target, 0);
  PacketModel model;
  model.message_packets = 1;
  // A packet of 4,096 ns on the way in and 1,024 on the way out ends with its last bit.
  const PacketFlows found = packet_flows(routes, std::vector<double>{1e9, 1e9, 4e9, 4e9}, model);
  CHECK(found.share[0] == doctest::Approx(4096 / (4096 + 150.0)).epsilon(.3));
  CHECK_THROWS_WITH(packet_flows(routes, std::vector<double>{1e9, 1e9, 0, 4e9}, model),
                    "rates above 0");
  CHECK_THROWS_WITH(packet_flows(routes, std::vector<double>{1e9}, model),
                    "a rate for every channel");
}

TEST_CASE("a buffer that does not cover the way there and back leaves its part of the rate") {
  // Word of room comes back when a packet has gone along the cable, through the switch, all of it
  // out, and the word along the cable again; meanwhile a sender has as many packets as there is
  // room.
  Crossbar crossbar(2);
  crossbar.send(0, 1);
  const PacketRoutes routes =
      packet_routes(*crossbar.resolver, crossbar.source, crossbar.target, 0);
  const std::vector<double> rate(routes.channels, 1e9);
  PacketModel model;
  model.flight.assign(routes.channels, 10e-6);
  const double packet = 4096 / 1e9;
  const double trip = 2 * 10e-6 + model.latency + packet;
  for (const std::uint32_t buffer : {1U, 2U, 4U, 5U, 6U, 8U}) {
    model.buffer = buffer;
    const double share = packet_flows(routes, rate, model).share[0];
    CHECK(share == doctest::Approx(std::min(1.0, buffer * packet / trip)).epsilon(.01));
  }
  model.flight.pop_back();
  CHECK_THROWS_WITH(packet_flows(routes, rate, model), "a time for every cable");
}

TEST_CASE("full channels that wait for each other are no circle while a packet may still leave") {
  using namespace contend::packets;
  // Channel 0's packets wait for 1, and 1's for 0; both far ends are full.
  PacketRoutes routes;
  routes.channels = 2;
  Buffers channels(routes, 1, false);
  for (std::uint32_t c = 0; c < 2; ++c) {
    channels[c].room = 0;
    channels[1 - c].waiting = {c, c};
  }
  const auto circle = [&](std::vector<std::uint8_t> moves) {
    return waiting_circle(channels, moves, 2, 2);
  };
  CHECK(circle({0, 0}) == std::vector<std::uint32_t>{0, 1});
  CHECK(circle({0, 1}).empty());
  channels[1].room = 1;
  CHECK(circle({0, 0}).empty());
}
