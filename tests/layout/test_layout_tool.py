#!/usr/bin/env python3
"""harray-layout from the command line: its JSON, its pictures, and its messages for bad input, which
point at the character.

usage: test_layout_tool.py PROGRAM
"""
import json
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

PARTICLE = "pos.x:f64 pos.y:f64 pos.z:f64 mass:f32 vel.x:f64 vel.y:f64 vel.z:f64 flags[4]:bool"
NAMES = ["pos.x", "pos.y", "pos.z", "mass", "vel.x", "vel.y", "vel.z",
         "flags[0]", "flags[1]", "flags[2]", "flags[3]"]
program = None


def run(*arguments, folder=None):
    return subprocess.run([program, *arguments], capture_output=True, text=True, check=False,
                          cwd=folder)


def shown(record, mapping, extents, *rest):
    done = run("--record", record, "--mapping", mapping, "--extents", extents, *rest)
    if done.returncode or done.stderr:
        raise AssertionError(done.stderr)
    return json.loads(done.stdout)


class Json(unittest.TestCase):
    def test_one_object(self):
        said = shown(PARTICLE, "aos(packed)", "16x16", "--at", "0,1")
        self.assertEqual(list(said), ["mapping", "extents", "blobs", "fields"])
        self.assertEqual(said["mapping"], "aos(packed)")
        self.assertEqual(said["extents"], [16, 16])
        self.assertEqual(said["blobs"], [14336])
        self.assertEqual([f["name"] for f in said["fields"]], NAMES)
        self.assertEqual(said["fields"][0], {"name": "pos.x", "type": "f64", "blob": 0, "offset": 56})
        self.assertEqual([f["offset"] for f in said["fields"]],
                         [56, 64, 72, 80, 84, 92, 100, 108, 109, 110, 111])

    def test_first_record(self):
        said = shown(PARTICLE, "split(separate; pos+vel: soa, one)", "32")
        self.assertEqual(said["blobs"], [256] * 6 + [8])
        self.assertEqual([(f["blob"], f["offset"]) for f in said["fields"]],
                         [(0, 0), (1, 0), (2, 0), (6, 0), (3, 0), (4, 0), (5, 0)]
                         + [(6, k) for k in range(4, 8)])

    def test_not_stored(self):
        said = shown("a:f32 b:u8", "split(a: null, aos)", "3x1x4x2", "--at", "2,0,3,1")
        self.assertEqual(said["fields"], [
            {"name": "a", "type": "f32", "blob": None, "offset": None},
            {"name": "b", "type": "u8", "blob": 0, "offset": 23}])

    def test_tree(self):
        said = shown(PARTICLE, "tree(movedown(0;4))", "16x16", "--at", "0,1")
        self.assertEqual(list(said), ["mapping", "extents", "blobs", "trees", "fields"])
        self.assertEqual(said["trees"], ["16[4[4 pos[1 x, 1 y, 1 z], 4 mass, 4 vel[1 x, 1 y, 1 z], "
                                         "4 flags[1, 1, 1, 1]]]"])
        self.assertEqual([f["offset"] for f in said["fields"][:7]],
                         [24, 32, 40, 100, 136, 144, 152])

    def test_computed(self):
        said = shown("x:u16 y:f32 z:u8", "split(separate; z: bitint(3; soa), byteswap("
                     "split(separate; x: bytesplit(soa), changetype(y:f16; soa))))", "100", "--at", "7")
        self.assertEqual(said["blobs"], [40, 100, 100, 200])
        self.assertEqual(said["fields"], [
            {"name": "x", "type": "u16", "blob": None, "offset": None,
             "bytes": [{"blob": 1, "offset": 7}, {"blob": 2, "offset": 7}], "swapped": True},
            {"name": "y", "type": "f32", "blob": 3, "offset": 14, "stored": "f16", "swapped": True},
            {"name": "z", "type": "u8", "blob": 0, "bit_offset": 21, "bits": 3}])

    def test_bits_of_a_record(self):
        said = shown("a:i32 b:i32 c:i32", "bitint(9; aos)", "10x10", "--at", "2,3")
        self.assertEqual([f["bit_offset"] for f in said["fields"]], [621, 630, 639])
        self.assertFalse(any("offset" in f for f in said["fields"]))

    def test_output_cannot_be_written(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([program, "--record", "a:f32", "--mapping", "aos", "--extents", "3"],
                                  stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("cannot write the output", done.stderr)


class Pictures(unittest.TestCase):
    def test_svg(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "aosoa.svg"
            shown(PARTICLE, "aosoa(4)", "16x16", "--svg", str(file))
            root = xml.etree.ElementTree.parse(file).getroot()
        space = "{http://www.w3.org/2000/svg}"
        self.assertEqual(root.tag, space + "svg")
        words = ["".join(t.itertext()) for t in root.iter(space + "text")]
        self.assertIn("aosoa(4), extents 16 \u00d7 16", words)
        self.assertIn("blob 0: 14336 bytes", words)
        self.assertIn("896", words)  # an address
        self.assertIn("pos.x", words)
        hatched = [r for r in root.iter(space + "rect") if "url(#p" in r.get("fill")]
        colours = {r.get("fill") for r in root.iter(space + "rect") if r.get("width") == "120"}
        self.assertGreater(len(hatched), 50)
        self.assertGreaterEqual(len([c for c in colours if c.startswith("#")]), 6)
        right = max(float(r.get("x", 0)) + float(r.get("width")) for r in root.iter(space + "rect"))
        bottom = max(float(r.get("y", 0)) + float(r.get("height")) for r in root.iter(space + "rect"))
        self.assertLessEqual(right, float(root.get("width")))
        self.assertLessEqual(bottom, float(root.get("height")))

    def test_documents(self):
        """docs/layouts.md says what the program says, and its pictures are those that it makes."""
        docs = pathlib.Path(__file__).resolve().parents[2] / "docs"
        text = (docs / "layouts.md").read_text(encoding="utf-8")
        commands = [shlex.split(line)[1:] for line in text.split("\n")
                    if line.startswith("harray-layout --")]
        pictures = [words for words in commands if "--svg" in words]
        shown_there = [words for words in commands if "--svg" not in words]
        self.assertGreaterEqual(len(pictures), 8)
        self.assertGreaterEqual(len(shown_there), 2)
        blocks = [json.loads(block) for block in re.findall("```json\n(.*?)```", text, re.DOTALL)]
        for words in shown_there:
            self.assertIn(json.loads(run(*words).stdout), blocks)
        with tempfile.TemporaryDirectory() as folder:
            made = pathlib.Path(folder) / "made.svg"
            for *words, name in pictures:
                self.assertEqual(run(*words, str(made), folder=docs).returncode, 0)
                self.assertEqual(made.read_text(encoding="utf-8"),
                                 (docs / name).read_text(encoding="utf-8"), name)
        wrong = run("--record", "a:f32", "--mapping", "aosoa(4,packed)", "--extents", "3")
        self.assertIn(wrong.stderr, text)

    def counted(self, text, mapping="soa", *rest):
        with tempfile.TemporaryDirectory() as folder:
            counts = pathlib.Path(folder) / "counts.json"
            counts.write_text(text, encoding="utf-8")
            svg = pathlib.Path(folder) / "counts.svg"
            done = run("--record", "a:f32 b:u8", "--mapping", mapping, "--extents", "20",
                       "--counts", str(counts), "--svg", str(svg), *rest)
            return done, svg.read_text(encoding="utf-8") if svg.exists() else None

    def test_counts(self):
        tallies = [{"name": "a", "reads": 3, "writes": 12345, "pointers": 0},
                   {"name": "b", "reads": 0, "writes": 0, "pointers": 77}]
        heat = {"granularity": 64, "blobs": [[400, 5], [0]]}
        done, picture = self.counted(json.dumps({"fields": tallies} | heat))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["mapping"], "soa")
        for text in (">12345<", ">77<", ">400<", "accesses to each 64 bytes", "accesses to each field"):
            self.assertIn(text, picture)
        done, picture = self.counted(json.dumps(heat, indent=1))
        self.assertNotIn("accesses to each field", picture)
        done, picture = self.counted(json.dumps({"fields": tallies}))
        self.assertNotIn("accesses to each 64 bytes", picture)
        done, picture = self.counted("{}")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("accesses", picture)

    def test_wrong_counts(self):
        for text, mapping, message in [
                ("", "soa", "expected '{'"),
                ('{"granularity": 64, "blobs": [[5, 400], [0]]}', "aos", "the next number"),
                ('{"granularity": 64, "blobs": [[1, 2, 3]]}', "soa", "as the blob ends here"),
                ('{"fields": [{"name": "c", "reads": 0', "soa", '"a"')]:
            done, picture = self.counted(text, mapping)
            self.assertEqual(done.returncode, 2)
            self.assertIn("--counts", done.stderr)
            self.assertIn(message, done.stderr)
            self.assertEqual((done.stdout, picture), ("", None))
        for name in ("/nonexistent/a.json", "/"):
            done = run("--record", "a:f32", "--mapping", "aos", "--extents", "3", "--counts", name)
            self.assertEqual(done.returncode, 1)
            self.assertIn(f"cannot read {name}", done.stderr)

    def test_many_counts(self):
        """More than are read at once."""
        heat = {"granularity": 1, "blobs": [[k * 99999991 for k in range(20000)]]}
        with tempfile.TemporaryDirectory() as folder:
            counts = pathlib.Path(folder) / "counts.json"
            counts.write_text(json.dumps(heat), encoding="utf-8")
            svg = pathlib.Path(folder) / "counts.svg"
            done = run("--record", "a:u8", "--mapping", "aos", "--extents", "20000",
                       "--counts", str(counts), "--svg", str(svg))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(f"\u2013 {19999 * 99999991}<", svg.read_text(encoding="utf-8"))

    def test_no_folder(self):
        done = run("--record", "a:f32", "--mapping", "aos", "--extents", "3", "--svg",
                   "/nonexistent/a.svg")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stdout, "")
        self.assertIn("cannot write /nonexistent/a.svg", done.stderr)


class BadInput(unittest.TestCase):
    def refused(self, option, text, position, message, **others):
        arguments = {"record": PARTICLE, "mapping": "aos", "extents": "16x16"} | others
        arguments[option] = text
        done = run(*(word for name, value in arguments.items() for word in (f"--{name}", value)))
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(done.stdout, "")
        first, second, caret = done.stderr.split("\n")[:3]
        self.assertTrue(first.startswith(f"harray-layout: --{option}: "), first)
        self.assertIn(message, first)
        self.assertEqual(second, "    " + text)
        self.assertEqual(caret, " " * (4 + position) + "^")

    def test_positions(self):
        self.refused("record", "a:f32 b:f33", 8, "expected a type")
        self.refused("record", "a:f32 a:f32", 6, "cannot both be in a struct")
        self.refused("mapping", "aosoa(x)", 6, "expected a number of lanes, found 'x'")
        self.refused("mapping", "split(poz: aos, soa)", 6, "no such field")
        self.refused("mapping", "aos@diag", 4, "expected row, col or morton")
        self.refused("mapping", "permute(0,0,aos)", 10, "there already")
        self.refused("mapping", "permute(0,aos)", 10, "expected the number of a dimension")
        self.refused("mapping", "tree(movedown(0/7;4))", 16, "there is no such child")
        self.refused("extents", "16y16", 2, "'x' or the end was expected")
        self.refused("extents", "", 0, "a number was expected")
        self.refused("extents", "3x-4", 2, "a number was expected")
        self.refused("extents", "3x", 2, "a number was expected")
        self.refused("extents", "99999999999999999999", 0, "a number was expected")
        self.refused("extents", "1x2x3x4x5", 8, "at most 4 dimensions")
        self.refused("at", "0", 0, "as many numbers as extents")
        self.refused("at", "0,16", 0, "no such index")
        self.refused("at", "0;1", 1, "',' or the end was expected")

    def test_too_large(self):
        done = run("--record", "a:f64", "--mapping", "aos", "--extents", "4294967296x4294967296")
        self.assertEqual(done.returncode, 2)
        self.assertIn("2^63", done.stderr)

    def test_empty(self):
        for more in [[], ["--at", "0,0"]]:  # there is no record whose offsets could be shown
            done = run("--record", "a:f64", "--mapping", "aos", "--extents", "0x3", *more)
            self.assertEqual(done.returncode, 2)
            self.assertIn("--extents: there is no record: an extent is 0\n    0x3\n", done.stderr)

    def test_options(self):
        for arguments in [[], ["--record"], ["--record", "a:f32"], ["--what", "a"],
                          ["--record", "a:f32", "--mapping", "aos"]]:
            done = run(*arguments)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertIn("usage: harray-layout", done.stderr)
            self.assertEqual(done.stdout, "")

    def test_help(self):
        for option in ("--help", "-h"):
            done = run(option)
            self.assertEqual(done.returncode, 0)
            self.assertIn("usage: harray-layout", done.stdout)


if __name__ == "__main__":
    program = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
