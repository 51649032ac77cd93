"""The package where there is no NumPy: also run in environments of other interpreters before it is fetched."""
import subprocess
import sys

PROGRAM = r"""
import sys
sys.modules["numpy"] = None # an import of it fails
import array, os, pickle, tempfile
import harray as ha

x = ha.array(array.array("d", [1, 2, 3, 4]), name="x")
assert x.dtype == "float64" and x.tolist() == [1.0, 2.0, 3.0, 4.0] and x[1:3].tolist() == [2.0, 3.0]
assert memoryview(x).tolist() == x.tolist() and bytes(memoryview(x[::2].copy())) == array.array("d", [1, 3]).tobytes()
with x.write("sim:0"):
    pass
with x.write() as v:
    memoryview(v)[0] = 7
assert x.residency["host"] and x[0] == 7.0
y = ha.zeros((2, 3), "f4")
y[:] = 2
ha.ops.multiply(y, 3, out=y)
assert y.T.tolist() == [[6.0, 6.0]] * 3 and ha.ops.sum(y) == 36.0
assert pickle.loads(pickle.dumps(x, 5)).tolist() == x.tolist()
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "x.npy")
    ha.save(path, x)
    assert ha.load(path).tolist() == x.tolist()
w = ha.wrap(bytearray(8))
with w.write() as v:
    memoryview(v)[0] = 1
assert ha.from_dlpack(x.read()).tolist() == x.tolist()
try:
    x.numpy()
except ImportError:
    print("passed")
"""


def test_without_numpy():
    done = subprocess.run([sys.executable, "-X", "dev", "-c", PROGRAM], capture_output=True, text=True, timeout=100, check=False)
    assert done.stdout == "passed\n" and not done.stderr, done.stderr
