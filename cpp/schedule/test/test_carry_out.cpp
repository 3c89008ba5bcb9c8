#include <doctest/doctest.h>

#include <random>
#include <vector>

#include "contend/schedule/carry_out.hpp"
#include "written_schedule.hpp"

using namespace contend;
using namespace contend::test;

TEST_CASE("an eager message takes o_s + wire / rate + L + hops L_h + o_r") {
  Ring ring(3);
  MessageClass& costs = ring.costs.between[0];
  costs.send_overhead = 2;
  costs.receive_overhead = 3;
  costs.latency = 5;
  costs.latency_per_hop = 1;
  costs.extra = 20;
  costs.stretch = 1.5;
  const Outcome outcome = ring.run(one_message(1000));
  // Its send ends as soon as it has left the processor.
  CHECK(outcome.operation_end[0] == near(2));
  CHECK(outcome.rank_end[0] == near(2));
  // 2 + (20 + 1.5 * 1000) / 10 + 5 + 1 + 3
  CHECK(outcome.end == near(163));
  CHECK(outcome.operation_end[2] == near(163));
  // Channel 0, the injection of host 0 and the ejection of host 1.
  CHECK(outcome.channel_bytes[0] == near(1520));
  CHECK(outcome.channel_bytes[ring.channels] == near(1520));
  CHECK(outcome.channel_bytes[ring.channels + 3 + 1] == near(1520));
  CHECK(outcome.channel_busy[0] == near(152));
}

TEST_CASE("overheads per byte are the processors'") {
  Ring ring(3);
  ring.costs.between[0].send_per_byte = 0.01;
  ring.costs.between[0].receive_per_byte = 0.02;
  // 10 + 100 + 20
  CHECK(ring.run(one_message(1000)).end == near(130));
}

TEST_CASE("flows share a channel, and what one leaves the other takes") {
  Ring ring(3);
  Written written;
  written.strand(0);
  written.send(2, 1000);
  written.strand(1);
  written.send(2, 3000);
  written.strand(2);
  written.receive(0);
  written.receive(1);
  written.wait_all();
  const Outcome outcome = ring.run(written);
  // Both get 5 until the shorter one ends at 1000 / 5; then 2000 / 10 are left.
  CHECK(outcome.operation_end[2] == near(200));
  CHECK(outcome.operation_end[3] == near(400));
}

TEST_CASE("what is under way over a channel at once is counted") {
  Ring ring(4);
  Written written;
  written.sender(0, 2, 1000);
  written.sender(1, 2, 500);
  written.strand(2);
  written.receive(0);
  written.receive(1);
  written.wait_all();
  const Outcome outcome = ring.run(written);
  CHECK(outcome.channel_crowd[0] == 1);
  CHECK(outcome.channel_crowd_bytes[0] == near(1000));
  // The clockwise channel of switch 1.
  CHECK(outcome.channel_crowd[2] == 2);
  CHECK(outcome.channel_crowd_bytes[2] == near(1500));
  CHECK(outcome.channel_crowd[1] == 0);
}

TEST_CASE("messages from a rank to another go one after the other") {
  Ring ring(3);
  Written written;
  written.strand(0);
  written.send(1, 1000);
  written.send(1, 1000);
  written.strand(1);
  written.receive(0);
  written.receive(0);
  written.wait_all();
  const Outcome outcome = ring.run(written);
  CHECK(outcome.operation_end[2] == near(100));
  CHECK(outcome.operation_end[3] == near(200));
}

TEST_CASE("a message that is not eager waits for its receive, and its send for the wire") {
  Ring ring(3);
  ring.costs.between[0].eager = false;
  ring.costs.between[0].latency = 5;
  Written written;
  written.sender(0, 1, 1000);
  written.strand(1);
  written.compute(50);
  written.receive(0);
  written.wait_all();
  const Outcome outcome = ring.run(written);
  // Posted at 50, allowed at 50 + 5, on the wire for 100, there 5 later.
  CHECK(outcome.rank_end[0] == near(155));
  CHECK(outcome.rank_end[1] == near(160));

  ring.costs.between[0].buffered = 400;
  // The send has ended when 400 of 1000 bytes are left.
  CHECK(ring.run(written).rank_end[0] == near(115));
  CHECK(ring.run(written).rank_end[1] == near(160));
}

