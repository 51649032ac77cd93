/* The text that layouts make for devices. As OpenCL C it is built and run on the first OpenCL
 * device: records are copied from one layout to another there, for extents that the text was not
 * made for, and every byte is what the host makes of the same values. With "nvrtc" as argument:
 * CUDA's run-time compiler accepts it, which takes no GPU. Skipped where there is no OpenCL, no
 * NVRTC. */
#define HA_LAYOUT_IMPLEMENTATION
#include "../../layout.h"

#include "../support/opencl_device.h"

static const char *const record_text =
    "pos.x:f64 z:c64 mass:f32 flags[3]:bool h:f16 w:c128 n.a:i64 n.b:u64 i:i32 u:u32 s:i16 t:u16 "
    "c:i8 d:u8 b:bf16";

typedef struct pair {
    const char *from, *to;
    int rank;
    int64_t extent[3];
} pair;

/* Every real type as every other one: the fields FROM.to_TO, all of type FROM, as type TO. */
static char all_types[5000], all_changes[8000];

static const pair pairs[] = {
    {"aos", "soa(single)", 1, {13}},
    {"soa(fields)", "soa(fields)@col", 2, {5, 7}},
    {"soa(single)", "aosoa(4)", 2, {5, 7}},
    {"aosoa(8,rows)@col", "aos(packed)@morton", 2, {11, 3}},
    {"soa(single,aligned)@morton", "permute(2,0,1, aosoa(4,aligned))", 3, {3, 2, 5}},
    {"split(pos+h: soa(single)@col, aos(minalign))",
     "split(separate; n+z: aosoa(3), aos)",
     2,
     {7, 5}},
    {"split(w: aosoa(16), soa(single,aligned))",
     "split(separate; flags: soa, aos(packed))",
     1,
     {37}},
    {"split(z+h+d: null, aos)", "soa(single)", 1, {9}},
    {"tree(movedown(;3), movedown(0;2))", "tree(leafonly, movedown(3;3))", 1, {14}},
    {"split(pos+h: tree(movedown(0;4), movedown(0/0;4)), aosoa(3))",
     "permute(1,0, tree(movedown(0;2), movedown(;5), leafonly))",
     2,
     {7, 5}},
    {"aosoa(5,rows)", "split(separate; z: null, split(pos: aos, aosoa(2)))", 3, {2, 3, 6}},
    {"byteswap(aos)", "soa(single)", 2, {5, 7}},
    {"split(separate; pos: soa, byteswap(soa(single)))", "byteswap(aosoa(4))", 1, {23}},
    {"split(separate; n+i+u+s+t+c+d: bitint(13; aos@col), aos)", "aos", 2, {7, 6}},
    {"split(n+i+u+s+t+c+d+flags: bitint(64; aos), soa(single))", "soa(single)", 1, {11}},
    {"split(c+d+flags: bitint(3; aos), split(s+t: bitint(1; aos), soa(single)))", "aos", 1, {77}},
    {"soa(single)",
     "split(separate; n: bitint(64; aos), split(separate; c+s: bitint(20; aos), "
     "byteswap(aos)))",
     1,
     {1}},
    {"soa(single)", "split(n+i+u+s+t+c+d+flags: bitint(7; aos), aos)", 2, {5, 7}},
    {"aos", "split(separate; z+w: bytesplit(aos), byteswap(bytesplit(soa)))", 1, {19}},
    {"split(separate; z+w: byteswap(bytesplit(aosoa(4))), bytesplit(soa@col))",
     "soa(single)",
     2,
     {3, 7}},
    {"bytesplit(tree(movedown(;4)))", "bytesplit(tree(leafonly))", 1, {14}},
    {"aos",
     "changetype(f64:f32, z:c128, w:c64, n:u8, h:f32, b:f16, flags:i16; byteswap(aos))",
     1,
     {29}},
    {"split(pos: changetype(f64:f32; bitfloat(4,9; aos)), changetype(u16:i32, i32:u16; byteswap("
     "split(t+i: bytesplit(soa(single)), aosoa(2)))))",
     "changetype(i:f16, h:i8; soa(single))",
     1,
     {33}},
    {"split(i+u+s: changetype(i32:u8, u32:i64, s:bool; bitint(11; aos)), aos)", "aos", 1, {41}},
    {"aos", "split(i+u+s: changetype(i32:u8, u32:i64, s:bool; bitint(11; aos)), aos)", 1, {41}},
};
enum { PAIRS = sizeof pairs / sizeof *pairs };

