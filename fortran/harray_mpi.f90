! Arrays of the module harray between the ranks of MPI.
!
!     use harray
!     use harray_mpi
!     call ha_mpi_exchange(u%fix(2, n), right, u%fix(2, 0), left, 7, comm%MPI_VAL)
!     call ha_mpi_allreduce(total, MPI_SUM%MPI_VAL, comm%MPI_VAL)
!
! Communicators and operations are integers: those of `use mpi`, or the component MPI_VAL of `use mpi_f08`. Elements
! travel in Fortran's order, wherever they are: so the other side may be a program that gives its arrays to MPI by
! itself. Every procedure takes `status` as its last argument, as those of the module harray.
!
! Compile harray.f90, this file, and harray_fortran_mpi.c instead of harray_fortran.c. docs/fortran.md is the manual.
module harray_mpi
  use harray
  use, intrinsic :: iso_c_binding
  implicit none
  private
  public :: ha_mpi_send, ha_mpi_recv, ha_mpi_exchange, ha_mpi_bcast, ha_mpi_allreduce, ha_mpi_halo

  ! Which ghost cells a halo has: all of them, by two messages in each dimension; those of the faces only; all, at once.
  integer, parameter, public :: ha_mpi_corners = 0, ha_mpi_faces = 1, ha_mpi_at_once = 2

  ! The exchange of ghost cells with the neighbours in a communicator of MPI_Cart_create, again and again.
  type :: ha_mpi_halo
    private
    type(c_ptr) :: c = c_null_ptr
  contains
    procedure :: make => make_halo    ! (cart, fields, width, kind, at, status): by all ranks
    procedure :: rebind               ! (fields, status): others of the same shapes from now on
    procedure :: start => start_halo  ! (status): the cells that are sent have been read
    procedure :: finish => finish_halo  ! (status): the ghost cells have been written
    procedure :: free => free_halo    ! by all ranks
  end type

  interface
    function c_send(x, to, tag, comm) bind(c, name='ha_fortran_mpi_send') result(status)
      import :: ha_handle, c_int
      type(ha_handle), intent(in) :: x
      integer(c_int), value :: to, tag, comm
      integer(c_int) :: status
    end function
    function c_recv(x, from, tag, comm) bind(c, name='ha_fortran_mpi_recv') result(status)
      import :: ha_handle, c_int
      type(ha_handle), intent(in) :: x
      integer(c_int), value :: from, tag, comm
      integer(c_int) :: status
    end function
    function c_exchange(out, to, in, from, tag, comm) bind(c, name='ha_fortran_mpi_exchange') result(status)
      import :: ha_handle, c_int
      type(ha_handle), intent(in) :: out, in
      integer(c_int), value :: to, from, tag, comm
      integer(c_int) :: status
    end function
    function c_bcast(x, root, comm) bind(c, name='ha_fortran_mpi_bcast') result(status)
      import :: ha_handle, c_int
      type(ha_handle), intent(in) :: x
      integer(c_int), value :: root, comm
      integer(c_int) :: status
    end function
    function c_allreduce(x, op, comm) bind(c, name='ha_fortran_mpi_allreduce') result(status)
      import :: ha_handle, c_int
      type(ha_handle), intent(in) :: x
      integer(c_int), value :: op, comm
      integer(c_int) :: status
    end function
    function c_halo_new(halo, comm, at, width, fields, count, kind) bind(c, name='ha_fortran_mpi_halo_new') &
        result(status)
      import :: ha_handle, c_int, c_int64_t, c_ptr
      type(c_ptr), intent(inout) :: halo
      integer(c_int), value :: comm, kind
      type(c_ptr), value :: at
      integer(c_int64_t), value :: width, count
      type(ha_handle), intent(in) :: fields(*)
      integer(c_int) :: status
    end function
    function c_halo_rebind(halo, fields, count) bind(c, name='ha_fortran_mpi_halo_rebind') result(status)
      import :: ha_handle, c_int, c_int64_t, c_ptr
      type(c_ptr), value :: halo
      type(ha_handle), intent(in) :: fields(*)
      integer(c_int64_t), value :: count
      integer(c_int) :: status
    end function
    function c_halo_start(halo) bind(c, name='ha_fortran_mpi_halo_start') result(status)
      import :: c_int, c_ptr
      type(c_ptr), value :: halo
      integer(c_int) :: status
    end function
    function c_halo_finish(halo) bind(c, name='ha_fortran_mpi_halo_finish') result(status)
      import :: c_int, c_ptr
      type(c_ptr), value :: halo
      integer(c_int) :: status
    end function
    subroutine c_halo_free(halo) bind(c, name='ha_fortran_mpi_halo_free')
      import :: c_ptr
      type(c_ptr), value :: halo
    end subroutine
  end interface

