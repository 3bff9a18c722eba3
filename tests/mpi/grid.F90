! grid.F90 - new ranks from Fortran (tests/test_reorder.c), `use mpi` and (-DF08) `use mpi_f08`: a grid of 2 x n/2 and the same
! as a graph without weights. Rank 0 prints the new ranks in the order of MPI_COMM_WORLD, and "wrong" where a neighbour is.
program grid
#ifdef F08
  use mpi_f08
#else
  use mpi
#endif
  implicit none
  integer :: me, n, new, up, down, left, right, heard, ierr, to(3), from(3), away(3), none(3), none2(3)
  integer, allocatable :: all(:)
  logical :: bad
#ifdef F08
  type(MPI_Comm) :: made
#else
  integer :: made
#endif
  call MPI_Init(ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, n, ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, me, ierr)
  allocate(all(n))

  call MPI_Cart_create(MPI_COMM_WORLD, 2, [2, n / 2], [.true., .true.], .true., made, ierr)
  call MPI_Cart_shift(made, 0, 1, up, down, ierr)
  call MPI_Cart_shift(made, 1, 1, left, right, ierr)
  call MPI_Comm_rank(made, new, ierr)
  call MPI_Sendrecv(new, 1, MPI_INTEGER, right, 0, heard, 1, MPI_INTEGER, left, 0, made, MPI_STATUS_IGNORE, ierr)
  bad = heard /= left
  call tell('cart')

  to = [mod(me + n / 2, n), me / (n / 2) * (n / 2) + mod(me + 1, n / 2), me / (n / 2) * (n / 2) + mod(me + n / 2 - 1, n / 2)]
  call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 3, to, MPI_UNWEIGHTED, 3, to, MPI_UNWEIGHTED, MPI_INFO_NULL, .true., &
                                      made, ierr)
  call MPI_Comm_rank(made, new, ierr)
  call MPI_Dist_graph_neighbors(made, 3, from, none, 3, away, none2, ierr)
  bad = away(1) /= mod(new + n / 2, n) .or. from(1) /= away(1)
  call tell('adjacent')
  call MPI_Finalize(ierr)
contains
  subroutine tell(what)
    character(*), intent(in) :: what
    logical :: any_bad
    call MPI_Gather(new, 1, MPI_INTEGER, all, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
    call MPI_Reduce(bad, any_bad, 1, MPI_LOGICAL, MPI_LOR, 0, MPI_COMM_WORLD, ierr)
    if (me /= 0) return
    write (*, '(a, *(1x, i0))', advance='no') what, all
    if (any_bad) write (*, '(a)', advance='no') ' wrong'
    write (*, '(a)') ''
  end subroutine
end program
