#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>
#include <vector>

#include "../../routes/test/small_ring.hpp"
#include "contend/base/error.hpp"
#include "contend/packets/streams.hpp"

using namespace contend;

namespace {

constexpr double kRate = 125e6;

/// A ring that is walked clockwise, a host at each switch, and streams each way between pairs.
struct Streamed final : Transport::Listener {
  Streamed(SwitchId size, const std::vector<Place>& from, const std::vector<Place>& to,
           const StreamModel& model)
      : ring(size),
        resolver(make_tabled_resolver(ring.fabric, ring.tables(), ring.addresses(),
                                      {contend::test::in_order(size), false})) {
    std::vector<Place> source = from;
    std::vector<Place> target = to;
    source.insert(source.end(), to.begin(), to.end());
    target.insert(target.end(), from.begin(), from.end());
    std::vector<std::uint32_t> back(source.size());
    for (std::uint32_t s = 0; s < back.size(); ++s) {
      back[s] = static_cast<std::uint32_t>((s + from.size()) % back.size());
    }
    routes = std::make_unique<Crossings>(*resolver, source, target);
    const std::vector<double> rate(routes->channels(), kRate);
    streams = std::make_unique<Streams>(*routes, back, model,
                                        DroppingPorts(rate, size, model.queues, {}));
    streams->listen(*this);
    ended.assign(back.size(), 0);
    packets.assign(back.size(), 0);
  }

  void come(std::uint32_t stream, std::uint32_t count) override {
    packets[stream] = count;
    ended[stream] = streams->now();
  }
  void known(std::uint32_t, std::uint32_t) override {}
  void run(double until = std::numeric_limits<double>::infinity()) {
    while (streams->step(until)) {
    }
  }
  std::uint64_t drops() const {
    const auto& all = streams->counts().drops;
    return std::accumulate(all.begin(), all.end(), std::uint64_t{0});
  }

  contend::test::ClockwiseRing ring;
  std::unique_ptr<Resolver> resolver;
  std::unique_ptr<Crossings> routes;
  std::unique_ptr<Streams> streams;
  std::vector<double> ended;
  std::vector<std::uint32_t> packets;
};

constexpr double kPacket = (1448 + 90) / kRate;

}  // namespace

TEST_CASE("a stream whose window covers its way takes the bytes over the rate") {
  Streamed on(3, {0}, {1}, {});
  CHECK(on.streams->write(0, 1448 * 1000) == 1000);
  on.run();
  CHECK(on.packets[0] == 1000);
  // Each packet waits for all of it at each of two switches.
  CHECK(on.ended[0] == doctest::Approx(1002 * kPacket).epsilon(1e-3));
  CHECK(on.drops() == 0);
  CHECK(on.streams->counts().timeouts == 0);
}

TEST_CASE("streams that meet before a host share its port, and buffers that are too small drop") {
  StreamModel model;
  for (const double buffer : {0.0, 32e3}) {
    model.queues.buffer = buffer;
    Streamed on(4, {0, 1, 2}, {3, 3, 3}, model);
    for (std::uint32_t s = 0; s < 3; ++s) on.streams->write(s, 1448 * 400);
    on.run();
    for (std::uint32_t s = 0; s < 3; ++s) CHECK(on.packets[s] == 400);
    CHECK((on.drops() > 0) == (buffer > 0));
    const double last = *std::max_element(on.ended.begin(), on.ended.end());
    CHECK(last >= 1200 * kPacket);
    if (buffer == 0) CHECK(last <= 1.02 * 1200 * kPacket);
  }
}

TEST_CASE("a lone packet that is lost costs a time-out of the least length") {
  StreamModel model;
  model.queues.buffer = 1448 + 90;
  model.least_timeout = 1;
  Streamed on(4, {1, 2}, {3, 3}, model);
  // When the second one's packet comes to the switch, half of the first one's has left it.
  on.streams->write(0, 1448);
  on.run(1.5 * kPacket);
  on.streams->write(1, 1448);
  on.run();
  CHECK(on.packets == std::vector<std::uint32_t>{1, 1, 0, 0});
  CHECK(on.drops() == 1);
  CHECK(on.streams->counts().timeouts == 1);
  CHECK(on.ended[0] < 0.001);
  CHECK(on.ended[1] == doctest::Approx(1 + 4.5 * kPacket).epsilon(1e-5));
}

TEST_CASE("a host whose own queue is full sends again at the next answer, or after a time-out") {
  StreamModel model;
  model.queues.host = 20 * 1538;
  Streamed on(5, {0, 0, 0, 0}, {1, 2, 3, 4}, model);
  for (std::uint32_t s = 0; s < 4; ++s) on.streams->write(s, 1448 * 10);
  on.run();
  for (std::uint32_t s = 0; s < 4; ++s) CHECK(on.packets[s] == 10);
  const std::size_t out = on.resolver->switch_channels();
  CHECK(on.streams->counts().drops[out] == on.drops());
  CHECK(on.streams->counts().first_channel == out);
  // Two streams fit; the others have nothing under way whose answer would tell them to go on.
  CHECK(on.streams->counts().timeouts == 2);
  CHECK(*std::max_element(on.ended.begin(), on.ended.end()) >= model.least_timeout);
}

TEST_CASE("queues hold a packet at least, and a host's queue a piece") {
  StreamModel model;
  model.queues.buffer = 1000;
  CHECK_THROWS_AS(Streamed(3, {0}, {1}, model), Error);
  model.queues = {};
  model.queues.host = 10000;
  CHECK_THROWS_AS(Streamed(3, {0}, {1}, model), Error);
}
