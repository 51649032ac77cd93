"""Arrays of harray for Python's array packages, by DLPack and by the array interfaces: what a binding of
harray for Python would do, with ctypes alone. For test_exchange.py and gpu_python.py.

    library = Library("libharray.so")
    x = library.zeros("double", (3, 4))           # a Darray
    numpy.from_dlpack(Exporter(library, x, WRITE))
    y = library.take(numpy.ones((3, 4)))           # by the other's __dlpack__
"""
import ctypes

MOST_RANK = 8
READ, WRITE, OVERWRITE = 0, 1, 2
SITE = b"exchange.py"
CPU, CUDA = 1, 2
READ_ONLY = 1
TYPES = ["bool", "int8_t", "int16_t", "int32_t", "int64_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t",
         "half", "bfloat16", "float", "double", "c64", "c128"]

Pointer, Size, Text, Int64 = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_int64
Numbers = Int64 * MOST_RANK


class Darray(ctypes.Structure):
    _fields_ = [("array", Pointer), ("type", ctypes.c_int), ("rank", ctypes.c_int),
                ("offset", Int64), ("extent", Numbers), ("stride", Numbers), ("origin", Numbers)]


class Access(ctypes.Structure):
    _fields_ = [("data", Pointer), ("size", Size), ("first", Size), ("array", Pointer),
                ("context", Pointer), ("ticket", ctypes.c_uint64), ("status", ctypes.c_int)]


class Error(ctypes.Structure):
    _fields_ = [("status", ctypes.c_int), ("operation", Text), ("code", Int64),
                ("text", ctypes.c_char * 400)]


class Interface(ctypes.Structure):
    """ha_array_interface."""
    _fields_ = [("typestr", ctypes.c_char * 8), ("version", ctypes.c_int), ("rank", ctypes.c_int),
                ("shape", Numbers), ("has_strides", ctypes.c_int), ("strides", Numbers),
                ("data", Pointer), ("read_only", ctypes.c_int)]

    def dictionary(self):
        return {"typestr": self.typestr.decode(), "version": self.version,
                "shape": tuple(self.shape[:self.rank]),
                "strides": tuple(self.strides[:self.rank]) if self.has_strides else None,
                "data": (self.data or 0, bool(self.read_only))}

    def fill(self, dictionary):
        shape, strides = dictionary["shape"], dictionary.get("strides")
        self.typestr, self.version = dictionary["typestr"].encode(), dictionary["version"]
        self.rank = len(shape)
        self.shape[:len(shape)] = shape
        self.has_strides = strides is not None
        self.strides[:len(shape)] = strides or shape
        self.data, self.read_only = dictionary["data"]


class CudaInterface(Interface):
    """ha_cuda_array_interface: it begins as the other does."""
    _fields_ = [("has_stream", ctypes.c_int), ("stream", ctypes.c_size_t)]

    def dictionary(self):
        return {**super().dictionary(), "stream": self.stream if self.has_stream else None}

    def fill(self, dictionary):
        super().fill(dictionary)
        self.has_stream = dictionary.get("stream") is not None
        self.stream = dictionary.get("stream") or 0
        if self.version == 2:
            self.version = 3 # without streams they are the same


