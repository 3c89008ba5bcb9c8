#include "alltoall/node_leader.hpp"

#include <algorithm>
#include <cstring>

#include "compat/large_count.hpp"

namespace contend::probe::alltoall {

namespace {

// Bytes that a rank sends to all, or receives from all.
std::size_t total(const Blocks& blocks, int rank, bool sends) {
  std::size_t bytes = 0;
  for (int other = 0; other < blocks.ranks(); ++other) {
    bytes += sends ? blocks.counts().of(rank, other) : blocks.counts().of(other, rank);
  }
  return bytes;
}

// Bytes from all ranks of one list to all of another.
std::size_t total(const Counts& counts, const std::vector<int>& from, const std::vector<int>& to) {
  std::size_t bytes = 0;
  for (const int source : from) {
    for (const int destination : to) {
      bytes += counts.of(source, destination);
    }
  }
  return bytes;
}

}  // namespace

NodeLeader::NodeLeader(const Blocks& blocks, const Nodes& nodes)
    : blocks_(blocks),
      node_(nodes.of_rank[static_cast<std::size_t>(blocks.rank())]),
      messages_(nodes.ranks[static_cast<std::size_t>(node_)].size()) {
  const std::vector<int>& here = nodes.ranks[static_cast<std::size_t>(node_)];
  members_.assign(here.begin() + 1, here.end());
  std::size_t sent = 0;
  std::size_t received = 0;
  for (const int member : members_) {
    sent_.push_back({sent, total(blocks, member, true)});
    received_.push_back({received, total(blocks, member, false)});
    sent += sent_.back().bytes;
    received += received_.back().bytes;
  }
  std::size_t out = 0;
  std::size_t in = 0;
  for (const std::vector<int>& there : nodes.ranks) {
    leaders_.push_back(there.front());
    out_.push_back({out, total(blocks.counts(), here, there)});
    in_.push_back({in, total(blocks.counts(), there, here)});
    out += out_.back().bytes;
    in += in_.back().bytes;
  }
  arriving_.resize(std::max(sent, in));
  leaving_.resize(std::max(out, received));
  plan_outgoing(nodes);
  plan_incoming(nodes);
}

// From the order of source and destination to that of node, source and destination.
void NodeLeader::plan_outgoing(const Nodes& nodes) {
  std::vector<std::size_t> next;
  for (const Range& range : out_) {
    next.push_back(range.begin);
  }
  const auto add = [&](int source, const std::byte* from) {
    for (int destination = 0; destination < blocks_.ranks(); ++destination) {
      const std::size_t bytes = blocks_.counts().of(source, destination);
      std::size_t& place =
          next[static_cast<std::size_t>(nodes.of_rank[static_cast<std::size_t>(destination)])];
      by_node_.push_back({from, leaving_.data() + place, bytes});
      place += bytes;
      from += bytes;
    }
  };
  add(blocks_.rank(), blocks_.send());
  for (std::size_t member = 0; member < members_.size(); ++member) {
    add(members_[member], arriving_.data() + sent_[member].begin);
  }
}

// From the order of node, source and destination to that of destination and source.
void NodeLeader::plan_incoming(const Nodes& nodes) {
  std::vector<std::byte*> next;
  for (const Range& range : received_) {
    next.push_back(leaving_.data() + range.begin);
  }
  std::vector<const std::byte*> from_node;
  for (const Range& range : in_) {
    from_node.push_back(arriving_.data() + range.begin);
  }
  std::byte* own = blocks_.receive();
  // In each node's message sources ascend, so going through all ranks takes them in order.
  for (int source = 0; source < blocks_.ranks(); ++source) {
    const std::byte*& from =
        from_node[static_cast<std::size_t>(nodes.of_rank[static_cast<std::size_t>(source)])];
    const auto add = [&](int destination, std::byte*& to) {
      const std::size_t bytes = blocks_.counts().of(source, destination);
      by_member_.push_back({from, to, bytes});
      from += bytes;
      to += bytes;
    };
    add(blocks_.rank(), own);
    for (std::size_t member = 0; member < members_.size(); ++member) {
      add(members_[member], next[member]);
    }
  }
}

void NodeLeader::gather() {
  for (std::size_t member = 0; member < members_.size(); ++member) {
    if (const auto [begin, bytes] = sent_[member]; bytes != 0) {
      messages_.add(
          receive_bytes(arriving_.data() + begin, bytes, members_[member], kTag, blocks_.comm()));
    }
  }
  messages_.finish();
  for (const Copy& copy : by_node_) {
    std::copy_n(copy.from, copy.bytes, copy.to);
  }
}

void NodeLeader::exchange() {
  const int nodes = static_cast<int>(leaders_.size());
  for (int places = 0; places < nodes; ++places) {
    const auto to = static_cast<std::size_t>((node_ + places) % nodes);
    const auto from = static_cast<std::size_t>((node_ - places + nodes) % nodes);
    const std::byte* out = leaving_.data() + out_[to].begin;
    std::byte* in = arriving_.data() + in_[from].begin;
    if (places == 0) {
      std::copy_n(out, out_[to].bytes, in);
      continue;
    }
    send_and_receive_bytes(out, out_[to].bytes, out_[to].bytes == 0 ? MPI_PROC_NULL : leaders_[to],
                           in, in_[from].bytes,
                           in_[from].bytes == 0 ? MPI_PROC_NULL : leaders_[from], kTag,
                           blocks_.comm());
  }
}

void NodeLeader::scatter() {
  for (const Copy& copy : by_member_) {
    std::copy_n(copy.from, copy.bytes, copy.to);
  }
  for (std::size_t member = 0; member < members_.size(); ++member) {
    if (const auto [begin, bytes] = received_[member]; bytes != 0) {
      messages_.add(
          send_bytes(leaving_.data() + begin, bytes, members_[member], kTag, blocks_.comm()));
    }
  }
  messages_.finish();
}

}  // namespace contend::probe::alltoall
