! Results of tests, in the format that TAP is.
module tap
  use, intrinsic :: iso_fortran_env, only: output_unit
  implicit none
  private
  public :: check, refused, plan
  integer :: count = 0
contains
  subroutine check(fine, what)
    logical, intent(in) :: fine
    character(*), intent(in) :: what
    count = count + 1
    write (output_unit, '(2a, i0, 2a)') trim(merge('ok    ', 'not ok', fine)), ' ', count, ' - ', what
  end subroutine

  ! A call was refused with this status, and its text has these words.
  subroutine refused(status, expected, text, words)
    integer, intent(in) :: status, expected
    character(*), intent(in) :: text, words
    call check(status == expected .and. index(text, words) > 0, 'refused: '//text)
  end subroutine

  subroutine plan()
    write (output_unit, '(a, i0)') '1..', count
  end subroutine
end module
