/* The text that layouts make for devices. As OpenCL C it is built and run on the first OpenCL device: records
 * are copied from one layout to another there, for extents that the text was not made for, and every
 * value is found where the host looks for it. With "nvrtc" as argument: CUDA's run-time compiler accepts
 * it, which takes no GPU. Skipped where there is no OpenCL, no NVRTC. */
#define HA_LAYOUT_IMPLEMENTATION
#include "../layout.h"

#include "opencl_device.h"

static const char *const record_text =
    "pos.x:f64 z:c64 mass:f32 flags[3]:bool h:f16 w:c128 n.a:i64 n.b:u64 i:i32 u:u32 s:i16 t:u16 "
    "c:i8 d:u8 b:bf16";

typedef struct pair {
    const char *from, *to;
    int rank;
    int64_t extent[3];
} pair;

static const pair pairs[] = {
    {"aos", "soa(single)", 1, {13}},
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

/* The functions of a layout, made for extents that nobody has. */
static ha_mapping *add_functions(const ha_record *r, const char *text, int rank, const char *name) {
    static const int64_t one[] = {1, 1, 1};
    ha_mapping *m = mapping(r, text, rank, one);
    const int64_t bytes = ha_mapping_device_text(m, name, source + length, sizeof source - length);
    require(bytes > 0 && (size_t)bytes < sizeof source - length, "text for devices");
    length += (size_t)bytes;
    return m;
}

static void add_names(int rank, const char *format) {
    for (int d = 0; d < rank; d++) add(format, d);
}

/* "b_pos_x_set(b0, i0, n0, a_pos_x_get(a0, i0, n0));" */
static void add_copy(const ha_mapping *from, const ha_mapping *to, int64_t leaf) {
    char name[100];
    size_t n = 0;
    (void)ha_record_leaf_name(from->record, leaf, name, sizeof name);
    for (const char *p = name; *p; p++)
        if (*p != ']') name[n++] = *p == '.' || *p == '[' ? '_' : *p;
    name[n] = 0;
    if (to->row[leaf].blob < 0)
        add("    b_%s_set((GLOBAL unsigned char *)0", name);
    else
        add("    b_%s_set(b%d", name, (int)to->row[leaf].blob);
    add_names(from->rank, ", i%d");
    add_names(from->rank, ", n%d");
    if (from->row[leaf].blob < 0)
        add(", a_%s_get((GLOBAL unsigned char *)0", name);
    else
        add(", a_%s_get(a%d", name, (int)from->row[leaf].blob);
    add_names(from->rank, ", i%d");
    add_names(from->rank, ", n%d");
    add("));\n");
}

/* A kernel that copies record number `me` from a to b, and one thread writes the bytes of blobs. */
static void add_kernel(const ha_mapping *from, const ha_mapping *to) {
    add("KERNEL void copy(");
    for (int k = 0; k < from->blobs; k++) add("GLOBAL unsigned char *a%d, ", k);
    for (int k = 0; k < to->blobs; k++) add("GLOBAL unsigned char *b%d, ", k);
    add("GLOBAL a_int *bytes");
    add_names(from->rank, ", a_int n%d");
    add(") {\n    a_int me = ME;\n");
    for (int d = from->rank; d-- > 0;)
        add("    const a_int i%d = me %% n%d; me /= n%d;\n", d, d, d);
    for (int k = 0; k < from->blobs; k++) {
        add("    bytes[%d] = a_blob_bytes_%d(n0", k, k);
        for (int d = 1; d < from->rank; d++) add(", n%d", d);
        add(");\n");
    }
    for (int64_t leaf = 0; leaf < from->rows; leaf++) add_copy(from, to, leaf);
    add("}\n");
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

enum { MOST_BLOBS = 40 };

typedef struct memory {
    ha_mapping *m;
    unsigned char *host[MOST_BLOBS];
    void *buffer[MOST_BLOBS];
} memory;

static memory make_memory(const ha_record *r, const char *text, const pair *p, unsigned seed) {
    memory x = {.m = mapping(r, text, p->rank, p->extent)};
    for (int k = 0; k < x.m->blobs; k++) {
        const size_t bytes = (size_t)x.m->blob[k].bytes;
        x.host[k] = (unsigned char *)malloc(bytes);
        for (size_t i = 0; i < bytes; i++) {
            seed = seed * 1664525u + 1013904223u;
            x.host[k][i] = seed >> 24 & 0x3f; /* numbers of every type, none of them a NaN */
        }
        x.buffer[k] = new_buffer(bytes, x.host[k]);
    }
    return x;
}

static void free_memory(memory *x) {
    for (int k = 0; k < x->m->blobs; k++) free(x->host[k]);
    ha_mapping_free(x->m);
}

/* Every value that is stored is there; every byte that is not a value's is as it was. */
static void compare(const memory *from, const memory *to, const pair *p) {
    void *from_blob[MOST_BLOBS], *to_blob[MOST_BLOBS];
    for (int k = 0; k < MOST_BLOBS; k++) {
        from_blob[k] = from->host[k];
        to_blob[k] = to->host[k];
    }
    const ha_mapped origin = {from->m, from_blob}, target = {to->m, to_blob};
    int64_t index[HA_MAPPING_RANK] = {0};
    for (int d = 0; d >= 0;) {
        for (int64_t leaf = 0; leaf < from->m->rows; leaf++) {
            ha_leaf l;
            if (to->m->row[leaf].blob < 0) continue;
            require(ha_record_leaf(from->m->record, leaf, &l) == HA_OK, "leaf");
            unsigned char written[16], value[16], ones[16];
            memset(ones, 0xff, sizeof ones);
            ha_mapped_get(&origin, leaf, index, value);
            ha_mapped_get(&target, leaf, index, written);
            require(!memcmp(written, value, (size_t)ha_scalar_size(l.scalar)), "the same value");
            ha_mapped_set(&target, leaf, index, ones);
        }
        for (d = p->rank - 1; d >= 0; index[d--] = 0)
            if (++index[d] < p->extent[d]) break;
    }
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
    for (int d = 0; d < p->rank; d++) n *= (size_t)p->extent[d];
    require(cl.run(queue, kernel, 1, NULL, &n, NULL, 0, NULL, NULL) == 0, "run");
    read_back(sizes, sizeof bytes, bytes);
    for (int k = 0; k < from->m->blobs; k++)
        require(bytes[k] == from->m->blob[k].bytes, "bytes of a blob");
    for (int k = 0; k < to->m->blobs; k++)
        read_back(to->buffer[k], (size_t)to->m->blob[k].bytes, to->host[k]);
}

/* What stands between the values: nothing writes there. */
static void compare_gaps(const memory *before, const memory *after) {
    for (int k = 0; k < after->m->blobs; k++)
        for (int64_t i = 0; i < after->m->blob[k].bytes; i++)
            require(after->host[k][i] == 0xff || after->host[k][i] == before->host[k][i],
                    "nothing is written between values");
}

static void test_pair(const ha_record *r, const pair *p, void *device) {
    write_program(r, p,
                  "#define KERNEL __kernel\n#define GLOBAL __global\n"
                  "#define ME (a_int)get_global_id(0)\n");
    build(device, source, "-cl-std=CL1.2");
    memory from = make_memory(r, p->from, p, 1), to = make_memory(r, p->to, p, 2);
    memory before = make_memory(r, p->to, p, 2);
    run_copy(&from, &to, p);
    compare(&from, &to, p);
    compare_gaps(&before, &to);
    free_memory(&from);
    free_memory(&to);
    free_memory(&before);
    printf("%s to %s: ok\n", p->from, p->to);
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

static void compile_pair(const ha_record *r, const pair *p) {
    void *unit = NULL;
    size_t bytes = 0;
    write_program(r, p,
                  "#define KERNEL extern \"C\" __global__\n#define GLOBAL\n"
                  "#define ME ((a_int)blockIdx.x * blockDim.x + threadIdx.x)\n");
    require(nvrtc.create(&unit, source, "copy.cu", 0, NULL, NULL) == 0, "program");
    const int error = nvrtc.compile(unit, 0, NULL);
    require(nvrtc.log_size(unit, &bytes) == 0, "log");
    char *log = (char *)calloc(bytes + 1, 1);
    require(nvrtc.log(unit, log) == 0, "log");
    if (strlen(log) > 0) puts(log);
    require(error == 0 && strlen(log) == 0, "NVRTC accepts the text, without a warning");
    free(log);
    nvrtc.destroy(&unit);
    printf("%s to %s: accepted\n", p->from, p->to);
}

int main(int count, char **argument) {
    const int cuda = count > 1 && !strcmp(argument[1], "nvrtc");
    void *device = NULL;
    ha_record *r = ha_record_parse(record_text, NULL);
    require(r != NULL, "record");
    if (cuda) {
        load_nvrtc();
    } else {
        load();
        open_device(&device);
    }
    for (size_t k = 0; k < PAIRS; k++) {
        if (cuda)
            compile_pair(r, &pairs[k]);
        else
            test_pair(r, &pairs[k], device);
    }
    ha_record_free(r);
    return 0;
}