TEST_CASE("who computes does not see what comes") {
  Ring ring(3);
  ring.costs.between[0].receive_overhead = 3;
  Written written;
  written.strand(0);
  written.send(1, 1000);
  written.strand(1);
  written.receive(0);
  written.compute(500);
  written.wait_all();
  // There at 100; seen when the rank waits, at 500.
  CHECK(ring.run(written).rank_end[1] == near(503));
}

TEST_CASE("time that elapses needs no processor, and what comes meanwhile is seen after it") {
  Ring ring(3);
  ring.costs.processor_of_rank = {0, 0, 0};
  ring.costs.processors = {1};
  ring.costs.between[0].receive_overhead = 3;
  Written written;
  written.strand(0);
  written.add(Action::elapse, 0, 50);
  written.send(1, 1000);
  written.strand(1);
  written.receive(0);
  written.add(Action::elapse, 0, 500);
  written.wait_all();
  written.strand(2);
  written.add(Action::elapse, 0, 40);
  written.add(Action::elapse, 0, 0);
  // An eager send has ended as it has left its processor.
  const Outcome outcome = ring.run(written);
  CHECK(outcome.rank_end[0] == near(50));
  CHECK(outcome.rank_end[1] == near(503));
  CHECK(outcome.rank_end[2] == near(40));
  CHECK(outcome.operation_end[0] == near(50));
}

TEST_CASE("after its patience a rank looks only now and then") {
  Ring ring(3);
  ring.costs.patience = 10;
  ring.costs.look_every = 7;
  // There at 100: looks once from 94 to 101, then once from 101 to 108, and every time so.
  const double seen = ring.run(one_message(1000)).end;
  CHECK(seen >= 100);
  CHECK(seen < 108);
  CHECK(ring.run(one_message(1000)).end == seen);
  // One look a while, over many messages: half of the time on average, at no fixed place in it.
  double waited = 0;
  for (int bytes = 1000; bytes < 2000; bytes += 10) {
    waited += ring.run(one_message(bytes)).end - bytes / 10.0;
  }
  CHECK(waited / 100 == doctest::Approx(7.0 / 2).epsilon(0.4));
  // Without a message's waiting for longer than its patience it sees at once.
  ring.costs.patience = 200;
  CHECK(ring.run(one_message(1000)).end == near(100));
}

TEST_CASE("ranks that share a processor work one after the other") {
  Ring ring(3);
  ring.costs.processor_of_rank = {0, 0, 0};
  ring.costs.processors = {2};
  Written written;
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    written.strand(rank);
    written.compute(10);
  }
  const Outcome outcome = ring.run(written);
  CHECK(outcome.rank_end == std::vector<double>{10, 10, 20});
}

TEST_CASE("ranks of one host have its memory, and its costs") {
  Ring ring(3);
  ring.network.place_of_rank = {0, 0, 2};
  ring.network.rate[ring.channels + 2 * 3] = 100;
  ring.costs.within[0].latency = 1;
  ring.costs.between[0].latency = 1000;
  // 1000 / 100 + 1.
  CHECK(ring.run(one_message(1000)).end == near(11));
}

TEST_CASE("costs are those of the first class that is large enough") {
  Ring ring(3);
  MessageClass small = Ring::free();
  small.up_to = 1000;
  small.latency = 7;
  ring.costs.between.insert(ring.costs.between.begin(), small);
  CHECK(ring.run(one_message(1000)).end == near(107));
  CHECK(ring.run(one_message(1001)).end == near(100.1));
}

TEST_CASE("a wait is for one, for so many, or for all") {
  Ring ring(3);
  Written written;
  written.strand(0);
  written.send(2, 1000);
  written.strand(1);
  written.send(2, 3000);
  written.strand(2);
  written.receive(1);
  written.receive(0);
  written.add(Action::wait_for, 0, 1);
  written.add(Action::wait, 0, 0);
  const Outcome outcome = ring.run(written);
  CHECK(outcome.operation_end[4] == near(200));
  CHECK(outcome.operation_end[5] == near(400));
}