/* ---- the program ----------------------------------------------------------------------------- */

static char source[1 << 20];
static size_t length;

__attribute__((format(printf, 1, 2))) static void add(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    length += (size_t)vsnprintf(source + length, sizeof source - length, format, arguments);
    va_end(arguments);
    require(length < sizeof source, "the text has room");
}

static ha_mapping *mapping(const ha_record *r, const char *text, int rank, const int64_t *extent) {
    ha_error error;
    ha_mapping *m = ha_mapping_parse(r, text, rank, extent, &error);
    if (!m) puts(error.text);
    require(m != NULL, text);
    return m;
}

static ha_mapping *add_functions_for(const ha_record *r, const char *text, int rank,
                                     const int64_t *extent, const char *name) {
    ha_mapping *m = mapping(r, text, rank, extent);
    const int64_t bytes = ha_mapping_device_text(m, name, source + length, sizeof source - length);
    require(bytes > 0 && (size_t)bytes < sizeof source - length, "text for devices");
    length += (size_t)bytes;
    return m;
}

/* The functions of a layout, made for extents that nobody has. */
static ha_mapping *add_functions(const ha_record *r, const char *text, int rank, const char *name) {
    static const int64_t one[] = {1, 1, 1};
    return add_functions_for(r, text, rank, one, name);
}

static void add_names(int rank, const char *format) {
    for (int d = 0; d < rank; d++) add(format, d);
}

/* "b_pos_x_set(b0", or with a pointer for each byte, if these are in several blobs. */
static void add_blobs_of(const ha_mapping *m, char letter, const char *name, const char *what,
                         int64_t leaf) {
    const ha_row *row = &m->row[leaf];
    const ha_coding *c = ha_row_coding(m, row);
    int spread = 0;
    for (int64_t b = 0; c && b < c->bytes; b++)
        spread |= m->byte_row[c->byte_row + b].blob != row->blob;
    add("%c_%s_%s(", letter, name, what);
    if (row->blob < 0)
        add("(GLOBAL unsigned char *)0");
    else if (!spread)
        add("BLOB(%c, %c_%s_blob)", letter, letter, name);
    for (int b = 0; spread && b < (int)c->bytes; b++)
        add("%sBLOB(%c, %c_%s_blob_%d)", b ? ", " : "", letter, letter, name, b);
}

static void add_call(const ha_mapping *m, char letter, const char *name, const char *what,
                     int64_t leaf) {
    add_blobs_of(m, letter, name, what, leaf);
    add_names(m->rank, ", i%d");
    add_names(m->rank, ", n%d");
}

/* The name of a leaf in C; room for 100. */
static void name_of(const ha_mapping *m, int64_t leaf, char *name) {
    char path[100];
    size_t n = 0;
    (void)ha_record_leaf_name(m->record, leaf, path, sizeof path);
    for (const char *p = path; *p; p++)
        if (*p != ']') name[n++] = *p == '.' || *p == '[' ? '_' : *p;
    name[n] = 0;
}

/* "b_pos_x_set(b0, i0, n0, a_pos_x_get(a0, i0, n0));" */
static void add_copy(const ha_mapping *from, const ha_mapping *to, int64_t leaf) {
    char name[100];
    name_of(from, leaf, name);
    add("        ");
    add_call(to, 'b', name, "set", leaf);
    add(", ");
    add_call(from, 'a', name, "get", leaf);
    add("));\n");
}

