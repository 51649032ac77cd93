"""The examples run, and say what they should. Beside an installed package they are found in the repository alone."""
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import pytest

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples" / "python"


def run(name, *options):
    if not EXAMPLES.exists():
        pytest.skip("the examples are in the repository")
    done = subprocess.run([sys.executable, str(EXAMPLES / name), *options], capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("where", ["host", "sim:0"])
def test_heat(where):
    import harray # pylint: disable=import-outside-toplevel
    if not shutil.which("cc") or not pathlib.Path(harray.get_include(), "harray.h").exists():
        pytest.skip("heat.c is compiled against an installed package")
    out = run("heat.py", "--on", where, "--size", "64", "--steps", "20")
    assert "from NumPy's by 0.0e+00" in out or "e-1" in out
    assert f"{where}: {64 if where != 'host' else 0} elements moved for 64" in out


def test_the_picture_of_heat(tmp_path):
    """Warm above, cold below, between the edges of the axes and without the bar of colours."""
    if not shutil.which("cc"):
        pytest.skip("there is no C compiler")
    image = pytest.importorskip("matplotlib.image")
    colormaps = pytest.importorskip("matplotlib").colormaps
    run("heat.py", "--on", "host", "--size", "64", "--steps", "20", "--picture", str(tmp_path / "heat.png"))
    seen = image.imread(tmp_path / "heat.png")[..., :3]
    assert seen.ndim == 3 and min(seen.shape[:2]) > 200
    plate = seen[:, :seen.shape[1] * 3 // 4]

    def rows(value):
        colour = colormaps["inferno"](value)[:3]
        return np.nonzero((abs(plate - np.array(colour)) < 0.02).all(axis=-1))[0]
    warm, cold = rows(1.0), rows(0.0)
    assert len(warm) > 50 and len(cold) > 1000 and warm.max() < np.median(cold)


def test_dask_outofcore():
    pytest.importorskip("distributed")
    out = run("dask_outofcore.py", "--chunks", "12", "--mib", "8")
    assert "192 MiB, mean 0.500" in out and out.count("written_back") == 2