TEST_CASE("ranks begin when they are told to") {
  Ring ring(3);
  ring.costs.start = {40, 0, 0};
  CHECK(ring.run(one_message(1000)).end == near(140));
}

TEST_CASE("a schedule in which all wait for each other says who waits for what") {
  Ring ring(3);
  ring.costs.between[0].eager = false;
  Written written;
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    written.sender(rank, 1 - rank, 1000);
    written.receive(1 - rank);
    written.wait_all();
  }
  CHECK(ring.error_of(written) ==
        "rank 0, operation 1 waits for ever, as for its send to rank 1 (tag 0)");
  // Eager messages do not wait for receives.
  ring.costs.between[0].eager = true;
  CHECK(ring.error_of(written) == "");
}

TEST_CASE("what makes no sense is refused with rank and operation") {
  Ring ring(3);
  Written written = one_message(1000);
  written.tag[0] = 4;
  CHECK(ring.error_of(written) == "rank 1, operation 0 waits for what nobody sends");
  written = one_message(1000);
  written.action[2] = static_cast<std::uint8_t>(Action::compute);
  CHECK(ring.error_of(written) == "rank 0, operation 0 sends what nobody receives");
  written = one_message(1000);
  written.peer[0] = 9;
  CHECK(ring.error_of(written) == "rank 0, operation 0 names a strand that is not there");
  written = one_message(-1);
  CHECK(ring.error_of(written) == "rank 0, operation 0 takes less than nothing, or no number");
  written = one_message(1000);
  written.action[1] = 99;
  CHECK(ring.error_of(written) == "rank 0, operation 1 is of no kind");
  written.action[1] = static_cast<std::uint8_t>(Action::wait);
  written.amount[1] = 1;
  CHECK(ring.error_of(written) ==
        "rank 0, operation 1 waits for what is no send or receive before it");
  written.action[1] = static_cast<std::uint8_t>(Action::wait_for);
  written.amount[1] = 2;
  CHECK(ring.error_of(written) ==
        "rank 0, operation 1 waits for more sends and receives than have begun");
}

TEST_CASE("random exchanges end, carry all bytes, and do so alike again") {
  std::mt19937 engine(5);
  for (int round = 0; round < 20; ++round) {
    Ring ring(6);
    ring.costs.between[0].send_overhead = 0.5;
    ring.costs.between[0].latency = 0.25;
    ring.costs.between[0].eager = round % 2 == 0;
    ring.network.burst.assign(ring.network.rate.size(), round % 3 == 0 ? 700 : 0);
    ring.network.piece = round % 4 < 2 ? 600 : 0;
    ring.network.peak = 500;
    std::vector<std::vector<double>> bytes(6, std::vector<double>(6));
    double hops = 0;
    for (std::uint32_t s = 0; s < 6; ++s) {
      for (std::uint32_t t = 0; t < 6; ++t) {
        bytes[s][t] = 300 + static_cast<double>(engine() % 5000);
        hops += s == t ? 0 : bytes[s][t] * ((t + 6 - s) % 6);
      }
    }
    Written written;
    for (std::uint32_t rank = 0; rank < 6; ++rank) {
      written.strand(rank);
      for (std::uint32_t shift = 1; shift < 6; ++shift) written.receive((rank + shift) % 6);
      for (std::uint32_t shift = 1; shift < 6; ++shift) {
        written.send((rank + shift) % 6, bytes[rank][(rank + shift) % 6]);
      }
      written.wait_all();
    }
    const Outcome outcome = ring.run(written);
    double crossed = 0;
    for (std::size_t c = 0; c < ring.channels; ++c) crossed += outcome.channel_bytes[c];
    CHECK(crossed == near(hops));
    // No channel carries more than its rate, and its burst once; nor does a host's port.
    for (std::size_t c = 0; c < ring.channels + 6; ++c) {
      CHECK(outcome.channel_bytes[c] <=
            10 * outcome.end + ring.network.burst[c] + 1e-6 * outcome.channel_bytes[c]);
    }
    CHECK(ring.run(written).operation_end == outcome.operation_end);
  }
}
