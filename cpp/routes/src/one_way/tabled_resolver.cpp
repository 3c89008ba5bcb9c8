#include <algorithm>
#include <cstring>
#include <optional>

#include "columns.hpp"
#include "contend/base/large_array.hpp"
#include "contend/base/threads.hpp"
#include "contend/routes/checks/trace.hpp"
#include "contend/routes/resolver.hpp"
#include "contend/routes/ways/route_trees.hpp"

namespace contend {

namespace {

/// Strides for which the copy of a route is compiled with its length known.
constexpr std::size_t round_up_stride(std::size_t hops) {
  if (hops <= 2) return 2;
  return hops + hops % 2;
}

template <class Id>
class TabledResolver final : public WrittenResolver<TabledResolver<Id>> {
 public:
  TabledResolver(const Fabric& fabric, const TableView& tables, const AddressView& addresses,
                 const Places& places, std::size_t hops)
      : WrittenResolver<TabledResolver>(places.hosts.size(), fabric.switch_channels(),
                                        round_up_stride(hops)),
        spread_(places.spread) {
    PlaceColumns columns(fabric, addresses, places);
    columns_ = columns.columns();
    table_.resize(columns.leaves().size() * columns_ * stride());
    fill(fabric, tables, columns);
    row_begin_.reserve(columns.places());
    for (Place place = 0; place < columns.places(); ++place) {
      row_begin_.push_back(columns.row(place) * columns_ * stride());
    }
    if (spread_) {
      place_columns_ = std::make_unique<PlaceColumns>(std::move(columns));
    } else {
      trees_.emplace(fabric, tables, addresses, places);
    }
  }

  bool tabled() const override { return true; }
  const RouteTrees* trees() const override { return trees_ ? &*trees_ : nullptr; }
  std::size_t bytes() const override { return table_.size() * sizeof(Id); }

 private:
  friend WrittenResolver<TabledResolver>;
  using Resolver::stride;

  void fill(const Fabric& fabric, const TableView& tables, const PlaceColumns& columns) {
    const std::size_t first_pad = this->switch_channels();
    in_parallel(thread_count(), columns.leaves().size(), 1, [&](const Pieces& pieces) {
      std::vector<ChannelId> route;
      for (const std::size_t row : pieces) {
        Id* entry = table_.data() + row * columns_ * stride();
        for (std::size_t column = 0; column < columns_; ++column, entry += stride()) {
          trace(fabric, tables, columns.leaves()[row], columns.host(column),
                columns.address(column), route);
          // A place by itself may have no route to itself; nobody asks for it.
          const std::size_t hops = std::min(route.size(), stride());
          for (std::size_t k = 0; k < hops; ++k) entry[k] = static_cast<Id>(route[k]);
          for (std::size_t k = hops; k < stride(); ++k) {
            entry[k] = static_cast<Id>(first_pad + (k + 5 * column) % kPads);
          }
        }
      }
    });
  }

  template <class Out>
  void write(std::span<const Place> source, std::span<const Place> target, std::uint64_t,
             Out* out) const {
    // Where channels need 32 bits nobody asks for them in 16.
    if constexpr (sizeof(Out) < sizeof(Id)) return;
    switch (stride()) {
      case 2:
        return copy_strided<2>(source, target, out);
      case 4:
        return copy_strided<4>(source, target, out);
      case 6:
        return copy_strided<6>(source, target, out);
      case 8:
        return copy_strided<8>(source, target, out);
      default:
        return copy_strided<0>(source, target, out);
    }
  }

  template <std::size_t Stride, class Out>
  void copy_strided(std::span<const Place> source, std::span<const Place> target, Out* out) const {
    const std::size_t length = Stride > 0 ? Stride : stride();
    const Id* table = table_.data();
    const std::size_t* row_begin = row_begin_.data();
    const bool spread = spread_;
    for (std::size_t m = 0; m < source.size(); ++m, out += length) {
      const std::size_t column =
          spread ? place_columns_->column(source[m], target[m]) : std::size_t{target[m]};
      const Id* entry = table + row_begin[source[m]] + column * length;
      if constexpr (sizeof(Id) == sizeof(Out)) {
        std::memcpy(out, entry, length * sizeof(Id));
      } else {
        std::copy_n(entry, length, out);
      }
    }
  }

  bool spread_;
  std::size_t columns_;
  LargeArray<Id> table_;
  std::vector<std::size_t> row_begin_;
  std::unique_ptr<PlaceColumns> place_columns_;
  std::optional<RouteTrees> trees_;
};

}  // namespace

std::unique_ptr<Resolver> make_tabled_resolver(const Fabric& fabric, const TableView& tables,
                                               const AddressView& addresses, const Places& places,
                                               std::optional<std::size_t> longest) {
  if (!longest) longest = longest_route(fabric, tables, addresses, places);
  if (fabric.switch_channels() + kPads <= 0x10000) {
    return std::make_unique<TabledResolver<std::uint16_t>>(fabric, tables, addresses, places,
                                                           *longest);
  }
  return std::make_unique<TabledResolver<std::uint32_t>>(fabric, tables, addresses, places,
                                                         *longest);
}

std::size_t tabled_bytes(const Fabric& fabric, const AddressView& addresses, const Places& places,
                         std::size_t hops) {
  const PlaceColumns columns(fabric, addresses, places);
  const std::size_t id = fabric.switch_channels() + kPads <= 0x10000 ? 2 : 4;
  return columns.leaves().size() * columns.columns() * round_up_stride(hops) * id;
}

std::unique_ptr<Resolver> make_stored_resolver(const Fabric& fabric, const TableView& tables,
                                               const AddressView& addresses, const Places& places,
                                               std::size_t longest, std::size_t most_bytes) {
  // What is in a cache near the core is found as fast as it can be.
  constexpr std::size_t kNear = std::size_t{1} << 20;
  const std::size_t bytes = tabled_bytes(fabric, addresses, places, longest);
  if (most_bytes > 0 && bytes > kNear) {
    const std::size_t most = std::min(most_bytes, bytes / 2);
    auto factored = make_factored_resolver(fabric, tables, addresses, places, longest, most);
    if (factored) return factored;
  }
  return bytes <= most_bytes ? make_tabled_resolver(fabric, tables, addresses, places, longest)
                             : make_walking_resolver(fabric, tables, addresses, places, longest);
}

}  // namespace contend
