#include <algorithm>
#include <vector>

#include "contend/packets/packets.hpp"
#include "contend/packets/transfers.hpp"
#include "contend/schedule/carry_calls.hpp"
#include "written_schedule.hpp"

using namespace contend;
using contend::test::near;
using contend::test::Ring;
using contend::test::Written;

namespace {

constexpr double kRate = 1e9;
constexpr double kPacket = 4096 / kRate;
constexpr double kWord = 64 / kRate;

/// Calls over a ring that is walked clockwise, rank r on host r.
struct Lossless {
  explicit Lossless(SwitchId size) : ring(size), places(contend::test::in_order(size)) {
    starts.assign(size, 0);
    calls.place_of_rank = places;
    rate.assign(ring.resolver->switch_channels() + 2 * std::size_t{size}, kRate);
    calls.rate = rate;
    calls.eager = 1e9;
  }
  PacketRoutes routes(const Written& written) {
    const StreamEnds ends = stream_ends(written.schedule(), calls);
    return packet_routes(*ring.resolver, ends.source, ends.target, 0);
  }
  LosslessOutcome run(const Written& written) {
    calls.starts = starts;
    return carry_lossless(written.schedule(), routes(written), calls);
  }
  /// Of a packet's first bit until it can leave so many switches.
  double through(unsigned switches) const { return switches * calls.model.latency; }

  Ring ring;
  std::vector<std::uint32_t> places;
  std::vector<double> starts;
  std::vector<double> rate;
  LosslessCalls calls;
};

/// Rank r sends to r + `by`, and waits for what comes to it.
Written shift(std::uint32_t ranks, std::uint32_t by, double bytes) {
  Written written;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    written.strand(rank);
    written.receive((rank + ranks - by) % ranks);
    written.send((rank + by) % ranks, bytes);
    written.wait_all();
  }
  return written;
}

}  // namespace

TEST_CASE("a message takes its bytes over the rate, and each switch on its way the latency") {
  Lossless on(4);
  const Written written = contend::test::one_message(100 * 4096.0);
  on.starts = {0, 0};
  on.places = {0, 2};
  on.calls.place_of_rank = on.places;
  // Ranks 0 and 1 on hosts three switches from each other.
  CHECK(on.run(written).seconds.at(0) == near(100 * kPacket + on.through(3)));
  // One call after the other, each as long.
  on.starts = {0, 0, 1e-3, 0};
  const std::vector<double> seconds = on.run(written).seconds;
  REQUIRE(seconds.size() == 2);
  CHECK(seconds[0] == near(seconds[1] - 1e-3));
}

TEST_CASE("what is not eager asks its receiver first, by a word each way") {
  Lossless on(2);
  on.calls.eager = 4096;
  const Written written = contend::test::one_message(2 * 4096.0);
  const double word = kWord + on.through(2);
  CHECK(on.run(written).seconds.at(0) == near(2 * word + 2 * kPacket + on.through(2)));
  // The receiver sends nothing by itself.
  on.calls.overhead = 1e-6;
  CHECK(on.run(written).seconds.at(0) == near(1e-6 + 2 * word + 2 * kPacket + on.through(2)));
}

TEST_CASE("words share channels with packets and take their own time alone") {
  Lossless on(3);
  Written written;
  written.strand(0);
  for (int k = 0; k < 10; ++k) written.send(1, 0, k);
  written.wait_all();
  written.strand(1);
  for (int k = 0; k < 10; ++k) written.receive(0, k);
  written.wait_all();
  written.strand(2);
  const LosslessOutcome found = on.run(written);
  CHECK(found.seconds.at(0) == near(10 * kWord + on.through(2)));
  const double busiest = *std::max_element(found.busy.begin(), found.busy.end());
  CHECK(busiest == near(10 * kWord / found.seconds[0]));
}

TEST_CASE("messages of a length that begin together are those of packet_flows") {
  for (const Queueing queueing : {Queueing::kInOrder, Queueing::kByOutput}) {
    for (const std::uint32_t buffer : {2U, 16U}) {
      Lossless on(7);
      const Written written = shift(7, 2, 40 * 4096.0);
      on.calls.model.queueing = queueing;
      on.calls.model.buffer = buffer;
      PacketModel model = on.calls.model;
      model.message_packets = 40;
      model.together = true;
      const PacketRoutes routes = on.routes(written);
      const PacketFlows flows = packet_flows(routes, on.rate, model);
      const LosslessOutcome found = on.run(written);
      REQUIRE(found.circle.size() == flows.circle.size());
      if (!flows.circle.empty()) continue;
      const double slowest = *std::min_element(flows.share.begin(), flows.share.end());
      CHECK(found.seconds.at(0) == near(40 * kPacket / slowest));
      CHECK(found.hops == flows.hops);
    }
  }
}

TEST_CASE("packets that wait for each other in a circle are told, and calls behind them are not") {
  Lossless on(6);
  on.calls.model.buffer = 1;
  on.starts.assign(12, 0);
  const LosslessOutcome found = on.run(shift(6, 4, 64 * 4096.0));
  CHECK(found.seconds.empty());
  CHECK(found.circle.size() == 6);
}

TEST_CASE("a schedule that cannot end says whose operation") {
  Lossless on(2);
  Written written;
  written.strand(0);
  written.receive(1);
  written.wait_all();
  written.send(1, 10);
  written.strand(1);
  written.receive(0);
  written.wait_all();
  written.send(0, 10);
  CHECK_THROWS_WITH_AS(on.run(written), doctest::Contains("rank 0, operation 1 waits for ever"),
                       Error);
}

TEST_CASE("time goes on where nothing moves") {
  Lossless on(2);
  const Written written = contend::test::one_message(4096);
  const PacketRoutes routes = on.routes(written);
  Transfers transfers(routes, on.rate, on.calls.model, {});
  CHECK(!transfers.step(3e-6));
  CHECK(transfers.now() == near(3e-6));
  CHECK(transfers.write(0, 2.5 * 4096) == 3);
  CHECK(transfers.write(0, 4096) == 4);
  CHECK(transfers.step(1));
}