/* Bits of neighbours are in the same bytes: one thread does all. */
static int is_serial(const ha_mapping *to) {
    for (int32_t k = 0; k < to->codings; k++)
        if (to->coding[k].bits > 0) return 1;
    return 0;
}

/* A kernel that copies record number ME, or all, from a to b, and one thread writes the bytes of blobs. */
static void add_kernel(const ha_mapping *from, const ha_mapping *to) {
    add("#define BLOB(letter, number) BLOB_(letter, number)\n#define BLOB_(letter, number) "
        "letter##number\nKERNEL void copy(");
    for (int k = 0; k < from->blobs; k++) add("GLOBAL unsigned char *a%d, ", k);
    for (int k = 0; k < to->blobs; k++) add("GLOBAL unsigned char *b%d, ", k);
    add("GLOBAL a_int *bytes");
    add_names(from->rank, ", a_int n%d");
    add(") {\n    a_int end = ME + 1;\n");
    for (int k = 0; k < from->blobs; k++) {
        add("    bytes[%d] = a_blob_bytes_%d(n0", k, k);
        for (int d = 1; d < from->rank; d++) add(", n%d", d);
        add(");\n");
    }
    if (is_serial(to)) add("    end = 1");
    for (int d = 0; d < from->rank && is_serial(to); d++) add(" * n%d", d);
    add(";\n    for (a_int k = ME; k < end; k++) {\n        a_int me = k;\n");
    for (int d = from->rank; d-- > 0;)
        add("        const a_int i%d = me %% n%d; me /= n%d;\n", d, d, d);
    for (int64_t leaf = 0; leaf < from->rows; leaf++) add_copy(from, to, leaf);
    add("    }\n}\n");
}

static void write_program(const ha_record *r, const pair *p, const char *kernel) {
    length = 0;
    add("%s", kernel);
    ha_mapping *from = add_functions(r, p->from, p->rank, "a");
    ha_mapping *to = add_functions(r, p->to, p->rank, "b");
    add_kernel(from, to);
    ha_mapping_free(from);
    ha_mapping_free(to);
}

/* ---- OpenCL ---------------------------------------------------------------------------------- */

enum { MOST_BLOBS = 80 };

typedef struct memory {
    ha_mapping *m;
    unsigned char *host[MOST_BLOBS];
    void *buffer[MOST_BLOBS], *blob[MOST_BLOBS];
} memory;

static void **blobs_of(memory *x) {
    for (int k = 0; k < MOST_BLOBS; k++) x->blob[k] = x->host[k];
    return x->blob;
}

static uint32_t random_bits(void) {
    static uint64_t seed = 1;
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 32);
}

/* A number that conversions have something to do with: small ones, halves, what is just between
 * two, the ends of types, and anything. As the type that it is of. */
static void any_value(ha_dtype type, unsigned char *value) {
    static const double between[] = {0,         -0.0,     0.5,     -1.5,  2.5,    0x1p-24,
                                     0x1.8p-25, 0x1p-133, 255,     127.5, -128.5, 1e30,
                                     65519.9,   65520,    -0x1p63, 0x1p64};
    for (int k = 0; k < 16; k++) value[k] = (unsigned char)random_bits();
    if (random_bits() % 4 == 0) return;
    for (int part = 0; part <= (type >= HA_DTYPE_c64); part++) {
        const double x = between[random_bits() % 16] * (random_bits() % 3 ? 1 : 1 + 0x1p-20);
        const int64_t n = (int64_t)(random_bits() % 5 - 2 + ((uint64_t)1 << random_bits() % 64));
        const float y = (float)x;
        if (type == HA_DTYPE_double || type == HA_DTYPE_c128)
            memcpy(value + 8 * part, &x, 8);
        else if (type == HA_DTYPE_float || type == HA_DTYPE_c64)
            memcpy(value + 4 * part, &y, 4);
        else if (type < HA_DTYPE_half)
            memcpy(value, &n, 8);
    }
    if (type == HA_DTYPE_bool) value[0] &= 1;
}

