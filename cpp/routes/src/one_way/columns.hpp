#pragma once

#include <algorithm>
#include <vector>

#include "contend/base/error.hpp"
#include "contend/routes/resolver.hpp"

namespace contend {

/// Which (leaf, address) pairs the messages between places need: rows are the leaf switches of the
/// places, columns their addresses, those of one place together.
class PlaceColumns {
 public:
  PlaceColumns(const Fabric& fabric, const AddressView& addresses, const Places& places) {
    if (addresses.first.size() != fabric.hosts() || addresses.lmc.size() != fabric.hosts()) {
      throw Error("addresses do not belong to the fabric");
    }
    row_of_switch_.assign(fabric.switches(), kNoSwitch);
    first_column_.push_back(0);
    for (const HostId host : places.hosts) {
      if (host >= fabric.hosts()) throw Error("host " + std::to_string(host) + " does not exist");
      if (addresses.first[host] == 0) {
        throw Error("host " + std::to_string(host) + " has no address (LID)");
      }
      const SwitchId leaf = fabric.host_switch(host);
      if (row_of_switch_[leaf] == kNoSwitch) {
        row_of_switch_[leaf] = static_cast<std::uint32_t>(leaves_.size());
        leaves_.push_back(leaf);
      }
      row_of_place_.push_back(row_of_switch_[leaf]);
      if (addresses.lmc[host] > 7) throw Error("an LMC above 7");
      const std::uint32_t count = places.spread ? 1U << addresses.lmc[host] : 1U;
      for (std::uint32_t k = 0; k < count; ++k) {
        host_.push_back(host);
        address_.push_back(addresses.first[host] + k);
      }
      first_column_.push_back(static_cast<std::uint32_t>(host_.size()));
    }
  }

  std::size_t places() const { return row_of_place_.size(); }
  std::size_t columns() const { return host_.size(); }
  const std::vector<SwitchId>& leaves() const { return leaves_; }
  HostId host(std::size_t column) const { return host_[column]; }
  Address address(std::size_t column) const { return address_[column]; }
  std::uint32_t row(Place place) const { return row_of_place_[place]; }

  /// Column that a message uses.
  std::uint32_t column(Place source, Place target) const {
    const std::uint32_t first = first_column_[target];
    // Numbers of addresses are powers of two.
    return first + ((source + target) & (first_column_[target + 1] - first - 1));
  }

 private:
  std::vector<std::uint32_t> row_of_switch_;
  std::vector<SwitchId> leaves_;
  std::vector<std::uint32_t> row_of_place_;
  std::vector<std::uint32_t> first_column_;
  std::vector<HostId> host_;
  std::vector<Address> address_;
};

}  // namespace contend
