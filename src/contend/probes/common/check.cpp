#include "common/check.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace contend::probe {

namespace {

// The one thing that a message needs from anywhere in the program.
std::string& stored_name() {
  static std::string name = "contend-probe";
  return name;
}

bool mpi_runs() {
  int started = 0;
  int ended = 0;
  return MPI_Initialized(&started) == MPI_SUCCESS && started != 0 &&
         MPI_Finalized(&ended) == MPI_SUCCESS && ended == 0;
}

}  // namespace

void name_program(const std::string& name) { stored_name() = name; }

const std::string& program_name() { return stored_name(); }

void fail(const std::string& message, int status) {
  std::string line = program_name() + ": ";
  const bool runs = mpi_runs();
  int rank = 0;
  if (runs && MPI_Comm_rank(MPI_COMM_WORLD, &rank) == MPI_SUCCESS) {
    line += "rank " + std::to_string(rank) + ": ";
  }
  std::string told = message;
  std::replace(told.begin(), told.end(), '\n', ' ');
  line += told + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);
  std::fflush(stderr);
  if (runs) {
    MPI_Abort(MPI_COMM_WORLD, status);
  }
  // MPI_Abort may return where a launcher has to be asked first; exit handlers could then wait.
  std::_Exit(status);
}

void check(const char* call, int code) {
  if (code == MPI_SUCCESS) {
    return;
  }
  char words[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  if (MPI_Error_string(code, words, &length) != MPI_SUCCESS || length == 0) {
    fail(std::string(call) + " failed with code " + std::to_string(code));
  }
  fail(std::string(call) + " failed: " + words);
}

int rank_in(MPI_Comm comm) {
  int rank = 0;
  check("MPI_Comm_rank", MPI_Comm_rank(comm, &rank));
  return rank;
}

int size_of(MPI_Comm comm) {
  int size = 0;
  check("MPI_Comm_size", MPI_Comm_size(comm, &size));
  return size;
}

}  // namespace contend::probe
