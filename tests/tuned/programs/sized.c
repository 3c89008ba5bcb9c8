/* All-to-alls of blocks of so many bytes, one for each number; prints "right" where all is
 * received. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int count, char** words) {
  int rank, size, wrong = 0;
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int word = 1; word < count; word++) {
    int bytes = atoi(words[word]);
    char *data = malloc((size_t)bytes * size), *room = malloc((size_t)bytes * size);
    for (int other = 0; other < size; other++)
      memset(data + (size_t)other * bytes, 16 * rank + other, bytes);
    MPI_Pcontrol(word);
    MPI_Alltoall(data, bytes, MPI_BYTE, room, bytes, MPI_BYTE, MPI_COMM_WORLD);
    MPI_Pcontrol(word);
    for (int other = 0; other < size; other++)
      for (int at = 0; at < bytes; at++)
        wrong += room[(size_t)other * bytes + at] != (char)(16 * other + rank);
    free(data), free(room);
  }
  if (!wrong) puts("right");
  return MPI_Finalize();
}
