#include "hotspot/hotspot.hpp"

#include <algorithm>
#include <limits>

#include "common/check.hpp"
#include "common/local_clock.hpp"
#include "common/waiting.hpp"

namespace contend::probe {

namespace {

constexpr int victim_tag = 13;
constexpr auto wiped = std::byte{0xA5};

std::byte content(int rank, std::size_t place) {
  return static_cast<std::byte>((static_cast<std::size_t>(rank) * 31 + place * 7 + place / 251) &
                                0xFF);
}

}  // namespace

Hotspot::Hotspot(const Settings& settings, Pair victim, std::vector<Pair> rivals, MPI_Comm comm)
    : settings_(settings), victim_(victim), rivals_(std::move(rivals)), comm_(comm) {
  const int rank = rank_in(comm);
  role_ = Role::idle;
  if (rank == victim_.first || rank == victim_.second) {
    role_ = rank == victim_.first ? Role::asks : Role::answers;
    other_ = rank == victim_.first ? victim_.second : victim_.first;
    const auto bytes = static_cast<std::size_t>(settings_.bytes);
    const auto window = static_cast<std::size_t>(settings_.window);
    sent_.resize(bytes);
    for (std::size_t place = 0; place < bytes; ++place) {
      sent_[place] = content(rank, place);
    }
    received_.assign(bytes * window, wiped);
    requests_.assign(window, MPI_REQUEST_NULL);
  }
  for (const Pair& rival : rivals_) {
    if (rank == rival.first || rank == rival.second) {
      role_ = rank == rival.first ? Role::loads : Role::drains;
      other_ = rank == rival.first ? rival.second : rival.first;
      load_.emplace(settings_.load_bytes, comm);
    }
  }
}

std::vector<std::string> Hotspot::columns() const {
  std::vector<std::string> names = {"begin"};
  for (std::int64_t operation = 1; operation <= settings_.operations; ++operation) {
    names.push_back("after_" + std::to_string(operation));
  }
  return names;
}

void Hotspot::reset(bool verified) {
  if (verified) {
    std::fill(received_.begin(), received_.end(), wiped);
  }
}

void Hotspot::run(Stamps& stamps) {
  if (role_ == Role::loads) {
    load_->send_to(other_, victim_.first);
    skip(stamps);
    return;
  }
  if (role_ == Role::drains) {
    load_->receive_from(other_);
    skip(stamps);
    return;
  }
  if (!rivals_.empty()) {
    wait_until(local_now() + static_cast<std::int64_t>(settings_.lead * 1e9));
  }
  stamps.mark();
  for (std::int64_t operation = 0; operation < settings_.operations; ++operation) {
    exchange();
    stamps.mark();
  }
  if (role_ == Role::asks) {
    for (const Pair& rival : rivals_) {
      Load::stop(rival.first, comm_);
    }
  }
}

void Hotspot::exchange() {
  const bool asks = role_ == Role::asks;
  if (asks) {
    send_window();
    receive_window();
  } else {
    receive_window();
    send_window();
  }
}

void Hotspot::send_window() {
  // A round trip is answered in full; a stream with one empty message when all of it is here.
  const bool streams = settings_.measured == Measured::stream;
  const bool answer = streams && role_ == Role::answers;
  const int count = answer ? 0 : static_cast<int>(settings_.bytes);
  const std::size_t messages = streams && !answer ? requests_.size() : 1;
  for (std::size_t message = 0; message < messages; ++message) {
    check("MPI_Isend",
          MPI_Isend(sent_.data(), count, MPI_BYTE, other_, victim_tag, comm_, &requests_[message]));
  }
  wait_all(requests_);
}

void Hotspot::receive_window() {
  const bool streams = settings_.measured == Measured::stream;
  const bool answer = streams && role_ == Role::asks;
  const int count = answer ? 0 : static_cast<int>(settings_.bytes);
  const std::size_t messages = streams && !answer ? requests_.size() : 1;
  const auto bytes = static_cast<std::size_t>(settings_.bytes);
  for (std::size_t message = 0; message < messages; ++message) {
    check("MPI_Irecv", MPI_Irecv(received_.data() + message * bytes, count, MPI_BYTE, other_,
                                 victim_tag, comm_, &requests_[message]));
  }
  wait_all(requests_);
}

std::optional<std::string> Hotspot::verify() {
  const bool streams = settings_.measured == Measured::stream;
  if (load_ || (streams && role_ == Role::asks)) {
    return std::nullopt;
  }
  const auto bytes = static_cast<std::size_t>(settings_.bytes);
  const std::size_t looked_at = streams ? received_.size() : bytes;
  for (std::size_t place = 0; place < looked_at; ++place) {
    if (received_[place] != content(other_, place % bytes)) {
      return "byte " + std::to_string(place % bytes) + " from rank " + std::to_string(other_) +
             " is wrong";
    }
  }
  return std::nullopt;
}

void Hotspot::skip(Stamps& stamps) const {
  for (std::int64_t column = 0; column <= settings_.operations; ++column) {
    stamps.add(std::numeric_limits<double>::quiet_NaN());
  }
}

}  // namespace contend::probe