/* Any bytes, and then, in some records, numbers. */
static memory make_memory(const ha_record *r, const char *text, const pair *p) {
    memory x = {.m = mapping(r, text, p->rank, p->extent)};
    int64_t index[HA_MAPPING_RANK] = {0};
    require(x.m->blobs <= MOST_BLOBS, "room for blobs");
    for (int k = 0; k < x.m->blobs; k++) {
        x.host[k] = (unsigned char *)malloc((size_t)x.m->blob[k].bytes);
        for (int64_t i = 0; i < x.m->blob[k].bytes; i++)
            x.host[k][i] = (unsigned char)random_bits();
    }
    for (int d = 0; d >= 0;) {
        for (int64_t leaf = 0; leaf < x.m->rows; leaf++) {
            unsigned char value[16];
            any_value((ha_dtype)x.m->row[leaf].type, value);
            if (index[p->rank - 1] % 4)
                ha_mapped_set(&(ha_mapped){x.m, blobs_of(&x)}, leaf, index, value);
        }
        for (d = p->rank - 1; d >= 0; index[d--] = 0)
            if (++index[d] < p->extent[d]) break;
    }
    for (int k = 0; k < x.m->blobs; k++)
        x.buffer[k] = new_buffer((size_t)x.m->blob[k].bytes, x.host[k]);
    return x;
}

static void free_memory(memory *x) {
    for (int k = 0; k < x->m->blobs; k++) free(x->host[k]);
    ha_mapping_free(x->m);
}

/* What the device wrote is what the host makes of the same values, and nothing is written beside them. */
static void compare(memory *from, memory *before, const memory *to, const pair *p) {
    const ha_mapped origin = {from->m, blobs_of(from)}, target = {to->m, blobs_of(before)};
    int64_t index[HA_MAPPING_RANK] = {0};
    for (int d = 0; d >= 0;) {
        for (int64_t leaf = 0; leaf < from->m->rows; leaf++) {
            unsigned char value[16];
            ha_mapped_get(&origin, leaf, index, value);
            ha_mapped_set(&target, leaf, index, value);
        }
        for (d = p->rank - 1; d >= 0; index[d--] = 0)
            if (++index[d] < p->extent[d]) break;
    }
    for (int k = 0; k < to->m->blobs; k++)
        for (int64_t i = 0; i < to->m->blob[k].bytes; i++) {
            if (to->host[k][i] == before->host[k][i]) continue;
            printf("%s to %s: blob %d, byte %d: %#x, not %#x\n", p->from, p->to, k, (int)i,
                   (unsigned)to->host[k][i], (unsigned)before->host[k][i]);
            exit(1);
        }
}

/* The memory as it is now. */
static memory copied(const memory *x) {
    memory copy = *x;
    copy.m = NULL;
    for (int k = 0; k < x->m->blobs; k++) {
        copy.host[k] = (unsigned char *)malloc((size_t)x->m->blob[k].bytes);
        memcpy(copy.host[k], x->host[k], (size_t)x->m->blob[k].bytes);
    }
    return copy;
}

static void set_argument(void *kernel, uint32_t *number, const void *value) {
    require(cl.argument(kernel, (*number)++, 8, value) == 0, "argument");
}

