#include <doctest/doctest.h>

#include <string>

#include "contend/base/error.hpp"
#include "contend/fabric/ibnetdiscover.hpp"

using namespace contend;

static SubnetColumns parse(const std::string& text) {
  IbnetdiscoverParser parser;
  parser.feed(text);
  return parser.finish();
}

TEST_CASE("a switch with an adapter and a cable to itself") {
  const SubnetColumns columns = parse(
      "vendid=0x2c9\ndevid=0xd2f0\nsysimgguid=0xa1\nswitchguid=0xa0(a0)\n"
      "Switch\t41 \"S-00000000000000a0\"\t\t# \"leaf\" enhanced port 0 lid 3 lmc 0\n"
      "[1]\t\"H-00000000000000b0\"[2](b2) \t\t# \"node\" lid 4 4xHDR\n"
      "[7][ext 3]\t\"S-00000000000000a0\"[8][ext 4]\t\t# \"leaf\" lid 3 2xHDR\n\n"
      "Ca\t2 \"H-00000000000000b0\"\t\t# \"node\"\n"
      "[2](b2) \t\"S-00000000000000a0\"[1]\t\t# lid 4 lmc 1 \"leaf\" lid 3 4xHDR\n");
  CHECK(columns.guid == std::vector<std::uint64_t>{0xA0, 0xB0});
  CHECK(columns.kind == std::vector<std::uint8_t>{2, 1});
  CHECK(columns.system_guid == std::vector<std::uint64_t>{0xA1, 0});
  CHECK(columns.device_id == std::vector<std::uint32_t>{0xD2F0, 0});
  CHECK(columns.ports == std::vector<std::uint16_t>{41, 2});
  CHECK(columns.node == std::vector<std::int32_t>{0, 0, 1});
  CHECK(columns.port == std::vector<std::uint16_t>{1, 7, 2});
  CHECK(columns.peer == std::vector<std::int32_t>{1, 0, 0});
  CHECK(columns.peer_port == std::vector<std::uint16_t>{2, 8, 1});
  CHECK(columns.port_guid == std::vector<std::uint64_t>{0, 0, 0xB2});
  CHECK(columns.end_lid == std::vector<std::uint32_t>{0, 0, 4});
  CHECK(columns.end_lmc == std::vector<std::uint8_t>{0, 0, 1});
  CHECK(columns.rates == std::vector<std::string>{"", "4xHDR", "2xHDR"});
  CHECK(columns.rate == std::vector<std::uint16_t>{1, 2, 1});
  CHECK(columns.end_line == std::vector<std::uint32_t>{6, 7, 10});
  CHECK(columns.notes.empty());
}

TEST_CASE("a parser that failed can be asked again without harm") {
  IbnetdiscoverParser parser;
  CHECK_THROWS_AS(parser.feed("Switch 9 \"S-a0\" # \"leaf\n"), InputError);
  parser.feed("Switch 9 \"S-a0\" # \"leaf\" base port 0 lid 1 lmc 0\n");
  CHECK(parser.finish().guid.size() == 1);
}

TEST_CASE("more nodes or rates than any fabric has are refused") {
  SubnetBuilder builder;
  for (std::uint64_t guid = 0; guid < (1u << 20); ++guid) {
    builder.node(NodeKind::adapter, guid, 1);
  }
  CHECK_NOTHROW(builder.node(NodeKind::adapter, 0, 1));
  CHECK_THROWS_AS(builder.node(NodeKind::switch_, 0, 1), InputError);
  for (int k = 1; k < 256; ++k) CHECK(builder.rate(std::to_string(k), 1) == k);
  CHECK_THROWS_AS(builder.rate("256", 1), InputError);
}
