// Sums of items over clusters of the other side.
//
// Compiled with VALUE (float, double) and INDEX (int, unsigned short). Items are lines of entries,
// cut into bands of the other side: entries of item i in band b lie from starts[b * n_items + i] to
// stops[...], and their indices are relative to the band if it is `local`. Each item is summed in
// an order that depends on the matrix alone, by the threads of one group, so results have the same
// bits for any number of blocks. SCALED and SEVERAL are for others with weights and with several
// memberships, NEARBY copies the codes of a band into shared memory. WEIGHING says how squares
// count: 0 not at all, 1 once, 2 as often as the other item has memberships here, 3 by `weights`.

#ifndef WEIGHING
#define WEIGHING 0
#endif
#if WEIGHING == 2
#define COUNT(by) number += by
#else
#define COUNT(by)
#endif
// Vectors of entries that a thread has asked for, or works on.
#define DEPTH 2

struct __align__(16) Four { VALUE value[4]; INDEX index[4]; };

__device__ __forceinline__ void load(
    Four &found, const INDEX *__restrict__ indices, const VALUE *__restrict__ values, Long whole,
    int from, Long n_stored)
{
    const Long at = whole + from;
    if (at + 4 <= n_stored) {
        if (sizeof(INDEX) == 4)
            *reinterpret_cast<int4 *>(found.index) =
                __ldcs(reinterpret_cast<const int4 *>(indices + at));
        else
            *reinterpret_cast<int2 *>(found.index) =
                __ldcs(reinterpret_cast<const int2 *>(indices + at));
        if (sizeof(VALUE) == 4) {
            *reinterpret_cast<int4 *>(found.value) =
                __ldcs(reinterpret_cast<const int4 *>(values + at));
        } else {
            reinterpret_cast<int4 *>(found.value)[0] =
                __ldcs(reinterpret_cast<const int4 *>(values + at));
            reinterpret_cast<int4 *>(found.value)[sizeof(VALUE) / 8] =
                __ldcs(reinterpret_cast<const int4 *>(values + at) + sizeof(VALUE) / 8);
        }
    } else {
        for (int e = 0; e < 4; e++)
            if (at + e < n_stored) {
                found.index[e] = indices[at + e];
                found.value[e] = values[at + e];
            }
    }
}

// Where the entries of an item are: from `from` to `to`, counted from a whole vector on.
struct Ends {
    Long whole;
    int from, to;

    __device__ __forceinline__ Ends(
        const Long *__restrict__ starts, const Long *__restrict__ stops, Long at, bool any)
    {
        const Long start = any ? starts[at] : 0, stop = any ? stops[at] : 0;
        whole = start & ~3LL;
        from = (int)(start - whole);
        to = (int)(stop - whole);
    }
};

