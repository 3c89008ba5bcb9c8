! Four all-to-alls by one of Fortran's three interfaces; prints "right" where all is received.
program flavour
#if FLAVOUR == 2
  use mpi
#elif FLAVOUR == 3
  use mpi_f08
#endif
  implicit none
#if FLAVOUR == 1
  include 'mpif.h'
#endif
  integer :: rank, size, error, other
  integer, allocatable :: data(:), room(:), counts(:), places(:)
#if FLAVOUR == 3
  type(MPI_Request) :: request
#else
  integer :: request
#endif
  logical :: right
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, size, error)
  allocate(data(0:size-1), room(0:size-1), counts(0:size-1), places(0:size-1))
  data = [(100 * rank + other, other = 0, size - 1)]
  counts = 1
  places = [(other, other = 0, size - 1)]
  right = .true.
  room = -1
  call MPI_Alltoall(data, 1, MPI_INTEGER, room, 1, MPI_INTEGER, MPI_COMM_WORLD, error)
  call check
  room = data
  call MPI_Alltoall(MPI_IN_PLACE, 1, MPI_INTEGER, room, 1, MPI_INTEGER, MPI_COMM_WORLD, error)
  call check
  room = -1
  call MPI_Alltoallv(data, counts, places, MPI_INTEGER, room, counts, places, MPI_INTEGER, &
      MPI_COMM_WORLD, error)
  call check
  room = -1
  call MPI_Ialltoall(data, 1, MPI_INTEGER, room, 1, MPI_INTEGER, MPI_COMM_WORLD, request, error)
  call MPI_Wait(request, MPI_STATUS_IGNORE, error)
  call check
  if (right) print '(a)', 'right'
  call MPI_Finalize(error)
contains
  subroutine check
    right = right .and. all(room == [(100 * other + rank, other = 0, size - 1)])
  end subroutine check
end program flavour