class Device(ctypes.Structure):
    _fields_ = [("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32)]


class HarrayError(Exception):
    """What ha_take_error says."""


class Library:
    """The functions that are used here, with their types."""

    def __init__(self, path):
        self.library = ctypes.CDLL(str(path))
        function, out = self.function, ctypes.POINTER(Pointer)
        self.take_error = function("ha_take_error", Error)
        self.find = function("ha_context_find", Pointer, Text)
        self.host = function("ha_host", Pointer)
        self.stream = function("ha_context_stream", Pointer, Pointer)
        self.shutdown = function("ha_shutdown", ctypes.c_int)
        self.finish = function("ha_context_finish", ctypes.c_int, Pointer)
        self.free_darray = function("darray_free", ctypes.c_int, ctypes.POINTER(Darray))
        self.new_zeros = function("darray_zeros", Darray, ctypes.c_int, ctypes.c_int,
                                  ctypes.POINTER(Int64), Pointer)
        slice_, transpose = (function(f"darray_{name}_", Darray, Darray, *types, Text)
                             for name, types in (("slice", (ctypes.c_int, Int64, Int64, Int64)), ("transpose", ())))
        self.slice = lambda *arguments: slice_(*arguments, None) # no line of a caller
        self.transpose = lambda x: transpose(x, None)
        self.open = function("ha_open_", ctypes.c_int, ctypes.POINTER(Access), Pointer, Pointer,
                             ctypes.c_uint, Size, Size, Text)
        self.close = function("ha_close_", ctypes.c_int, ctypes.POINTER(Access))
        self.sync = function("ha_sync_", ctypes.c_int, Pointer, Text)
        self.device = function("ha_context_dl_device", Device, Pointer)
        arguments = [Darray, Pointer, ctypes.c_uint, Pointer, out, Text]
        self.export = {True: function("darray_to_dlpack_", ctypes.c_int, *arguments),
                       False: function("darray_to_dlpack_legacy_", ctypes.c_int, *arguments)}
        self.wrap = {True: function("darray_from_dlpack", Darray, Pointer, Pointer),
                     False: function("darray_from_dlpack_legacy", Darray, Pointer, Pointer)}
        self.to_interface = {kind: function(f"darray_to_{name}_", ctypes.c_int, Darray,
                                            ctypes.POINTER(Access), ctypes.POINTER(kind))
                             for kind, name in ((Interface, "array_interface"),
                                                (CudaInterface, "cuda_array_interface"))}
        self.from_interface = function("darray_from_array_interface", Darray,
                                       ctypes.POINTER(Interface))
        self.from_cuda_interface = function("darray_from_cuda_array_interface", Darray,
                                            ctypes.POINTER(CudaInterface), Pointer)

    def function(self, name, result, *arguments):
        function = getattr(self.library, name)
        function.restype, function.argtypes = result, arguments
        return function

    def fail(self):
        raise HarrayError(self.take_error().text.decode())

    def check(self, status):
        if status:
            self.fail()

    def checked(self, darray):
        if not darray.array:
            self.fail()
        return darray

    def zeros(self, type_name, shape, context=None):
        extent = (Int64 * (len(shape) or 1))(*shape)
        number = TYPES.index(type_name) + 1
        return self.checked(self.new_zeros(number, len(shape), extent, context or self.host()))

    def free(self, darray):
        self.check(self.free_darray(ctypes.byref(darray)))

    def take(self, other, context=None, **options):
        """Another package's array as a Darray, by DLPack."""
        pointer, versioned = release(other.__dlpack__(**options))
        return self.checked(self.wrap[versioned](pointer, context or self.host()))

    def take_interface(self, other):
        interface = Interface()
        interface.fill(other.__array_interface__)
        return self.checked(self.from_interface(ctypes.byref(interface)))

    def take_cuda_interface(self, other, context):
        interface = CudaInterface()
        interface.fill(other.__cuda_array_interface__)
        return self.checked(self.from_cuda_interface(ctypes.byref(interface), context))


# ---- capsules -----------------------------------------------------------------------------------

NAMES = {True: b"dltensor_versioned", False: b"dltensor"}
USED = {True: b"used_dltensor_versioned", False: b"used_dltensor"}
# Where the deleter is, in DLManagedTensorVersioned and DLManagedTensor.
DELETERS = {True: 16, False: 56}


def of_python(name, result, *arguments):
    function = getattr(ctypes.pythonapi, name)
    function.restype, function.argtypes = result, arguments
    return function


Destructor = ctypes.PYFUNCTYPE(None, Pointer)
new_capsule = of_python("PyCapsule_New", ctypes.py_object, Pointer, Text, Destructor)
is_valid = of_python("PyCapsule_IsValid", ctypes.c_int, Pointer, Text)
pointer_of = of_python("PyCapsule_GetPointer", Pointer, Pointer, Text)
set_name = of_python("PyCapsule_SetName", ctypes.c_int, Pointer, Text)


def delete(pointer, versioned):
    address = Pointer.from_address(pointer + DELETERS[versioned]).value
    if address:
        ctypes.CFUNCTYPE(None, Pointer)(address)(pointer)


@Destructor
def destroy(capsule):
    """Of a capsule that nobody has taken the tensor from."""
    for versioned, name in NAMES.items():
        if is_valid(capsule, name):
            delete(pointer_of(capsule, name), versioned)


def release(capsule):
    """The tensor of a capsule, which is the caller's from now on."""
    for versioned, name in NAMES.items():
        if is_valid(id(capsule), name):
            pointer = pointer_of(id(capsule), name)
            set_name(id(capsule), USED[versioned])
            return pointer, versioned
    raise TypeError("no capsule of DLPack")


# ---- handing out --------------------------------------------------------------------------------


class Exporter:
    """What from_dlpack functions take. `legacy`: as packages from before version 1 do."""

    def __init__(self, library, darray, how, context=None, legacy=False):
        self.library, self.darray, self.how = library, darray, how
        self.context = context or library.host()
        self.legacy = legacy

    def __dlpack_device__(self):
        device = self.library.device(self.context)
        if not device.device_type:
            self.library.fail()
        return device.device_type, device.device_id

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        versioned = bool(max_version and max_version[0] >= 1) and not self.legacy
        if copy or (dl_device is not None and tuple(dl_device) != self.__dlpack_device__()):
            raise BufferError("harray hands out its own memory")
        if not stream and self.__dlpack_device__()[0] == CUDA:
            stream = 1 # what None means there, and whoever says 0
        tensor = Pointer()
        stream = ctypes.c_size_t(stream).value if stream else None
        self.library.check(self.library.export[versioned](self.darray, self.context, self.how, stream,
                                                          ctypes.byref(tensor), SITE))
        return new_capsule(tensor, NAMES[versioned], destroy)


class OlderExporter(Exporter):
    """From before __dlpack__ had any other argument."""

    def __dlpack__(self, stream=None): # pylint: disable=arguments-differ
        return super().__dlpack__(stream=stream)


class Opened:
    """with Opened(library, darray, how) as opened: opened.interface(), which is what other packages
    take as an array, as long as the access is open."""

    def __init__(self, library, darray, how, context=None):
        self.library, self.darray, self.access = library, darray, Access()
        library.check(library.open(self.access, darray.array, context or library.host(), how, 0,
                                   ctypes.c_size_t(-1).value, SITE))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.library.check(self.library.close(self.access))

    def fields(self, kind):
        interface = kind()
        self.library.check(self.library.to_interface[kind](self.darray, self.access, interface))
        return interface.dictionary()

    def interface(self):
        opened = self
        class Array: # pylint: disable=too-few-public-methods
            __array_interface__ = opened.fields(Interface)
        return Array()

    def cuda_interface(self):
        opened = self
        class Array: # pylint: disable=too-few-public-methods
            __cuda_array_interface__ = opened.fields(CudaInterface)
        return Array()
