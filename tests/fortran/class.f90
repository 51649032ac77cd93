! What compilers for the module have to know: a procedure of a type.
module class_of_one
  type :: one
  contains
    procedure :: ask
  end type
contains
  subroutine ask(x)
    class(one), intent(in) :: x
  end subroutine
end module
