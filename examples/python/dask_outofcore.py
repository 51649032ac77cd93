#!/usr/bin/env python3
"""More data than the workers of a Dask cluster have memory: what has no room goes to a file, and comes back.

usage: dask_outofcore.py [--chunks N] [--mib N] [--limit BYTES]
"""
import argparse
import tempfile

import dask
from distributed import Client, LocalCluster

import harray as ha
import harray.dask


def make(number, mib):
    """A chunk with random numbers, the same ones each time."""
    return ha.ops.random(ha.empty((mib, 1 << 17), name=f"chunk {number}"), number)


def smooth(left, right):
    """Something that needs two chunks at once."""
    return ha.ops.axpby(0.5, left, 0.5, right)


def told(dask_worker):
    """What has become of a worker's memory."""
    return {key: ha.host.pressure[key] for key in ("written_back", "restored")}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--chunks", type=int, default=40)
    parser.add_argument("--mib", type=int, default=16)
    parser.add_argument("--limit", default="400MiB", help="of each of the two workers; default: 400MiB")
    options = parser.parse_args()
    # A worker would be ended where it reaches its limit for a moment.
    dask.config.set({"distributed.worker.memory.terminate": False})
    with tempfile.TemporaryDirectory() as directory, \
            LocalCluster(n_workers=2, threads_per_worker=1, data=harray.dask.Store, memory_limit=options.limit,
                         local_directory=directory, dashboard_address=None) as cluster, Client(cluster) as client:
        chunks = client.map(make, range(options.chunks), [options.mib] * options.chunks)
        smoothed = client.map(smooth, chunks, chunks[1:] + chunks[:1])
        total = sum(client.gather(client.map(ha.ops.sum, smoothed)))
        mean = total / (options.chunks * options.mib << 17)
        print(f"{2 * options.chunks * options.mib} MiB, mean {mean:.3f}")
        for worker, memory in client.run(told).items():
            print(worker.rsplit(":", 1)[0], *(f"{name} {size >> 20} MiB" for name, size in memory.items()))
        return abs(mean - 0.5) > 1e-3


if __name__ == "__main__":
    raise SystemExit(main())
