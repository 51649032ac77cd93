! Arrays that live on host and device at once, for Fortran 2008.
!
!     use harray
!     type(ha_array) :: u
!     real(real64), pointer :: p(:, :)
!     call u%make(ha_real64, [nx, ny], ghosts=[1, 1], name='u')   ! indices 0:nx+1, 0:ny+1
!     call u%overwrite(p)                                         ! p points to all of u, with its bounds
!     p = 0
!     call u%close()                                              ! p is not to be used any more
!     call step(gpu%c, u%c)                                       ! a kernel in C, wherever gpu is
!     call u%read(p)                                              ! what has changed comes back
!     print *, sum(p)
!     call u%close()
!     call u%free()
!
! Arrays are in Fortran's order. Each procedure takes `status` as its last argument: 0, or one of ha_err_...,
! of which ha_error_text() says what was wrong. Without `status` an error is printed, and ends the program.
!
! Compile this file and harray_fortran.c, which defines what is called here (harray_fortran.h). docs/fortran.md
! is the manual.
module harray
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64, error_unit
  implicit none
  private
  public :: int32, int64, real32, real64, c_ptr
  public :: ha_array, ha_context, ha_handle, ha_kind
  public :: ha_host, ha_best, ha_find, ha_shutdown, ha_error_text
  public :: ha_settle  ! for modules beside this one

  integer, parameter :: most_rank = 7, most_text = 500

  ! The kind of an array's elements: ha_complex32 is complex(real32).
  type :: ha_kind
    private
    integer(c_int) :: type = 0
  end type
  type(ha_kind), parameter, public :: ha_int32 = ha_kind(4), ha_int64 = ha_kind(5)
  type(ha_kind), parameter, public :: ha_real32 = ha_kind(12), ha_real64 = ha_kind(13)
  type(ha_kind), parameter, public :: ha_complex32 = ha_kind(14), ha_complex64 = ha_kind(15)

  integer, parameter, public :: ha_ok = 0, ha_err_argument = 1, ha_err_memory = 2, ha_err_state = 3
  integer, parameter, public :: ha_err_conflict = 4, ha_err_deadlock = 5, ha_err_busy = 6, ha_err_lost = 7
  integer, parameter, public :: ha_err_backend = 8, ha_err_unsupported = 9, ha_err_not_found = 10
  integer, parameter, public :: ha_err_transfer = 11, ha_err_compile = 12

  ! Where work is done: `c` is the ha_context * of C.
  type :: ha_context
    type(c_ptr) :: c = c_null_ptr
  contains
    procedure :: finish => context_finish
  end type

  ! What C functions get of an array, as const ha_fortran_array *.
  type, bind(c) :: ha_handle
    private
    integer(c_int64_t) :: words(42) = 0
  end type

  ! An array, or a view of one.
  type :: ha_array
    type(ha_handle) :: c
  contains
    procedure, private :: make_int32, make_int64, part_int32, part_int64, fix_int32, fix_int64, assign
    procedure, private :: read_there, write_there, overwrite_there
    generic :: make => make_int32, make_int64    ! (kind, extents, ghosts, lower, at, name, status)
    generic :: part => part_int32, part_int64    ! (low, high, status): a view of these indices
    generic :: fix => fix_int32, fix_int64       ! (dimension, index, status): a view without that dimension
    generic :: assignment(=) => assign           ! another handle of the same array
    generic :: read => read_there                ! (at, address, status), or (pointer, status)
    generic :: write => write_there
    generic :: overwrite => overwrite_there
    procedure :: interior                        ! (status): a view without ghost cells
    procedure :: close => close_access
    procedure :: free
    procedure :: sync                            ! the memory that was wrapped has the values
    procedure :: fill                            ! (value, at, status)
    procedure :: copy                            ! (from, at, status): its elements become those of from
    procedure :: lower, upper                    ! the bounds, as lbound and ubound
    procedure :: valid                           ! (at): is every element there?
    procedure :: text                            ! 'u: real(real64) (0:5, 0:4)'
    include 'harray_bindings.inc'
  end type

  enum, bind(c)
    enumerator :: to_read = 0, to_write = 1, to_overwrite = 2
  end enum

  ! ha_fortran_pointer
  type, bind(c) :: place
    type(c_ptr) :: data
    integer(c_int64_t) :: room(most_rank), extent(most_rank), lower(most_rank)
  end type

  interface
    function c_text() bind(c, name='ha_fortran_text') result(text)
      import :: c_ptr
      type(c_ptr) :: text
    end function
    function c_host() bind(c, name='ha_fortran_host') result(context)
      import :: c_ptr
      type(c_ptr) :: context
    end function
    function c_best() bind(c, name='ha_fortran_best') result(context)
      import :: c_ptr
      type(c_ptr) :: context
    end function
    function c_find(name) bind(c, name='ha_fortran_find') result(context)
      import :: c_ptr, c_char
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr) :: context
    end function
    function c_finish(context) bind(c, name='ha_fortran_finish') result(status)
      import :: c_ptr, c_int
      type(c_ptr), value :: context
      integer(c_int) :: status
    end function
    function c_shutdown() bind(c, name='ha_fortran_shutdown') result(status)
      import :: c_int
      integer(c_int) :: status
    end function
    function c_make(a, type, rank, extent, lower, ghosts, at, name) bind(c, name='ha_fortran_make') result(status)
      import :: ha_handle, c_int, c_int64_t, c_ptr, c_char
      type(ha_handle), intent(inout) :: a
      integer(c_int), value :: type, rank
      integer(c_int64_t), intent(in) :: extent(*), lower(*), ghosts(*)
      type(c_ptr), value :: at
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int) :: status
    end function
    function c_wrap(a, type, rank, extent, lower, data, gaps, name) bind(c, name='ha_fortran_wrap') result(status)
      import :: ha_handle, c_int, c_int64_t, c_ptr, c_char
      type(ha_handle), intent(inout) :: a
      integer(c_int), value :: type, rank, gaps
      integer(c_int64_t), intent(in) :: extent(*), lower(*)
      type(c_ptr), value :: data
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int) :: status
    end function
    function c_sync(a) bind(c, name='ha_fortran_sync') result(status)
      import :: ha_handle, c_int
      type(ha_handle), intent(inout) :: a
      integer(c_int) :: status
    end function
    function c_free(a) bind(c, name='ha_fortran_free') result(status)
      import :: ha_handle, c_int
      type(ha_handle), intent(inout) :: a
      integer(c_int) :: status
    end function
    function c_part(a, rank, low, high, view) bind(c, name='ha_fortran_part') result(status)
      import :: ha_handle, c_int, c_int64_t
      type(ha_handle), intent(in) :: a
      integer(c_int), value :: rank
      integer(c_int64_t), intent(in) :: low(*), high(*)
      type(ha_handle), intent(inout) :: view
      integer(c_int) :: status
    end function
    function c_interior(a, view) bind(c, name='ha_fortran_interior') result(status)
      import :: ha_handle, c_int
      type(ha_handle), intent(in) :: a
      type(ha_handle), intent(inout) :: view
      integer(c_int) :: status
    end function
    function c_fix(a, dimension, index, view) bind(c, name='ha_fortran_fix') result(status)
      import :: ha_handle, c_int, c_int64_t
      type(ha_handle), intent(in) :: a
      integer(c_int), value :: dimension
      integer(c_int64_t), value :: index
      type(ha_handle), intent(inout) :: view
      integer(c_int) :: status
    end function
    function c_assign(to, from) bind(c, name='ha_fortran_assign') result(status)
      import :: ha_handle, c_int
      type(ha_handle), intent(inout) :: to
      type(ha_handle), intent(in) :: from
      integer(c_int) :: status
    end function
    function c_open(a, how, at, data) bind(c, name='ha_fortran_open') result(status)
      import :: ha_handle, c_int, c_ptr
      type(ha_handle), intent(inout) :: a
      integer(c_int), value :: how
      type(c_ptr), value :: at
      type(c_ptr), intent(out) :: data
      integer(c_int) :: status
    end function
    function c_point(a, how, type, rank, p) bind(c, name='ha_fortran_point') result(status)
      import :: ha_handle, c_int, place
      type(ha_handle), intent(inout) :: a
      integer(c_int), value :: how, type, rank
      type(place), intent(inout) :: p
      integer(c_int) :: status
    end function
    function c_close(a) bind(c, name='ha_fortran_close') result(status)
      import :: ha_handle, c_int
      type(ha_handle), intent(inout) :: a
      integer(c_int) :: status
    end function
    function c_fill(a, value, at) bind(c, name='ha_fortran_fill') result(status)
      import :: ha_handle, c_int, c_double, c_ptr
      type(ha_handle), intent(in) :: a
      real(c_double), value :: value
      type(c_ptr), value :: at
      integer(c_int) :: status
    end function
    function c_copy(to, from, at) bind(c, name='ha_fortran_copy') result(status)
      import :: ha_handle, c_int, c_ptr
      type(ha_handle), intent(in) :: to, from
      type(c_ptr), value :: at
      integer(c_int) :: status
    end function
    pure function c_rank(a) bind(c, name='ha_fortran_rank') result(rank)
      import :: ha_handle, c_int
      type(ha_handle), intent(in) :: a
      integer(c_int) :: rank
    end function
    subroutine c_bounds(a, lower, upper) bind(c, name='ha_fortran_bounds')
      import :: ha_handle, c_int64_t
      type(ha_handle), intent(in) :: a
      integer(c_int64_t), intent(inout) :: lower(*), upper(*)
    end subroutine
    function c_valid(a, at) bind(c, name='ha_fortran_valid') result(yes)
      import :: ha_handle, c_int, c_ptr
      type(ha_handle), intent(in) :: a
      type(c_ptr), value :: at
      integer(c_int) :: yes
    end function
    function c_describe(a) bind(c, name='ha_fortran_describe') result(text)
      import :: ha_handle, c_ptr
      type(ha_handle), intent(in) :: a
      type(c_ptr) :: text
    end function
  end interface

