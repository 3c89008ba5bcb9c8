#include "contend/routes/in_tree.hpp"

#include <algorithm>
#include <string>

#include "contend/base/error.hpp"

namespace contend {

namespace {

constexpr unsigned kLargestLmc = 7;

}  // namespace

std::vector<Destination> destinations(const Fabric& fabric, const AddressView& addresses) {
  if (addresses.first.size() != fabric.hosts() || addresses.lmc.size() != fabric.hosts()) {
    throw Error("addresses are not those of the fabric's hosts");
  }
  std::vector<Destination> all;
  all.reserve(fabric.hosts());
  for (HostId host = 0; host < fabric.hosts(); ++host) {
    if (addresses.lmc[host] > kLargestLmc) {
      throw Error("LMC " + std::to_string(addresses.lmc[host]) + " of host " +
                  std::to_string(host) + " exceeds 7");
    }
    if (addresses.first[host] == 0) continue;
    for (Address i = 0; i < Address{1} << addresses.lmc[host]; ++i) {
      all.push_back({addresses.first[host] + i, host});
    }
  }
  std::ranges::sort(all, [](const Destination& a, const Destination& b) {
    return a.address != b.address ? a.address < b.address : a.host < b.host;
  });
  return all;
}

void ForwardingBlock::look_up(std::span<const Destination> block) {
  for (SwitchId s = 0; s < fabric_->switches(); ++s) {
    for (std::size_t i = 0; i < block.size(); ++i) {
      const PortNumber port = tables_.at(s, block[i].address);
      steps_[i * stride_ + s] = Step::by(*fabric_, s, port, block[i].host);
    }
  }
}

/// What was met last, from `again` on, is a loop: resolves it, and says where it begins in order_.
std::size_t InTree::close_loop(SwitchId again) {
  std::size_t begin = reached_ - 1;
  while (order_[begin] != again) --begin;
  const std::span<const SwitchId> loop = order().subspan(begin);
  const SwitchId lowest = std::ranges::min(loop);
  for (const SwitchId s : loop) {
    state_[s] = {lowest, now_ + static_cast<std::uint32_t>(TraceEnd::loop)};
  }
  return begin;
}

}  // namespace contend