contains

  ! ---- messages and collectives --------------------------------------------------------------------------

  ! As MPI_Send, of an array or a view.
  subroutine ha_mpi_send(x, to, tag, comm, status)
    type(ha_array), intent(in) :: x
    integer, intent(in) :: to, tag, comm
    integer, intent(out), optional :: status
    call ha_settle(c_send(x%c, to, tag, comm), status)
  end subroutine

  ! As MPI_Recv.
  subroutine ha_mpi_recv(x, from, tag, comm, status)
    type(ha_array), intent(in) :: x
    integer, intent(in) :: from, tag, comm
    integer, intent(out), optional :: status
    call ha_settle(c_recv(x%c, from, tag, comm), status)
  end subroutine

  ! As MPI_Sendrecv.
  subroutine ha_mpi_exchange(out, to, in, from, tag, comm, status)
    type(ha_array), intent(in) :: out, in
    integer, intent(in) :: to, from, tag, comm
    integer, intent(out), optional :: status
    call ha_settle(c_exchange(out%c, to, in%c, from, tag, comm), status)
  end subroutine

  subroutine ha_mpi_bcast(x, root, comm, status)
    type(ha_array), intent(in) :: x
    integer, intent(in) :: root, comm
    integer, intent(out), optional :: status
    call ha_settle(c_bcast(x%c, root, comm), status)
  end subroutine

  ! In place.
  subroutine ha_mpi_allreduce(x, op, comm, status)
    type(ha_array), intent(in) :: x
    integer, intent(in) :: op, comm
    integer, intent(out), optional :: status
    call ha_settle(c_allreduce(x%c, op, comm), status)
  end subroutine

  ! ---- halos ---------------------------------------------------------------------------------------------

  function handles(fields) result(c)
    type(ha_array), intent(in) :: fields(:)
    type(ha_handle) :: c(size(fields))
    integer :: i
    do i = 1, size(fields)
      c(i) = fields(i)%c
    end do
  end function

  ! The fields have `width` ghost cells at each end of the communicator's dimensions; packing is done at `at`.
  subroutine make_halo(self, cart, fields, width, kind, at, status)
    class(ha_mpi_halo), intent(inout) :: self
    integer, intent(in) :: cart, width, kind
    type(ha_array), intent(in) :: fields(:)
    type(ha_context), intent(in), optional :: at
    integer, intent(out), optional :: status
    type(ha_context) :: here
    here = ha_host()
    if (present(at)) here = at
    call ha_settle(c_halo_new(self%c, cart, here%c, int(width, c_int64_t), handles(fields), &
                              size(fields, kind=c_int64_t), kind), status)
  end subroutine

  subroutine rebind(self, fields, status)
    class(ha_mpi_halo), intent(in) :: self
    type(ha_array), intent(in) :: fields(:)
    integer, intent(out), optional :: status
    call ha_settle(c_halo_rebind(self%c, handles(fields), size(fields, kind=c_int64_t)), status)
  end subroutine

  subroutine start_halo(self, status)
    class(ha_mpi_halo), intent(in) :: self
    integer, intent(out), optional :: status
    call ha_settle(c_halo_start(self%c), status)
  end subroutine

  subroutine finish_halo(self, status)
    class(ha_mpi_halo), intent(in) :: self
    integer, intent(out), optional :: status
    call ha_settle(c_halo_finish(self%c), status)
  end subroutine

  ! A second time it is harmless.
  subroutine free_halo(self)
    class(ha_mpi_halo), intent(inout) :: self
    call c_halo_free(self%c)
    self%c = c_null_ptr
  end subroutine
end module