static void run_copy(memory *from, memory *to, const pair *p) {
    int64_t bytes[MOST_BLOBS] = {0};
    void *sizes = new_buffer(sizeof bytes, bytes), *kernel;
    int32_t error = 0;
    uint32_t number = 0;
    size_t n = 1;
    kernel = cl.kernel(program, "copy", &error);
    require(error == 0, "kernel");
    for (int k = 0; k < from->m->blobs; k++) set_argument(kernel, &number, &from->buffer[k]);
    for (int k = 0; k < to->m->blobs; k++) set_argument(kernel, &number, &to->buffer[k]);
    set_argument(kernel, &number, &sizes);
    for (int d = 0; d < p->rank; d++) set_argument(kernel, &number, &p->extent[d]);
    for (int d = 0; d < p->rank && !is_serial(to->m); d++) n *= (size_t)p->extent[d];
    require(cl.run(queue, kernel, 1, NULL, &n, NULL, 0, NULL, NULL) == 0, "run");
    read_back(sizes, sizeof bytes, bytes);
    for (int k = 0; k < from->m->blobs; k++)
        require(bytes[k] == from->m->blob[k].bytes, "bytes of a blob");
    for (int k = 0; k < to->m->blobs; k++)
        read_back(to->buffer[k], (size_t)to->m->blob[k].bytes, to->host[k]);
}

static void test_pair(const ha_record *r, const pair *p, void *device) {
    write_program(r, p,
                  "#define KERNEL __kernel\n#define GLOBAL __global\n"
                  "#define ME (a_int)get_global_id(0)\n");
    build(device, source, "-cl-std=CL1.2");
    memory from = make_memory(r, p->from, p), to = make_memory(r, p->to, p);
    memory before = copied(&to);
    run_copy(&from, &to, p);
    compare(&from, &before, &to, p);
    for (int k = 0; k < to.m->blobs; k++) free(before.host[k]);
    free_memory(&from);
    free_memory(&to);
    printf("%.100s to %.100s: ok\n", p->from, p->to);
}

/* ---- what a work group shares ------------------------------------------------------------------ */

/* Each work group turns its records round, through a layout in memory that it shares: the text's functions
 * are of that memory, and its blobs are as long as the text says. */
enum { SHARED = 8 };
static const pair shared_pairs[] = {
    {"aos", "soa(single)", 1, {3 * SHARED}},
    {"soa(fields)", "aos(packed)", 1, {SHARED}},
    {"aosoa(4)", "aos", 1, {2 * SHARED}},
};
static const char *const tiles[] = {"soa",
                                    "aos",
                                    "aosoa(3)",
                                    "split(separate; z+pos: aosoa(8), byteswap(aos))",
                                    "tree(movedown(;4))",
                                    "split(separate; w: bytesplit(soa), changetype(i32:i64; soa))"};
enum { SHARED_PAIRS = sizeof shared_pairs / sizeof *shared_pairs };
enum { TILES = sizeof tiles / sizeof *tiles };

/* "b_pos_x_set(b0, ME, n0, t_pos_x_get(t0, other, 8));", with what is between. */
static void add_value(const ha_mapping *m, char letter, const char *name, const char *what,
                      int64_t leaf, const char *index, const char *extent) {
    add_blobs_of(m, letter, name, what, leaf);
    add(", %s, %s", index, extent);
}

static void add_turning_kernel(const ha_mapping *from, const ha_mapping *to, const ha_mapping *t) {
    char name[100];
    add("#define BLOB(letter, number) BLOB_(letter, number)\n#define BLOB_(letter, number) "
        "letter##number\nKERNEL void turn(");
    for (int k = 0; k < from->blobs; k++) add("GLOBAL unsigned char *a%d, ", k);
    for (int k = 0; k < to->blobs; k++) add("GLOBAL unsigned char *b%d, ", k);
    add("a_int n0) {\n    const a_int other = %d - LANE;\n", SHARED - 1);
    for (int k = 0; k < t->blobs; k++)
        add("    LOCAL unsigned char t%d[t_BLOB_BYTES_%d] __attribute__((aligned(16)));\n", k, k);
    for (int64_t leaf = 0; leaf < from->rows; leaf++) {
        name_of(from, leaf, name);
        add("    ");
        add_value(t, 't', name, "set", leaf, "LANE", "SHARED");
        add(", ");
        add_value(from, 'a', name, "get", leaf, "ME", "n0");
        add("));\n");
    }
    add("    BARRIER;\n");
    for (int64_t leaf = 0; leaf < from->rows; leaf++) {
        name_of(from, leaf, name);
        add("    ");
        add_value(to, 'b', name, "set", leaf, "ME", "n0");
        add(", ");
        add_value(t, 't', name, "get", leaf, "other", "SHARED");
        add("));\n");
    }
    add("}\n");
}

