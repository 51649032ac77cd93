#!/usr/bin/env python3
"""Writes a test of kernels that nobody has thought of: random modes, types, ranks and layouts. What each
computes on every context of support/matrix.h, and on OpenCL devices where there are some, is what it computes
on the host, bit for bit. With NVRTC the fake CUDA driver compares what it compiles with what is given.

usage: generate_kernels.py FILE NUMBER [SEED]    a C program with so many kernels; seed 1
"""
import pathlib
import random
import sys

INTEGERS = ["int8_t", "int16_t", "int32_t", "int64_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t"]
REALS = ["float", "double"]
RANKED = ["int32_t", "uint8_t", "float", "double"]  # of which there are views here
LAYOUTS = ["aos", "soa", "soa(single,aligned)", "aosoa(8)", "aosoa(32)", "split(separate; pos: soa, aos)"]

HEAD = """\
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "harray_kernels.h"
#include "tests/support/matrix.h"
#include "tests/support/fake_kernels.h"
#include <math.h>

HA_ARRAY(int32_t, 1); HA_ARRAY(int32_t, 2); HA_ARRAY(int32_t, 3);
HA_ARRAY(uint8_t, 1); HA_ARRAY(uint8_t, 2); HA_ARRAY(uint8_t, 3);
typedef struct body { /* without gaps */
    struct { float x, y; } pos; double mass; int32_t id; float e[2][2]; int32_t rest;
} body;
#define body_FIELDS \\
    (float, pos, x), (float, pos, y), (double, mass), (int32_t, id), (float, e, (2, 2))
HA_RECORD(body)
HA_VIEW(sky, body, 1, HA_ANY) HA_RECORDS(bodies, sky);
HA_VIEW(plane, body, 2, HA_ANY) HA_RECORDS(planes, plane);
HARRAY(body);
HA_BUNDLE(pair, (in, float, b0), (constant, int32_t, b1), (value, double, b2));
HA_DEVICE_CODE(clip, HA_FN double clip_of(double x) {
    return x > 100 ? 100 : x < -100 ? -100 : x;
});

enum { N = 60 };
typedef struct copies { ha_array *first[64], *second[64]; int n; } copies;

static void fill_array(ha_array *a, int seed) { /* small numbers, as any type has them */
    ha_access x;
    const ha_type t = ha_array_type(a);
    if (ha_open(&x, a, H, HA_OVERWRITE, 0, HA_END)) abort();
    for (size_t i = 0; i < x.size; i++) {
        const int v = (int)((i * 37 + (size_t)seed * 11) % 101);
        char *to = (char *)x.data + i * t.size;
        if (!strcmp(t.name, "float")) *(float *)to = (float)v * 0.37f - 11;
        else if (!strcmp(t.name, "double")) *(double *)to = v * 0.73 - 31;
        else if (!strcmp(t.name, "body"))
            *(body *)to = (body){{(float)v, 1.5f}, v * 0.5, v, {{1, 2}, {3, 4}}, 0};
        else { memset(to, 0, t.size); memcpy(to, &v, t.size < sizeof v ? t.size : sizeof v); }
    }
    ha_close(&x);
}

static void compare(const char *kernel, ha_array *a, ha_array *b) {
    ha_access x, y;
    if (ha_open(&x, a, H, HA_READ, 0, HA_END) || ha_open(&y, b, H, HA_READ, 0, HA_END)) abort();
    const size_t size = ha_array_type(a).size;
    for (size_t i = 0; i < x.size; i++)
        if (memcmp((char *)x.data + i * size, (char *)y.data + i * size, size))
            fail_msg("%s: element %zu of %s differs", kernel, i, ha_array_type(a).name);
    ha_close(&x), ha_close(&y);
}

#define MAKE(type, name, made, seed) \\
    type name = made; fill_array(name.array, seed); keep_array(name.array);
#define FILL_RECORDS(view, p) \\
    HA_USING(v, p, H, "overwrite") HA_EACH(view, v, at) { \\
        const float n = (float)ha_index(at); \\
        view##_store(v, at, (body){{n * 0.5f, 2}, n * 0.25, (int)n, {{1, 2}, {3, n}}, 0}); \\
    }
#define COMPARE_RECORDS(view, p, q, kernel) \\
    HA_USING(v, p, H, "read") HA_USING(w, q, H, "read") HA_EACH(view, v, at) { \\
        const body r = view##_load(v, at), s = view##_load(w, at); \\
        if (memcmp(&r, &s, sizeof r)) fail_msg("%s: record %td differs", kernel, ha_index(at)); \\
    }
"""


