/* Types of elements, by the names that Python's packages have for them. */
#include "binding.h"

#include <string.h>

typedef struct {
    const char *name, *format, *typestr;
} names;

static const names all_names[] = {
    [HA_DTYPE_NONE] = {"", NULL, NULL},           [HA_DTYPE_bool] = {"bool", "?", "|b1"},
    [HA_DTYPE_int8_t] = {"int8", "b", "|i1"},     [HA_DTYPE_int16_t] = {"int16", "h", "<i2"},
    [HA_DTYPE_int32_t] = {"int32", "i", "<i4"},   [HA_DTYPE_int64_t] = {"int64", "l", "<i8"},
    [HA_DTYPE_uint8_t] = {"uint8", "B", "|u1"},   [HA_DTYPE_uint16_t] = {"uint16", "H", "<u2"},
    [HA_DTYPE_uint32_t] = {"uint32", "I", "<u4"}, [HA_DTYPE_uint64_t] = {"uint64", "L", "<u8"},
    [HA_DTYPE_half] = {"float16", "e", "<f2"},    [HA_DTYPE_bfloat16] = {"bfloat16", NULL, NULL},
    [HA_DTYPE_float] = {"float32", "f", "<f4"},   [HA_DTYPE_double] = {"float64", "d", "<f8"},
    [HA_DTYPE_c64] = {"complex64", "Zf", "<c8"},  [HA_DTYPE_c128] = {"complex128", "Zd", "<c16"},
};
enum { COUNT = sizeof all_names / sizeof *all_names };

const char *dtype_name(ha_dtype type) { return all_names[type].name; }
const char *dtype_format(ha_dtype type) { return all_names[type].format; }
const char *dtype_typestr(ha_dtype type) { return all_names[type].typestr; }
size_t dtype_size(ha_dtype type) { return ha_dtype_to_type(type).size; }

/* "f8", "<f8", "=f8", "|u1"; "float" is Python's, of 8 bytes. */
static ha_dtype by_typestr(const char *text) {
    const char *plain = strchr("<=|", text[0]) && text[0] ? text + 1 : text;
    if (!strcmp(plain, "float") || !strcmp(plain, "double")) return HA_DTYPE_double;
    if (!strcmp(plain, "complex")) return HA_DTYPE_c128;
    if (!strcmp(plain, "int")) return HA_DTYPE_int64_t;
    for (int i = 1; i < COUNT; i++)
        if (all_names[i].typestr && !strcmp(all_names[i].typestr + 1, plain)) return (ha_dtype)i;
    return HA_DTYPE_NONE;
}

static int refuse_dtype(const char *text) {
    if (text[0] == '>')
        PyErr_Format(PyExc_TypeError,
                     "dtype '%s': bytes in the other order; x.astype('<%s') has them in this one",
                     text, text + 1);
    else
        PyErr_Format(
            PyExc_TypeError,
            "dtype '%s': no such elements; there are bool, int8 to int64, uint8 to uint64, "
            "float16, bfloat16, float32, float64, complex64 and complex128",
            text);
    return -1;
}

static int dtype_of_text(const char *text, ha_dtype *type) {
    if (text[0] == '>' && by_typestr(text + 1) && dtype_size(by_typestr(text + 1)) > 1)
        return refuse_dtype(text);
    const char *plain = text[0] == '>' ? text + 1 : text;
    *type = by_typestr(plain);
    if (*type || ha_dtype_find(plain, type) == HA_OK) return 0;
    (void)ha_take_error();
    return refuse_dtype(text);
}

/* Of a dtype of PyTorch, which has no name but its str: "torch.float32". NULL: it is none. */
static PyObject *torch_name(PyObject *object) {
    PyObject *text = PyObject_Str(object);
    const char *name = text ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
    PyObject *plain = name && !strncmp(name, "torch.", 6) ? PyUnicode_FromString(name + 6) : NULL;
    Py_XDECREF(text);
    return plain;
}

/* A dtype of NumPy is its str, but for bfloat16, which has a name only. NULL, maybe without an exception: it is none. */
static PyObject *text_of_dtype(PyObject *object) {
    PyObject *text = attribute(object, "str");
    PyObject *name = PyErr_Occurred() ? NULL : attribute(object, "name");
    const int is_short = name && PyUnicode_Check(name) &&
                         !PyUnicode_CompareWithASCIIString(name, "bfloat16");
    if ((!text || is_short) && name) replace(&text, Py_NewRef(name));
    Py_XDECREF(name);
    if (text && (!PyUnicode_Check(text) || PyErr_Occurred())) replace(&text, NULL);
    return text;
}

/* The text that stands for an object: a str itself, that of a dtype, the name of a class. NULL as above. */
static PyObject *text_of(PyObject *object) {
    if (PyUnicode_Check(object)) return Py_NewRef(object);
    PyObject *text = text_of_dtype(object);
    if (!text && !PyErr_Occurred()) text = attribute(object, "__name__"); // float, numpy.float32
    return text || PyErr_Occurred() ? text : torch_name(object);
}

int dtype_from(PyObject *object, ha_dtype *type) {
    PyObject *text = text_of(object);
    const char *name = text && PyUnicode_Check(text) ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
    int status = -1;
    if (name)
        status = dtype_of_text(name, type);
    else if (!PyErr_Occurred())
        PyErr_Format(PyExc_TypeError, "%R is no dtype", object);
    Py_XDECREF(text);
    return status;
}

/* Of the struct module's letters, and Z for complex ones. */
static ha_dtype of_letters(const char *letters, Py_ssize_t size) {
    if (letters[0] == 'Z' && letters[1] == 'f') return HA_DTYPE_c64;
    if (letters[0] == 'Z' && letters[1] == 'd') return HA_DTYPE_c128;
    if (!letters[0] || letters[1]) return HA_DTYPE_NONE;
    const int is_signed = strchr("bhilqn", letters[0]) != NULL;
    if (is_signed || strchr("BHILQN", letters[0])) {
        static const ha_dtype types[2][9] = {{[1] = HA_DTYPE_uint8_t,
                                              [2] = HA_DTYPE_uint16_t,
                                              [4] = HA_DTYPE_uint32_t,
                                              [8] = HA_DTYPE_uint64_t},
                                             {[1] = HA_DTYPE_int8_t,
                                              [2] = HA_DTYPE_int16_t,
                                              [4] = HA_DTYPE_int32_t,
                                              [8] = HA_DTYPE_int64_t}};
        return size >= 1 && size <= 8 ? types[is_signed][size] : HA_DTYPE_NONE;
    }
    switch (letters[0]) {
    case '?':
        return HA_DTYPE_bool;
    case 'e':
        return HA_DTYPE_half;
    case 'f':
        return HA_DTYPE_float;
    case 'd':
        return HA_DTYPE_double;
    default:
        return HA_DTYPE_NONE;
    }
}

int dtype_of_format(const char *format, Py_ssize_t size, ha_dtype *type) {
    const char *letters = format && strchr("@=<", format[0]) && format[0] ? format + 1 : format;
    *type = letters ? of_letters(letters, size) : HA_DTYPE_uint8_t;
    if (*type && dtype_size(*type) == (size_t)size) return 0;
    if (format && (format[0] == '>' || format[0] == '!'))
        PyErr_Format(PyExc_TypeError, "elements '%s': bytes in the other order; x.astype('<%s')",
                     format, format + 1);
    else
        PyErr_Format(PyExc_TypeError, "elements '%s' of %zd bytes: harray has no such type",
                     format ? format : "B", size);
    return -1;
}
