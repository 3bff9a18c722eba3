! collectives.F90 - collectives, communicators, one-sided calls and Waitsome by their Fortran names, on 4
! ranks, with sizes that tests/test_capture.c knows. With F08: use mpi_f08, else use mpi.
program collectives
#ifdef F08
  use mpi_f08
#else
  use mpi
#endif
  implicit none
#ifdef F08
  type(MPI_Comm) :: w, made, grid, between, merged
  type(MPI_Win) :: win
  type(MPI_Request) :: requests(3)
  type(MPI_Status) :: statuses(3)
  type(MPI_Datatype) :: types(4)
#else
  integer :: w, made, grid, between, merged, win, requests(3), statuses(MPI_STATUS_SIZE, 3), types(4)
#endif
  integer :: rank, n_done, left, indices(3), i, err
  integer :: a(256), b(256), same(4)
  integer :: counts(4) = [1, 2, 3, 4], places(4) = [0, 1, 3, 6], offsets(4) = [0, 4, 12, 24]
  integer :: one = 1, old
  integer(kind=MPI_ADDRESS_KIND) :: zero = 0, bytes = 1024

  call MPI_Init(err)
  w = MPI_COMM_WORLD
  call MPI_Comm_rank(w, rank, err)
  a = rank

  call MPI_Reduce(a, b, 11, MPI_INTEGER, MPI_SUM, 2, w, err)
  call MPI_Scan(a, b, 13, MPI_INTEGER, MPI_SUM, w, err)
  call MPI_Exscan(a, b, 14, MPI_INTEGER, MPI_SUM, w, err)
  call MPI_Reduce_scatter(a, b, counts, MPI_INTEGER, MPI_SUM, w, err)
  call MPI_Reduce_scatter_block(a, b, 5, MPI_INTEGER, MPI_SUM, w, err)
  if (rank == 1) then
    call MPI_Gather(MPI_IN_PLACE, 0, MPI_INTEGER, b, 6, MPI_INTEGER, 1, w, err)
    call MPI_Gatherv(MPI_IN_PLACE, 0, MPI_INTEGER, b, counts, places, MPI_INTEGER, 1, w, err)
  else
    call MPI_Gather(a, 6, MPI_INTEGER, b, 6, MPI_INTEGER, 1, w, err)
    call MPI_Gatherv(a, rank + 1, MPI_INTEGER, b, counts, places, MPI_INTEGER, 1, w, err)
  end if
  if (rank == 2) then
    call MPI_Scatter(a, 7, MPI_INTEGER, MPI_IN_PLACE, 7, MPI_INTEGER, 2, w, err)
    call MPI_Scatterv(a, counts, places, MPI_INTEGER, MPI_IN_PLACE, 0, MPI_INTEGER, 2, w, err)
  else
    call MPI_Scatter(a, 7, MPI_INTEGER, b, 7, MPI_INTEGER, 2, w, err)
    call MPI_Scatterv(a, counts, places, MPI_INTEGER, b, rank + 1, MPI_INTEGER, 2, w, err)
  end if
  call MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_INTEGER, b, counts, places, MPI_INTEGER, w, err)
  call MPI_Alltoall(MPI_IN_PLACE, 0, MPI_INTEGER, b, 9, MPI_INTEGER, w, err)
  same = rank + 1 ! what a rank receives: i + 1 from rank i
  types = MPI_INTEGER
  call MPI_Alltoallv(a, same, places, MPI_INTEGER, b, counts, places, MPI_INTEGER, w, err)
  call MPI_Alltoallw(a, same, offsets, types, b, counts, offsets, types, w, err)

  call MPI_Ibcast(a, 10, MPI_INTEGER, 0, w, requests(1), err)
  call MPI_Iallreduce(a, b, 20, MPI_INTEGER, MPI_SUM, w, requests(2), err)
  call MPI_Ibarrier(w, requests(3), err)
  left = 3
  do while (left > 0)
    call MPI_Waitsome(3, requests, n_done, indices, statuses, err)
    left = left - n_done
  end do

  call MPI_Comm_split_type(w, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, made, err)
  call MPI_Comm_free(made, err)
  call MPI_Comm_idup(w, made, requests(1), err)
  call MPI_Wait(requests(1), MPI_STATUS_IGNORE, err)
  call MPI_Barrier(made, err)
  call MPI_Cart_create(w, 1, [4], [.true.], .false., grid, err)
  call MPI_Neighbor_alltoall(a, 5, MPI_INTEGER, b, 5, MPI_INTEGER, grid, err)
  call MPI_Comm_split(w, rank / 2, 0, made, err)
  call MPI_Intercomm_create(made, 0, w, merge(2, 0, rank < 2), 9, between, err)
  if (rank == 0) call MPI_Send(a, 21, MPI_INTEGER, 1, 1, between, err) ! to rank 3 of the world
  if (rank == 3) call MPI_Recv(b, 64, MPI_INTEGER, MPI_ANY_SOURCE, 1, between, MPI_STATUS_IGNORE, err)
  call MPI_Intercomm_merge(between, rank < 2, merged, err)
  call MPI_Barrier(merged, err)

  call MPI_Win_create(b, bytes, 4, MPI_INFO_NULL, w, win, err)
  call MPI_Win_fence(0, win, err)
  if (rank == 0) call MPI_Put(a, 30, MPI_INTEGER, 1, zero, 30, MPI_INTEGER, win, err)
  if (rank == 2) call MPI_Get(a, 31, MPI_INTEGER, 3, zero, 31, MPI_INTEGER, win, err)
  call MPI_Win_fence(0, win, err)
  if (rank == 1) call MPI_Accumulate(a, 32, MPI_INTEGER, 0, zero, 32, MPI_INTEGER, MPI_SUM, win, err)
  call MPI_Win_fence(0, win, err)
  call MPI_Win_lock_all(0, win, err)
  call MPI_Fetch_and_op(one, old, MPI_INTEGER, 0, zero, MPI_SUM, win, err)
  call MPI_Get_accumulate(a, 0, MPI_INTEGER, a, 5, MPI_INTEGER, 3, zero, 5, MPI_INTEGER, MPI_NO_OP, win, err)
  call MPI_Get_accumulate(a, 3, MPI_INTEGER, a(9), 3, MPI_INTEGER, 3, zero, 3, MPI_INTEGER, MPI_SUM, win, err)
  call MPI_Win_unlock_all(win, err)
  call MPI_Win_free(win, err)
  call MPI_Finalize(err)
end program