contains

  ! ---- errors and texts ----------------------------------------------------------------------------------

  ! A text of C's.
  function to_text(address) result(text)
    type(c_ptr), intent(in) :: address
    character(:), allocatable :: text
    character(kind=c_char), pointer :: letters(:)
    integer :: i
    call c_f_pointer(address, letters, [most_text])
    text = ''
    do i = 1, most_text
      if (letters(i) == c_null_char) exit
      text = text//letters(i)
    end do
  end function

  ! What was wrong in the last call of this thread that failed.
  function ha_error_text() result(text)
    character(:), allocatable :: text
    text = to_text(c_text())
  end function

  ! Gives the caller the status, or ends the program.
  subroutine ha_settle(code, status)
    integer(c_int), intent(in) :: code
    integer, intent(out), optional :: status
    if (present(status)) then
      status = int(code)
    else if (code /= ha_ok) then
      write (error_unit, '(a)') 'harray: '//ha_error_text()
      error stop 1
    end if
  end subroutine

  function to_c(text) result(c)
    character(*), intent(in), optional :: text
    character(:), allocatable :: c
    c = c_null_char
    if (present(text)) c = trim(text)//c_null_char
  end function

  ! ---- contexts --------------------------------------------------------------------------------------------

  ! The processor and its memory.
  function ha_host() result(context)
    type(ha_context) :: context
    context%c = c_host()
  end function

  ! The first GPU, or the host where there is none; or what the environment variable HARRAY_DEVICE names.
  function ha_best(status) result(context)
    integer, intent(out), optional :: status
    type(ha_context) :: context
    context%c = c_best()
    call ha_settle(found(context), status)
  end function

  ! By name: 'host', 'cuda:0', 'sim:0'.
  function ha_find(name, status) result(context)
    character(*), intent(in) :: name
    integer, intent(out), optional :: status
    type(ha_context) :: context
    context%c = c_find(to_c(name))
    call ha_settle(found(context), status)
  end function

  function found(context) result(status)
    type(ha_context), intent(in) :: context
    integer(c_int) :: status
    status = merge(ha_ok, ha_err_not_found, c_associated(context%c))
  end function

  ! Waits until all work there is done.
  subroutine context_finish(self, status)
    class(ha_context), intent(in) :: self
    integer, intent(out), optional :: status
    call ha_settle(c_finish(self%c), status)
  end subroutine

  ! Gives back every device and all memory. Refused while there are arrays that were not freed. Nobody has to.
  subroutine ha_shutdown(status)
    integer, intent(out), optional :: status
    call ha_settle(c_shutdown(), status)
  end subroutine

  function here_or(at) result(context)
    type(ha_context), intent(in), optional :: at
    type(c_ptr) :: context
    context = c_host()
    if (present(at)) context = at%c
  end function

  ! ---- making and freeing ------------------------------------------------------------------------------------

  subroutine make_int64(self, kind, extents, ghosts, lower, at, name, status)
    class(ha_array), intent(inout) :: self
    type(ha_kind), intent(in) :: kind
    integer(int64), intent(in) :: extents(:)
    integer(int64), intent(in), optional :: ghosts(:), lower(:)
    type(ha_context), intent(in), optional :: at
    character(*), intent(in), optional :: name
    integer, intent(out), optional :: status
    integer(c_int64_t) :: g(size(extents)), l(size(extents))
    integer(c_int) :: code
    g = filled(size(extents), 0, ghosts)
    l = filled(size(extents), 1, lower)
    code = c_make(self%c, kind%type, ranks(size(extents), ghosts, lower), extents, l, g, here_or(at), to_c(name))
    call ha_settle(code, status)
  end subroutine

  subroutine make_int32(self, kind, extents, ghosts, lower, at, name, status)
    class(ha_array), intent(inout) :: self
    type(ha_kind), intent(in) :: kind
    integer(int32), intent(in) :: extents(:)
    integer(int32), intent(in), optional :: ghosts(:), lower(:)
    type(ha_context), intent(in), optional :: at
    character(*), intent(in), optional :: name
    integer, intent(out), optional :: status
    integer(int64), allocatable :: g(:), l(:)
    if (present(ghosts)) allocate (g, source=int(ghosts, int64))
    if (present(lower)) allocate (l, source=int(lower, int64))
    call self%make_int64(kind, int(extents, int64), g, l, at, name, status)
  end subroutine

  ! The numbers that are given for each dimension, or one for all of them.
  function filled(rank, value, given) result(numbers)
    integer, intent(in) :: rank, value
    integer(int64), intent(in), optional :: given(:)
    integer(c_int64_t) :: numbers(rank)
    numbers = value
    if (.not. present(given)) return
    if (size(given) == rank) numbers = given
  end function

  ! The rank; one that is refused, where as many numbers were not given.
  function ranks(rank, ghosts, lower) result(all)
    integer, intent(in) :: rank
    integer(int64), intent(in), optional :: ghosts(:), lower(:)
    integer(c_int) :: all
    all = rank
    if (present(ghosts)) all = merge(all, -1_c_int, size(ghosts) == rank)
    if (present(lower)) all = merge(all, -1_c_int, size(lower) == rank)
  end function

  subroutine wraps(self, kind, extents, first, contiguous, lower, name, status)
    class(ha_array), intent(inout) :: self
    type(ha_kind), intent(in) :: kind
    integer(int64), intent(in) :: extents(:)
    type(c_ptr), intent(in) :: first
    logical, intent(in) :: contiguous
    integer, intent(in), optional :: lower(:)
    character(*), intent(in), optional :: name
    integer, intent(out), optional :: status
    integer(int64), allocatable :: l(:)
    integer(c_int) :: rank, code
    if (present(lower)) allocate (l, source=int(lower, int64))
    rank = ranks(size(extents), lower=l)
    code = c_wrap(self%c, kind%type, rank, extents, filled(size(extents), 1, l), first, &
                  merge(0_c_int, 1_c_int, contiguous), to_c(name))
    call ha_settle(code, status)
  end subroutine

  subroutine sync(self, status)
    class(ha_array), intent(inout) :: self
    integer, intent(out), optional :: status
    call ha_settle(c_sync(self%c), status)
  end subroutine

  ! The end of an array: memory that was wrapped has the values. Harmless where there is none, and for views.
  subroutine free(self, status)
    class(ha_array), intent(inout) :: self
    integer, intent(out), optional :: status
    call ha_settle(c_free(self%c), status)
  end subroutine

  ! ---- views -----------------------------------------------------------------------------------------------

  function part_int64(self, low, high, status) result(view)
    class(ha_array), intent(in) :: self
    integer(int64), intent(in) :: low(:), high(:)
    integer, intent(out), optional :: status
    type(ha_array) :: view
    integer(c_int) :: rank
    rank = merge(size(low), 0, size(low) == size(high))
    call ha_settle(c_part(self%c, rank, low, high, view%c), status)
  end function

  function part_int32(self, low, high, status) result(view)
    class(ha_array), intent(in) :: self
    integer(int32), intent(in) :: low(:), high(:)
    integer, intent(out), optional :: status
    type(ha_array) :: view
    integer(c_int) :: rank
    rank = merge(size(low), 0, size(low) == size(high))
    call ha_settle(c_part(self%c, rank, int(low, c_int64_t), int(high, c_int64_t), view%c), status)
  end function

  function fix_int64(self, dimension, index, status) result(view)
    class(ha_array), intent(in) :: self
    integer, intent(in) :: dimension
    integer(int64), intent(in) :: index
    integer, intent(out), optional :: status
    type(ha_array) :: view
    call ha_settle(c_fix(self%c, int(dimension, c_int), index, view%c), status)
  end function

  function fix_int32(self, dimension, index, status) result(view)
    class(ha_array), intent(in) :: self
    integer, intent(in) :: dimension
    integer(int32), intent(in) :: index
    integer, intent(out), optional :: status
    type(ha_array) :: view
    call ha_settle(c_fix(self%c, int(dimension, c_int), int(index, c_int64_t), view%c), status)
  end function

  function interior(self, status) result(view)
    class(ha_array), intent(in) :: self
    integer, intent(out), optional :: status
    type(ha_array) :: view
    call ha_settle(c_interior(self%c, view%c), status)
  end function

  subroutine assign(to, from)
    class(ha_array), intent(inout) :: to
    type(ha_array), intent(in) :: from
    call ha_settle(c_assign(to%c, from%c))
  end subroutine

  ! ---- accesses ----------------------------------------------------------------------------------------------

  ! Opens an array for a pointer.
  function opens(self, how, kind, rank, p, status) result(is_open)
    class(ha_array), intent(inout) :: self
    integer(c_int), intent(in) :: how
    type(ha_kind), intent(in) :: kind
    integer, intent(in) :: rank
    type(place), intent(out) :: p
    integer, intent(out), optional :: status
    logical :: is_open
    integer(c_int) :: code
    code = c_point(self%c, how, kind%type, int(rank, c_int), p)
    is_open = code == ha_ok
    call ha_settle(code, status)
  end function

  ! Opens an array anywhere; the address is good for what works there.
  subroutine opens_there(self, how, at, address, status)
    class(ha_array), intent(inout) :: self
    integer(c_int), intent(in) :: how
    type(ha_context), intent(in) :: at
    type(c_ptr), intent(out), optional :: address
    integer, intent(out), optional :: status
    type(c_ptr) :: data
    integer(c_int) :: code
    code = c_open(self%c, how, at%c, data)
    if (present(address)) address = data
    call ha_settle(code, status)
  end subroutine

  subroutine read_there(self, at, address, status)
    class(ha_array), intent(inout) :: self
    type(ha_context), intent(in) :: at
    type(c_ptr), intent(out), optional :: address
    integer, intent(out), optional :: status
    call opens_there(self, to_read, at, address, status)
  end subroutine

  subroutine write_there(self, at, address, status)
    class(ha_array), intent(inout) :: self
    type(ha_context), intent(in) :: at
    type(c_ptr), intent(out), optional :: address
    integer, intent(out), optional :: status
    call opens_there(self, to_write, at, address, status)
  end subroutine

  subroutine overwrite_there(self, at, address, status)
    class(ha_array), intent(inout) :: self
    type(ha_context), intent(in) :: at
    type(c_ptr), intent(out), optional :: address
    integer, intent(out), optional :: status
    call opens_there(self, to_overwrite, at, address, status)
  end subroutine

  subroutine close_access(self, status)
    class(ha_array), intent(inout) :: self
    integer, intent(out), optional :: status
    call ha_settle(c_close(self%c), status)
  end subroutine

  ! ---- contents and questions ----------------------------------------------------------------------------------

  subroutine fill(self, value, at, status)
    class(ha_array), intent(inout) :: self
    real(real64), intent(in) :: value
    type(ha_context), intent(in), optional :: at
    integer, intent(out), optional :: status
    call ha_settle(c_fill(self%c, value, here_or(at)), status)
  end subroutine

  subroutine copy(self, from, at, status)
    class(ha_array), intent(inout) :: self
    class(ha_array), intent(in) :: from
    type(ha_context), intent(in), optional :: at
    integer, intent(out), optional :: status
    call ha_settle(c_copy(self%c, from%c, here_or(at)), status)
  end subroutine

  function lower(self) result(bounds)
    class(ha_array), intent(in) :: self
    integer(int64) :: bounds(c_rank(self%c)), others(c_rank(self%c))
    call c_bounds(self%c, bounds, others)
  end function

  function upper(self) result(bounds)
    class(ha_array), intent(in) :: self
    integer(int64) :: bounds(c_rank(self%c)), others(c_rank(self%c))
    call c_bounds(self%c, others, bounds)
  end function

  function valid(self, at) result(yes)
    class(ha_array), intent(in) :: self
    type(ha_context), intent(in) :: at
    logical :: yes
    yes = c_valid(self%c, at%c) /= 0
  end function

  function text(self)
    class(ha_array), intent(in) :: self
    character(:), allocatable :: text
    text = to_text(c_describe(self%c))
  end function

  include 'harray_accesses.inc'
end module