static void write_turning(const ha_record *r, const pair *p, const char *tile, const char *kernel) {
    static const int64_t shared[] = {SHARED};
    length = 0;
    add("#define SHARED %d\n%s", SHARED, kernel);
    ha_mapping *from = add_functions(r, p->from, 1, "a"), *to = add_functions(r, p->to, 1, "b");
    ha_mapping *t = add_functions_for(r, tile, 1, shared, "t");
    add_turning_kernel(from, to, t);
    ha_mapping_free(from);
    ha_mapping_free(to);
    ha_mapping_free(t);
}

static void run_turning(memory *from, memory *to, const pair *p) {
    int32_t error = 0;
    uint32_t number = 0;
    const size_t n = (size_t)p->extent[0], lanes = SHARED;
    void *kernel = cl.kernel(program, "turn", &error);
    require(error == 0, "kernel");
    for (int k = 0; k < from->m->blobs; k++) set_argument(kernel, &number, &from->buffer[k]);
    for (int k = 0; k < to->m->blobs; k++) set_argument(kernel, &number, &to->buffer[k]);
    set_argument(kernel, &number, &p->extent[0]);
    require(cl.run(queue, kernel, 1, NULL, &n, &lanes, 0, NULL, NULL) == 0, "run");
    for (int k = 0; k < to->m->blobs; k++)
        read_back(to->buffer[k], (size_t)to->m->blob[k].bytes, to->host[k]);
}

static void test_turning(const ha_record *r, const pair *p, const char *tile, void *device) {
    write_turning(r, p, tile,
                  "#define KERNEL __kernel\n#define GLOBAL __global\n#define LOCAL __local\n"
                  "#define t_GLOBAL __local\n#define ME (a_int)get_global_id(0)\n"
                  "#define LANE (t_int)get_local_id(0)\n#define BARRIER "
                  "barrier(CLK_LOCAL_MEM_FENCE)\n");
    build(device, source, "-cl-std=CL1.2");
    memory from = make_memory(r, p->from, p), to = make_memory(r, p->to, p);
    run_turning(&from, &to, p);
    const ha_mapped origin = {from.m, blobs_of(&from)}, target = {to.m, blobs_of(&to)};
    for (int64_t i = 0; i < p->extent[0]; i++)
        for (int64_t leaf = 0; leaf < from.m->rows; leaf++) {
            const int64_t other = i / SHARED * SHARED + SHARED - 1 - i % SHARED;
            unsigned char expected[16] = {0}, got[16] = {0};
            ha_mapped_get(&origin, leaf, &other, expected);
            ha_mapped_get(&target, leaf, &i, got);
            require(!memcmp(got, expected, sizeof got), "a record comes out of shared memory");
        }
    free_memory(&from);
    free_memory(&to);
    printf("%s to %s through %s: ok\n", p->from, p->to, tile);
}

/* ---- NVRTC ----------------------------------------------------------------------------------- */

static struct {
    int (*create)(void **, const char *, const char *, int, const char *const *,
                  const char *const *);
    int (*compile)(void *, int, const char *const *);
    int (*log)(void *, char *);
    int (*log_size)(void *, size_t *);
    int (*destroy)(void **);
} nvrtc;

static void load_nvrtc(void) {
    static const char *const names[] = {"libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12",
                                        "/usr/local/cuda/lib64/libnvrtc.so"};
    void *library = NULL;
    for (size_t k = 0; k < sizeof names / sizeof *names && !library; k++)
        library = dlopen(names[k], RTLD_NOW);
    if (!library) skip("there is no libnvrtc.so");
    find(library, "nvrtcCreateProgram", &nvrtc.create);
    find(library, "nvrtcCompileProgram", &nvrtc.compile);
    find(library, "nvrtcGetProgramLogSize", &nvrtc.log_size);
    find(library, "nvrtcGetProgramLog", &nvrtc.log);
    find(library, "nvrtcDestroyProgram", &nvrtc.destroy);
}