// `adds` to what is there, or overwrites it. The code of an item is its bin, a pair of bins (numbered
// from `n_bins` on), ALL, MORE (those that `sets` has bits of) or NONE.
extern "C" __global__ void gather(
    Long n_items, int n_bands, Long width, Long n_others, Long n_stored, int local,
    const Long *__restrict__ starts, const Long *__restrict__ stops,
    const INDEX *__restrict__ indices, const VALUE *__restrict__ values,
    const unsigned char *__restrict__ codes, const unsigned *__restrict__ sets,
    const double *__restrict__ scale, const double *__restrict__ weights,
    const Long *__restrict__ edges, int group, int first_bin, int n_bins, int stride, int adds,
    double *__restrict__ sums, double *__restrict__ squares)
{
    extern __shared__ double bins[];
    const int n_threads = blockDim.x, lane = threadIdx.x & (group - 1);
    const int per_warp = 32 / group, in_warp = (threadIdx.x & 31) / group;
    const int warp = threadIdx.x >> 5, n_warps = n_threads >> 5;
    const Long last = edges[blockIdx.x + 1];
    double *mine = bins + threadIdx.x;
    for (int bin = 0; bin < n_bins; bin++) mine[bin * n_threads] = 0.0;
    unsigned short *pairs = reinterpret_cast<unsigned short *>(bins + (Long)n_bins * n_threads);
#ifdef SEVERAL
    for (int i = threadIdx.x; i < n_bins * n_bins; i += n_threads) {
        const int one = i % n_bins, two = i / n_bins;
        if (one < two) pairs[two * (two - 1) / 2 + one] = (unsigned short)(two << 8 | one);
    }
    __syncthreads();
#endif
#ifdef NEARBY
    unsigned char *nearby = reinterpret_cast<unsigned char *>(pairs + 256);
#endif

    for (int band = 0; band < n_bands; band++) {
        const Long low = band * width;
#ifdef NEARBY
        const Long here = n_others - low < width ? n_others - low : width;
        __syncthreads();
        const int vectors = (int)(here / 16);
        const int4 *copied = reinterpret_cast<const int4 *>(codes + low);
        for (int i = threadIdx.x; i < vectors; i += n_threads)
            reinterpret_cast<int4 *>(nearby)[i] = copied[i];
        for (Long i = 16 * vectors + threadIdx.x; i < here; i += n_threads)
            nearby[i] = codes[low + i];
        __syncthreads();
        const unsigned char *table = nearby;
#else
        const unsigned char *table = codes + low;
#endif
        const int shift = local ? 0 : (int)low, step = 4 * group;
        const Long hop = n_warps * per_warp;
        Long item = edges[blockIdx.x] + warp * per_warp + in_warp;
        // What comes next is asked for early: the ends of the next item, and the next vector.
        // Each vector stays in its registers: moving one would wait for it.
        Ends ends(starts, stops, band * n_items + item, item < last);
        Four ahead[DEPTH];
#pragma unroll
        for (int v = 0; v < DEPTH - 1; v++)
            if (4 * lane + v * step < ends.to)
                load(ahead[v], indices, values, ends.whole, 4 * lane + v * step, n_stored);
        for (; item - in_warp < last; item += hop) {
            const int from = ends.from, to = ends.to;
            const Long whole = ends.whole;
            ends = Ends(starts, stops, band * n_items + item + hop, item + hop < last);
#if WEIGHING
            double squared = 0.0;
#endif
#ifdef SEVERAL
            double everywhere = 0.0;
#endif
            for (int at = 4 * lane; at < to;) {
#pragma unroll
                for (int phase = 0; phase < DEPTH; phase++) {
                    if (at >= to) continue;
                    const int next = at + (DEPTH - 1) * step;
                    if (next < to)
                        load(
                            ahead[(phase + DEPTH - 1) % DEPTH], indices, values, whole, next,
                            n_stored);
                    const Four &now = ahead[phase];
                    unsigned found[4];
#pragma unroll
                    for (int e = 0; e < 4; e++) {
                        const bool inside = at + e >= from && at + e < to;
                        found[e] = NONE;
                        if (n_bins && inside) found[e] = table[(int)now.index[e] - shift];
                    }
#pragma unroll
                    for (int e = 0; e < 4; e++) {
                        const unsigned code = found[e];
#if WEIGHING == 1 || WEIGHING == 3
                        if (at + e < from || at + e >= to) continue;
#else
                        if (code == NONE) continue;
#endif
                        const double value = (double)now.value[e];
                        double counted = value;
                        const Long other = low + (int)now.index[e] - shift;
#ifdef SCALED
                        // Rounded, so that the bits do not depend on what else is summed.
                        counted = __dmul_rn(value, scale[other]);
#endif
#if WEIGHING == 2
                        double number = 0.0;
#endif
                        unsigned one = code;
#ifdef SEVERAL
                        unsigned two = NONE;
                        if (code >= n_bins && code < ALL) {
                            const unsigned pair = pairs[code - n_bins];
                            one = pair & 255u;
                            two = pair >> 8;
                        }
#endif
                        if (one < ALL) {
                            mine[one * n_threads] += counted;
                            COUNT(1.0);
                        }
#ifdef SEVERAL
                        if (two < ALL) {
                            mine[two * n_threads] += counted;
                            COUNT(1.0);
                        } else if (one == ALL) {
                            everywhere += counted;
                            COUNT(n_bins);
                        } else if (one == MORE) {
                            unsigned rest = sets[other];
                            COUNT(__popc(rest));
                            while (rest) {
                                // They differ, so some are read before the first is written.
                                double before[4];
                                int bin[4];
#pragma unroll
                                for (int b = 0; b < 4; b++) {
                                    bin[b] = __ffs(rest) - 1;
                                    rest &= rest - 1;
                                    if (bin[b] >= 0) before[b] = mine[bin[b] * n_threads];
                                }
#pragma unroll
                                for (int b = 0; b < 4; b++)
                                    if (bin[b] >= 0) mine[bin[b] * n_threads] = before[b] + counted;
                            }
                        }
#endif
#if WEIGHING == 1
                        squared += value * value;
#elif WEIGHING == 2
                        squared += number * counted * value;
#elif WEIGHING == 3
                        squared += weights[other] * value * value;
#endif
                    }
                    at += step;
                }
            }
#pragma unroll
            for (int v = 0; v < DEPTH - 1; v++)
                if (4 * lane + v * step < ends.to)
                    load(ahead[v], indices, values, ends.whole, 4 * lane + v * step, n_stored);
            __syncwarp();
#ifdef SEVERAL
            for (int by = group / 2; by; by /= 2)
                everywhere += __shfl_xor_sync(0xffffffffu, everywhere, by);
#endif
            for (int bin = lane; bin < n_bins; bin += group) {
                double *line = bins + bin * n_threads + (threadIdx.x - lane), total = 0.0;
                for (int t = 0; t < group; t++) {
                    const int place = (t + lane) & (group - 1);
                    total += line[place];
                    line[place] = 0.0;
                }
#ifdef SEVERAL
                total += everywhere;
#endif
                if (item < last) {
                    double *out = sums + item * stride + first_bin + bin;
                    *out = band || adds ? *out + total : total;
                }
            }
#if WEIGHING
            for (int by = group / 2; by; by /= 2)
                squared += __shfl_xor_sync(0xffffffffu, squared, by);
            if (item < last && lane == 0)
                squares[item] = band || adds || first_bin ? squares[item] + squared : squared;
#endif
            __syncwarp();
        }
    }
}
