"""Programs in C that have an interpreter in them, and go on when it has gone."""
import os
import shutil
import subprocess
import sys
import sysconfig

import pytest

import fake_cupy
import harray as ha

PROGRAM = r"""
#include <Python.h>
#include <harray.h>

#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* What the capsule `name` of the main module has, taken as a consumer takes it. */
static ha_dl_managed_tensor_versioned *take(const char *name) {
    PyObject *capsule = PyObject_GetAttrString(PyImport_AddModule("__main__"), name);
    if (!capsule) return NULL;
    ha_dl_managed_tensor_versioned *tensor = PyCapsule_GetPointer(capsule, "dltensor_versioned");
    if (tensor && PyCapsule_SetName(capsule, "used_dltensor_versioned")) tensor = NULL;
    Py_DECREF(capsule);
    return tensor;
}

static void *delete(void *tensor) {
    ((ha_dl_managed_tensor_versioned *)tensor)->deleter(tensor);
    return NULL;
}

/* Its argument is a program of Python that leaves capsules called `first` and `second`. */
int main(int count, char **argument) {
    const double expected[] = {1, 2, 3};
    pthread_t thread;
    Py_Initialize();
    if (count != 2 || PyRun_SimpleString(argument[1])) return 1;
    ha_dl_managed_tensor_versioned *first = take("first"), *second = take("second");
    if (!first || !second) return PyErr_Print(), 1;
    if (Py_FinalizeEx()) return 1;
    const int is_here = first->dl_tensor.device.device_type == HA_DL_CPU;
    if (is_here && memcmp(first->dl_tensor.data, expected, sizeof expected)) return 2;
    delete(first);
    if (pthread_create(&thread, NULL, delete, second) || pthread_join(thread, NULL)) return 3;
    puts("passed");
    return 0;
}
"""
# What the tensors are of, with their owners gone or kept by the interpreter, which goes first.
CASES = {
    "arrays": "first, second = (ha.array([1.0, 2.0, 3.0]).__dlpack__(max_version=(1, 0)) for _ in range(2))",
    "accesses": "x = ha.array([1.0, 2.0, 3.0])\n"
                "v, w = x.write(), ha.zeros(3).read()\n"
                "first, second = v.__dlpack__(max_version=(1, 0)), w.__dlpack__(max_version=(1, 0))",
    "wrapped": "import array\n"
               "x, y = ha.wrap(array.array('d', [1.0, 2.0, 3.0])), ha.wrap(bytearray(100))\n"
               "first, second = x.__dlpack__(max_version=(1, 0)), y[::2].__dlpack__(max_version=(1, 0))",
    "a controller": "class Loud(ha.Controller):\n"
                    "    def freed(self, array): print('freed')\n"
                    "ha.set_controller(Loud())\n"
                    "first, second = (ha.array([1.0, 2.0, 3.0]).__dlpack__(max_version=(1, 0)) for _ in range(2))",
    "a device": "x, y = ha.array([1.0, 2.0, 3.0]), ha.zeros(1000)\n"
                "v, w = x.write('cuda:0'), y.write('cuda:1')\n"
                "first, second = v.__dlpack__(max_version=(1, 0)), w.__dlpack__(max_version=(1, 0), stream=1)",
}


@pytest.fixture(name="embedded", scope="module")
def _embedded(tmp_path_factory):
    """The program, linked with the library of the interpreter that runs this."""
    if not shutil.which("cc") or not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")):
        pytest.skip("there is no C compiler, or there are no headers of Python")
    folder = tmp_path_factory.mktemp("embedded")
    source, program = folder / "embedded.c", folder / "embedded"
    library, version = sysconfig.get_config_var("LIBDIR"), sysconfig.get_config_var("LDVERSION")
    def build(text):
        source.write_text(text, encoding="ascii")
        return subprocess.run(["cc", "-std=gnu11", "-Wall", "-Werror", "-I", sysconfig.get_path("include"), "-I", ha.get_include(), source, "-o", program,
                               "-pthread", "-L", library, f"-Wl,-rpath,{library}", f"-lpython{version}"], capture_output=True, text=True, check=False)
    done = build("#include <Python.h>\nint main(void) { return Py_IsInitialized(); }\n")
    if done.returncode:
        pytest.skip(f"there is no library of Python to link with: {done.stderr}")
    done = build(PROGRAM)
    assert done.returncode == 0, done.stderr
    return program


@pytest.mark.parametrize("case", CASES)
def test_tensors_outlive_the_interpreter(embedded, case):
    """Their memory is C's alone: it is there, and is given back, when no Python is left to ask."""
    if case == "a device" and not fake_cupy.IS_THERE:
        pytest.skip("there is no fake driver of CUDA")
    program = f"import sys; sys.path[:] = {sys.path!r}\nimport harray as ha\n{CASES[case]}\ndel ha"
    environment = {**os.environ, "PYTHONHOME": sys.base_prefix, "PYTHONNOUSERSITE": "1"}
    done = subprocess.run([embedded, program], capture_output=True, text=True, timeout=100, check=False, env=environment)
    assert (done.returncode, done.stdout, done.stderr) == (0, "passed\n", ""), done