#define CUDA_WORDS                                                                                 \
    "#define KERNEL extern \"C\" __global__\n#define GLOBAL\n"                                     \
    "#define ME ((a_int)blockIdx.x * blockDim.x + threadIdx.x)\n"

static void compile(const char *from, const char *to) {
    void *unit = NULL;
    size_t bytes = 0;
    require(nvrtc.create(&unit, source, "copy.cu", 0, NULL, NULL) == 0, "program");
    const int error = nvrtc.compile(unit, 0, NULL);
    require(nvrtc.log_size(unit, &bytes) == 0, "log");
    char *log = (char *)calloc(bytes + 1, 1);
    require(nvrtc.log(unit, log) == 0, "log");
    if (strlen(log) > 0) puts(log);
    require(error == 0 && strlen(log) == 0, "NVRTC accepts the text, without a warning");
    free(log);
    nvrtc.destroy(&unit);
    printf("%.100s to %.100s: accepted\n", from, to);
}

static void compile_pair(const ha_record *r, const pair *p) {
    write_program(r, p, CUDA_WORDS);
    compile(p->from, p->to);
}

static void compile_turning(const ha_record *r, const pair *p, const char *tile) {
    write_turning(r, p, tile,
                  CUDA_WORDS "#define LOCAL __shared__\n#define LANE (t_int)threadIdx.x\n"
                             "#define BARRIER __syncthreads()\n");
    compile(p->from, tile);
}

/* ---- all ------------------------------------------------------------------------------------- */

static void make_types(void) {
    static const char *const types[] = {"bool", "i8",  "i32",  "i64", "u8",
                                        "u64",  "f16", "bf16", "f32", "f64"};
    enum { TYPES = sizeof types / sizeof *types };
    size_t fields = 0, changes = (size_t)sprintf(all_changes, "changetype(");
    for (int k = 0; k < TYPES * TYPES; k++) {
        const char *from = types[k / TYPES], *to = types[k % TYPES];
        fields += (size_t)sprintf(all_types + fields, "%s.to_%s:%s ", from, to, from);
        changes += (size_t)sprintf(all_changes + changes, "%s%s.to_%s:%s", k ? ", " : "", from, to,
                                   to);
    }
    require(fields < sizeof all_types && changes + 10 < sizeof all_changes, "room for types");
    sprintf(all_changes + changes, "; aos)");
}

static void do_pair(const ha_record *r, const pair *p, void *device) {
    if (device)
        test_pair(r, p, device);
    else
        compile_pair(r, p);
}

static void do_turning(const ha_record *r, const pair *p, const char *tile, void *device) {
    if (device)
        test_turning(r, p, tile, device);
    else
        compile_turning(r, p, tile);
}

int main(int count, char **argument) {
    const int cuda = count > 1 && !strcmp(argument[1], "nvrtc");
    void *device = NULL;
    make_types();
    ha_record *r = ha_record_parse(record_text, NULL), *types = ha_record_parse(all_types, NULL);
    require(r != NULL && types != NULL, "record");
    if (cuda) {
        load_nvrtc();
    } else {
        load();
        open_device(&device);
    }
    for (size_t k = 0; k < PAIRS; k++) do_pair(r, &pairs[k], device);
    do_pair(types, &(pair){"aos", all_changes, 1, {300}}, device);
    do_pair(types, &(pair){all_changes, "aos", 1, {300}}, device);
    for (size_t k = 0; k < TILES; k++)
        do_turning(r, &shared_pairs[k % SHARED_PAIRS], tiles[k], device);
    ha_record_free(r);
    ha_record_free(types);
    return 0;
}
