// Asks whether the library has a routine, as mpi4py does.
#include <mpi.h>
#include <stdio.h>

extern int MPI_Send_c(const void*, MPI_Count, MPI_Datatype, int, int, MPI_Comm)
    __attribute__((weak));

int main(int count, char** words) {
  MPI_Init(&count, &words);
  printf("MPI_Send_c: %s\n", MPI_Send_c ? "there" : "none");
  return MPI_Finalize();
}