class Kernel:
    """One kernel: its text, and a test of it."""

    def __init__(self, number, rng):
        self.name, self.rng = f"k{number}", rng
        self.each = rng.random() < 0.3
        self.rank = rng.choice([1, 1, 2, 3]) if not self.each else rng.choice([1, 2])
        self.index = ["i", "j", "k"][:self.rank]
        self.parameters, self.arguments = [], []  # text; (name, kind, type, rank)
        self.integers, self.reals, self.writes = [], [], []  # expressions; (place, type)
        self.layout = rng.choice(LAYOUTS)
        self.make()

    def lane(self, modulus):
        """An index that is in [0, modulus)."""
        if self.each:
            return f"((ha_index(at) * {self.rng.randint(1, 5)} + {self.rng.randint(0, 9)}) % {modulus})"
        sum_of = " + ".join(f"{self.rng.randint(1, 5)} * {i}" for i in self.index)
        return f"(({sum_of} + {self.rng.randint(0, 9)}) % {modulus})"

    def own(self):
        """The number of the lane, of N."""
        if self.each:
            return "ha_index(at)"
        return {1: "i", 2: "(i * 6 + j)", 3: "((i * 4 + j) * 5 + k)"}[self.rank]

    def read(self, text, kind):
        (self.reals if kind in REALS else self.integers).append(
            text if kind in REALS else f"(uint64_t)(int64_t){text}")

    def add(self, mode, kind, name):
        self.parameters.append(f"({mode}, {kind}, {name})")

    def add_array(self, name):
        mode, kind = self.rng.choice(["in", "in", "inout", "out"]), self.rng.choice(INTEGERS + REALS)
        self.add(mode, kind, name)
        self.arguments.append((name, "array", kind, 0))
        if mode == "in":
            self.read(f"{name}[{self.lane('N_')}]", kind)
        else:
            self.writes.append((f"{name}[{self.own()}]", kind))
            if mode == "inout":
                self.read(f"{name}[{self.own()}]", kind)

    def add_view(self, name):
        rank = self.rng.choice([1, 2, 3])
        mode, kind = self.rng.choice(["in", "inout", "out"]), self.rng.choice(RANKED)
        if mode != "in" and (rank != self.rank or self.each):
            mode = "in"
        self.add(mode, f"array_{kind}_{rank}", name)
        self.arguments.append((name, "view", kind, rank))
        if mode == "in":
            at = ", ".join(self.lane(f"{name}.extent[{d}]") for d in range(rank))
            self.read(f"HA_AT({name}, {at})", kind)
        else:
            self.writes.append((f"HA_AT({name}, {', '.join(self.index)})", kind))

    def add_other(self, name):
        kind = self.rng.choice(["value", "constant", "bundle", "uses", "option", "body"])
        if kind == "value":
            of = self.rng.choice(INTEGERS + REALS)
            self.add("value", of, name)
            self.arguments.append((name, "value", of, 0))
            self.read(name, of)
        elif kind == "constant":
            of = self.rng.choice(INTEGERS + REALS)
            self.add("constant", of, name)
            self.arguments.append((name, "array", of, 0))
            self.read(f"{name}[{self.lane('N_')}]", of)
        elif kind == "bundle":
            self.add("bundle", "pair", name)
            self.arguments.append((name, "bundle", "pair", 0))
            self.read(f"{name}.b0[{self.lane('N_')}]", "float")
            self.read(f"{name}.b1[{self.lane('N_')}]", "int32_t")
            self.read(f"{name}.b2", "double")
        elif kind == "uses" and "(uses, clip)" not in self.parameters:
            self.parameters.append("(uses, clip)")
            self.reals.append("clip_of(3.5 * (double)" + self.own() + ")")
        elif kind == "option" and not any("option" in p for p in self.parameters):
            self.parameters.append(f"(option, block, {self.rng.choice([1, 16, 100])})")
        elif kind == "body":
            self.add("in", "body", name)
            self.arguments.append((name, "array", "body", 0))
            self.read(f"{name}[{self.lane('N_')}].mass", "double")
            self.read(f"{name}[{self.lane('N_')}].id", "int32_t")

    def add_records(self):
        view = "sky" if self.rank == 1 else "plane"
        how = self.rng.choice(["read pos+e, write mass+id", "write pos, read mass+id+e", "write"])
        self.records = ("bodies" if self.rank == 1 else "planes", view, how)
        self.read(f"*{view}_pos_x(p, at)", "float")
        self.read(f"{view}_mass_get(p, at)", "double")
        self.read(f"*{view}_id(p, at)", "int32_t")
        self.read(f"*{view}_e(p, at, {self.rng.randint(0, 1)}, (int)(ha_index(at) % 2))", "float")
        if "write mass" in how or how == "write":
            self.writes += [(f"*{view}_mass(p, at)", "double"), (f"*{view}_id(p, at)", "int32_t")]
            self.reals = [r for r in self.reals if "pos" in r or "_e(" in r or "mass" not in r]
            self.integers = [r for r in self.integers if "_id(" not in r]
        if "write pos" in how or how == "write":
            self.writes.append((f"{view}_pos_y_set(p, at, @)", "float"))
        if "read mass+id" not in how:
            self.reals = [r for r in self.reals if "mass_get" not in r]

    def make(self):
        if self.each:
            self.add_records()
        for n in range(self.rng.randint(1, 5)):
            self.rng.choice([self.add_array, self.add_array, self.add_view, self.add_other])(f"x{n}")
        if not self.writes:
            self.add("out", "double", "y")
            self.arguments.append(("y", "array", "double", 0))
            self.writes.append((f"y[{self.own()}]", "double"))
        self.integers.append("(uint64_t)" + self.own())
        self.reals.append("0.25 * (double)" + self.own())

    def integer(self, depth):
        pick = self.rng.choice
        if depth == 0:
            return pick(self.integers + [f"{self.rng.randint(1, 99)}u"])
        a, b = self.integer(depth - 1), self.integer(depth - 1)
        return pick([f"({a} + {b})", f"({a} * {b})", f"({a} ^ {b})", f"({a} >> {self.rng.randint(1, 9)})",
                     f"({a} % 97u)", f"(({a} & 1u) ? {b} : {a})"])

    def real(self, depth):
        pick = self.rng.choice
        if depth == 0:
            return pick(self.reals + ["1.5", "0.3f", "2"])
        a, b = self.real(depth - 1), self.real(depth - 1)
        return pick([f"({a} + {b})", f"({a} - {b})", f"({a} * {b})", f"({a} / (1 + fabs({b})))",
                     f"sqrt(fabs({a}))", f"sqrtf(fabsf((float)({a})))", f"fmax({a}, {b})",
                     f"(({a}) < ({b}) ? {a} : {b})", f"floor({a})"])

    def body(self):
        lines = []
        for place, kind in self.writes:
            value = f"({kind})({self.real(3) if kind in REALS else self.integer(3)})"
            lines.append(place.replace("@", value) + ";" if "@" in place else f"{place} = {value};")
        return " ".join(lines).replace("N_", "60")

    def declaration(self):
        parameters = f"({', '.join(self.parameters)})"
        if self.each:
            of, _, how = self.records
            return f'HA_KERNEL_EACH({self.name}, ({of}, p, "{how}"), {parameters}, at, {{ {self.body()} }});'
        index = self.index[0] if self.rank == 1 else f"({', '.join(self.index)})"
        return f"HA_KERNEL({self.name}, {parameters}, {index}, {{ {self.body()} }});"

    def made(self, name, seed):
        """Declarations of an argument, its expression, and arrays to compare."""
        kind, of, rank = next((k, t, r) for n, k, t, r in self.arguments if n == name.split("_")[0])
        if kind == "value":
            return "", "3", []
        if kind == "bundle":
            lines = (f"MAKE(harray_float, {name}_b0, harray_float_new(N), {seed}) "
                     f"MAKE(harray_int32_t, {name}_b1, harray_int32_t_new(N), {seed}) "
                     f"const pair {name} = {{{name}_b0, {name}_b1, 0.75}};")
            return lines, name, [f"{name}_b0.array", f"{name}_b1.array"]
        if kind == "array":
            made = f"MAKE(harray_{of}, {name}, harray_{of}_new(N), {seed})"
            return made, name, [f"{name}.array"]
        extents = {1: "60", 2: "10, 6", 3: "3, 4, 5"}[rank]
        of = f"array_{of}_{rank}"
        made = f"MAKE({of}, {name}, {of}_new(HA_DIM({extents}), NULL), {seed})"
        return made, name, [f"{name}.array"]

    def test(self):
        lines, runs, compared, dropped = [], [], [], []
        for copy, context in (("a", "H"), ("b", "C")):
            given, arrays = [], []
            for seed, (name, *_) in enumerate(self.arguments):
                text, expression, made = self.made(f"{name}_{copy}", seed)
                lines.append(text)
                given.append(expression)
                arrays += made
            if self.each:
                of, view, _ = self.records
                extents = "N" if self.rank == 1 else "HA_DIM(10, 6)"
                lines.append(f"{of} p_{copy} = {of}_new({extents});")
                if copy == "b":
                    lines.append(f'SUCCEEDS(ha_records_layout(p_b.records, C, "{self.layout}"));')
                lines.append(f"FILL_RECORDS({view}, p_{copy})")
                lines.append(f"know_records(&{self.name}_known, {context}, p_{copy}.records);")
                given.insert(0, f"p_{copy}")
                runs.append(f"SUCCEEDS({self.name}({', '.join([context, *given])}));")
            else:
                lanes = {1: "60", 2: "HA_DIM(10, 6)", 3: "HA_DIM(3, 4, 5)"}[self.rank]
                lines.append(f"know_kernel(&{self.name}_known);")
                runs.append(f"SUCCEEDS({self.name}({', '.join([context, lanes, *given])}));")
            compared.append(arrays)
            dropped += arrays
        checks = [f'compare("{self.name}", {a}, {b});' for a, b in zip(*compared)]
        if self.each:
            of, view, _ = self.records
            told = f"{self.name} in {self.layout}"
            checks.append(f'COMPARE_RECORDS({view}, p_a, p_b, "{told}")')
            checks.append(f"SUCCEEDS({of}_free(&p_a)); SUCCEEDS({of}_free(&p_b));")
        drops = [f"drop_array({a});" for a in dropped]
        body = "\n    ".join([*filter(None, lines), *runs, *checks, *drops])
        return f"TEST(test_{self.name}) {{\n    {body}\n}}\n"


def program(number, seed):
    kernels = [Kernel(n, random.Random(f"{seed} {n}")) for n in range(number)]
    parts = [HEAD]
    parts += [f"{k.declaration()}\nKNOWN_KERNEL({k.name})" for k in kernels]
    parts += [k.test() for k in kernels]
    cases = ",\n".join(f"        CASE(test_{k.name})" for k in kernels)
    parts.append(f"int main(int argc, char **argv) {{\n    const struct CMUnitTest tests[] = {{\n{cases}}};\n"
                 "    int failed = 0;\n    if (argc > 1) cmocka_set_test_filter(argv[1]);\n"
                 "    if (test_kind() && !ha_context_count(test_kind())) return 0;\n"
                 "    RUN_ON_MATRIX(failed, tests)\n    return failed;\n}\n")
    return "\n".join(parts)


def main():
    seed = sys.argv[3] if len(sys.argv) > 3 else "1"
    pathlib.Path(sys.argv[1]).write_text(program(int(sys.argv[2]), int(seed)))


if __name__ == "__main__":
    main()
