// CUDA on one thread of a CPU: the threads of a block are fibers, which wait for each other at
// barriers. Blocks run one after the other. Enough for the kernels of this package.

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <ucontext.h>
#include <vector>

#define __launch_bounds__(...)
#define __global__
#define __device__
#define __forceinline__ inline
#define __align__(n) alignas(n)
#define __restrict__

struct int2 { int x, y; };
struct int4 { int x, y, z, w; };
struct alignas(16) double2 { double x, y; };
inline double2 make_double2(double x, double y) { return {x, y}; }
struct dim3 { unsigned x, y, z; };

namespace emulated {

enum State { READY, AT_WARP, AT_BLOCK, DONE };

struct Fiber { ucontext_t context; State state; dim3 index; };

const size_t STACK = 1 << 15;
static ucontext_t scheduler;
static std::vector<Fiber> fibers;
static std::vector<char> stacks;
static int current;
static void (*body)();
static unsigned char exchange[32][32][8];
static std::vector<double> dynamic;
static dim3 grid, block, block_index;

static void run() {
    body();
    fibers[current].state = DONE;
    swapcontext(&fibers[current].context, &scheduler);
}

static void wait(State at) {
    fibers[current].state = at;
    swapcontext(&fibers[current].context, &scheduler);
}

// Let those go on who are all at a barrier; those who are done are not waited for.
static void release(State at, int begin, int end) {
    for (int i = begin; i < end; i++)
        if (fibers[i].state != at && fibers[i].state != DONE) return;
    for (int i = begin; i < end; i++)
        if (fibers[i].state == at) fibers[i].state = READY;
}

static void run_block() {
    const int n = block.x;
    for (int i = 0; i < n; i++) {
        Fiber &fiber = fibers[i];
        getcontext(&fiber.context);
        fiber.context.uc_stack.ss_sp = stacks.data() + STACK * i;
        fiber.context.uc_stack.ss_size = STACK;
        fiber.context.uc_link = &scheduler;
        makecontext(&fiber.context, run, 0);
        fiber.state = READY;
        fiber.index = {(unsigned)i, 0, 0};
    }
    for (bool alive = true; alive;) {
        alive = false;
        bool moved = false;
        for (int warp = 0; warp < n; warp += 32) {
            const int end = warp + 32 < n ? warp + 32 : n;
            for (int i = warp; i < end; i++)
                if (fibers[i].state == READY) {
                    moved = true;
                    current = i;
                    swapcontext(&scheduler, &fibers[i].context);
                }
            release(AT_WARP, warp, end);
        }
        release(AT_BLOCK, 0, n);
        for (int i = 0; i < n; i++) alive |= fibers[i].state != DONE;
        if (alive && !moved) abort();  // threads that wait for different barriers
    }
}

static void launch(const unsigned *sizes, size_t shared) {
    grid = {sizes[0], sizes[1], 1};
    block = {sizes[2], 1, 1};
    fibers.resize(block.x);
    stacks.resize(STACK * block.x);
    for (unsigned y = 0; y < grid.y; y++)
        for (unsigned x = 0; x < grid.x; x++) {
            block_index = {x, y, 0};
            // Nobody may count on what is in there.
            dynamic.assign(shared / 8 + 1, NAN);
            run_block();
        }
}

template <class T> T shuffled(T value, int lane) {
    const int warp = current / 32;
    memcpy(exchange[warp][current % 32], &value, sizeof(T));
    wait(AT_WARP);
    memcpy(&value, exchange[warp][lane & 31], sizeof(T));
    wait(AT_WARP);
    return value;
}

}  // namespace emulated

#define threadIdx emulated::fibers[emulated::current].index
#define blockIdx emulated::block_index
#define blockDim emulated::block
#define gridDim emulated::grid
#define __syncthreads() emulated::wait(emulated::AT_BLOCK)
#define __syncwarp() emulated::wait(emulated::AT_WARP)
#define __shfl_sync(mask, value, lane) emulated::shuffled(value, lane)
#define __shfl_xor_sync(mask, value, by) \
    emulated::shuffled(value, (emulated::current % 32) ^ (by))

template <class T> T __ldcs(const T *at) {
    if ((size_t)at % sizeof(T)) abort();
    return *at;
}
template <class T> T atomicAdd(T *at, T by) { T old = *at; *at += by; return old; }
template <class T> T atomicMin(T *at, T by) { T old = *at; if (by < old) *at = by; return old; }
template <class T> T atomicMax(T *at, T by) { T old = *at; if (by > old) *at = by; return old; }
inline long long __double_as_longlong(double x) { long long y; memcpy(&y, &x, 8); return y; }
inline double __longlong_as_double(long long x) { double y; memcpy(&y, &x, 8); return y; }
inline double __dadd_rn(double x, double y) { return x + y; }
inline double __dmul_rn(double x, double y) { return x * y; }
inline double __dsub_rn(double x, double y) { return x - y; }
inline int __ffs(int bits) { return __builtin_ffs(bits); }
inline int __popc(unsigned bits) { return __builtin_popcount(bits); }
using std::isinf;
