#!/usr/bin/env python3
"""Writes a Wathen matrix as a Matrix Market file: wathen.py NX NY > wathen.mtx

The mass matrix of NX x NY eight-node ("serendipity") finite elements, each of another density
(A. J. Wathen, Realistic eigenvalue bounds for the Galerkin mass matrix, IMA J. Numer. Anal. 7,
449-457, 1987). It is symmetric and positive definite for any positive densities.

    A = the sum over the elements e of density(e) * ELEMENT at the rows and columns nodes(e)

ELEMENT is 45 times the mass matrix of one element, so that all values are whole numbers. Where
Wathen takes random densities, these are 1 + (s >> 16) % 100 with s = (1103515245 s + 12345) modulo
2^31 for each next element, s = 1 before the first: the same file everywhere.
"""
import sys

# Nodes are counted around the element: a corner, the middle of the next side, and so on.
NEAR = [[6, -6, 2, -8], [-6, 32, -6, 20], [2, -6, 6, -6], [-8, 20, -6, 32]]
FAR = [[3, -8, 2, -6], [-8, 16, -8, 20], [2, -8, 3, -8], [-6, 20, -8, 16]]
ELEMENT = [a + b for a, b in zip(NEAR, FAR)] + [b + a for a, b in zip(NEAR, FAR)]


def nodes(i, j, nx):
    """Of element (i, j), both from 0. Nodes are counted from 1 along the rows of the mesh: 2 NX + 1
    in a row through corners, NX + 1 in a row between."""
    below = j * (3 * nx + 2) + 2 * i + 1
    middle = j * (3 * nx + 2) + 2 * nx + 1 + i + 1
    above = (j + 1) * (3 * nx + 2) + 2 * i + 1
    return [above + 2, above + 1, above, middle, below, below + 1, below + 2, middle + 1]


def densities():
    state = 1
    while True:
        state = (1103515245 * state + 12345) % 2**31
        yield 1 + (state >> 16) % 100


def assemble(nx, ny):
    """The lower triangle: {(row, column): value}."""
    matrix = {}
    density = densities()
    for j in range(ny):
        for i in range(nx):
            here, mass = nodes(i, j, nx), next(density)
            for row, values in zip(here, ELEMENT):
                for column, value in zip(here, values):
                    if column <= row:
                        matrix[row, column] = matrix.get((row, column), 0) + mass * value
    return matrix


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: wathen.py NX NY > FILE.mtx")
    nx, ny = int(sys.argv[1]), int(sys.argv[2])
    matrix, n = assemble(nx, ny), 3 * nx * ny + 2 * (nx + ny) + 1
    print("%%MatrixMarket matrix coordinate real symmetric")
    print(f"% Wathen matrix of {nx} x {ny} elements, times 45; by examples/cg/wathen.py {nx} {ny}")
    print(n, n, len(matrix))
    for column, row in sorted((column, row) for row, column in matrix):
        print(row, column, matrix[row, column])


if __name__ == "__main__":
    main()
