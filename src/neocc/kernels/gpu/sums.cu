// Sums of items over clusters of the other side, and products with thin tables.
//
// Compiled with VALUE (float, double), INDEX (int, unsigned short) and CODE (unsigned char, or
// unsigned short where some have several memberships). Items are lines of entries, cut into bands
// of the other side: entries of item i in band b lie from starts[b * n_items + i] to stops[...],
// and their indices are relative to the band if it is `local`. Each item is summed in an order
// that depends on the matrix alone, by the threads of one group, so results have the same bits for
// any number of blocks. PLAIN leaves out squares and weights.

typedef long long Long;

#define NONE 255
#define MORE 254
#ifdef PLAIN
#define COUNT(by)
#else
#define COUNT(by) number += by
#endif

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

// `weighing` says how squares count: 0 not at all, 1 once, 2 as often as the other item has
// memberships here, 3 by `weights`. `adds` to what is there, or overwrites it.
extern "C" __global__ void gather(
    Long n_items, int n_bands, Long width, Long n_others, Long n_stored, int local,
    const Long *__restrict__ starts, const Long *__restrict__ stops,
    const INDEX *__restrict__ indices, const VALUE *__restrict__ values,
    const CODE *__restrict__ codes, const int *__restrict__ firsts,
    const Long *__restrict__ extra_ptr, const int *__restrict__ extra_clusters,
    const double *__restrict__ scale, const double *__restrict__ weights, int weighing,
    const Long *__restrict__ edges, int group, int first_bin, int n_bins, int stride, int adds,
    int shared_codes, double *__restrict__ sums, double *__restrict__ squares)
{
    extern __shared__ double bins[];
    const int n_threads = blockDim.x, lane = threadIdx.x & (group - 1);
    const int per_warp = 32 / group, in_warp = (threadIdx.x & 31) / group;
    const int warp = threadIdx.x >> 5, n_warps = n_threads >> 5;
    const Long last = edges[blockIdx.x + 1];
    CODE *nearby = reinterpret_cast<CODE *>(bins + (Long)n_bins * n_threads);
    double *mine = bins + threadIdx.x;
    for (int bin = 0; bin < n_bins; bin++) mine[bin * n_threads] = 0.0;

    for (int band = 0; band < n_bands; band++) {
        const Long low = band * width;
        const Long here = n_others - low < width ? n_others - low : width;
        if (shared_codes) {
            __syncthreads();
            const int vectors = (int)(here * sizeof(CODE) / 16);
            const int4 *from = reinterpret_cast<const int4 *>(codes + low);
            for (int i = threadIdx.x; i < vectors; i += n_threads)
                reinterpret_cast<int4 *>(nearby)[i] = from[i];
            for (Long i = vectors * (16 / sizeof(CODE)) + threadIdx.x; i < here; i += n_threads)
                nearby[i] = codes[low + i];
            __syncthreads();
        }
        const CODE *table = shared_codes ? nearby : codes + low;
        const int shift = local ? 0 : (int)low;
        const Long hop = n_warps * per_warp;
        Long item = edges[blockIdx.x] + warp * per_warp + in_warp;
        // What comes next is asked for early: the ends of the next item, and two vectors ahead.
        Ends ends(starts, stops, band * n_items + item, item < last);
        Four now, next, after;
        if (4 * lane < ends.to) load(now, indices, values, ends.whole, 4 * lane, n_stored);
        if (4 * (lane + group) < ends.to)
            load(next, indices, values, ends.whole, 4 * (lane + group), n_stored);
        for (; item - in_warp < last; item += hop) {
            const int from = ends.from, to = ends.to;
            const Long whole = ends.whole;
            ends = Ends(starts, stops, band * n_items + item + hop, item + hop < last);
#ifndef PLAIN
            double squared = 0.0;
#endif
            for (int at = 4 * lane; at < to; at += 4 * group) {
                if (at + 8 * group < to)
                    load(after, indices, values, whole, at + 8 * group, n_stored);
#pragma unroll
                for (int e = 0; e < 4; e++) {
                    if (at + e < from || at + e >= to) continue;
                    const int other = (int)now.index[e] - shift;
                    const double value = (double)now.value[e];
                    double counted = value;
#ifndef PLAIN
                    const double times = scale ? scale[low + other] : 1.0;
                    counted *= times;
                    double number = 0.0;
#endif
                    if (n_bins) {
                        const unsigned code = table[other];
                        const unsigned one = sizeof(CODE) == 1 ? code : (code & 255u);
                        if (one < MORE) {
                            mine[one * n_threads] += counted;
                            COUNT(1.0);
                        }
                        if (sizeof(CODE) == 2) {
                            const unsigned two = code >> 8;
                            if (two < MORE) {
                                mine[two * n_threads] += counted;
                                COUNT(1.0);
                            } else if (two == MORE) {
                                int bin = firsts[low + other] - first_bin;
                                if (bin >= 0 && bin < n_bins) {
                                    mine[bin * n_threads] += counted;
                                    COUNT(1.0);
                                }
                                const Long *more = extra_ptr + low + other;
                                for (Long x = more[0]; x < more[1]; x++) {
                                    bin = extra_clusters[x] - first_bin;
                                    if (bin >= 0 && bin < n_bins) {
                                        mine[bin * n_threads] += counted;
                                        COUNT(1.0);
                                    }
                                }
                            }
                        }
                    }
#ifndef PLAIN
                    if (weighing == 1) squared += value * value;
                    else if (weighing == 2) squared += number * times * value * value;
                    else if (weighing == 3) squared += weights[low + other] * value * value;
#endif
                }
                now = next;
                next = after;
            }
            if (4 * lane < ends.to) load(now, indices, values, ends.whole, 4 * lane, n_stored);
            if (4 * (lane + group) < ends.to)
                load(next, indices, values, ends.whole, 4 * (lane + group), n_stored);
            __syncwarp();
            for (int bin = lane; bin < n_bins; bin += group) {
                double *line = bins + bin * n_threads + (threadIdx.x - lane), total = 0.0;
                for (int t = 0; t < group; t++) {
                    const int place = (t + lane) & (group - 1);
                    total += line[place];
                    line[place] = 0.0;
                }
                if (item < last) {
                    double *out = sums + item * stride + first_bin + bin;
                    *out = band || adds ? *out + total : total;
                }
            }
#ifndef PLAIN
            if (weighing) {
                for (int step = group / 2; step; step /= 2)
                    squared += __shfl_xor_sync(0xffffffffu, squared, step);
                if (item < last && lane == 0)
                    squares[item] = band || adds || first_bin ? squares[item] + squared : squared;
            }
#endif
            __syncwarp();
        }
    }
}

// Products of items with a table, of the entries in one band: a warp per item, a lane per column of
// the table. Lines of the table for one band stay in the cache of the card.
extern "C" __global__ void multiply(
    Long n_items, const Long *__restrict__ starts, const Long *__restrict__ stops,
    const INDEX *__restrict__ indices, const VALUE *__restrict__ values,
    const double *__restrict__ table, int n_columns, int adds, double *__restrict__ out)
{
    const int lane = threadIdx.x & 31, column = blockIdx.y * 32 + lane;
    const bool inside = column < n_columns;
    const Long n_warps = (Long)gridDim.x * (blockDim.x >> 5);
    Long item = (Long)blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5);
    for (; item < n_items; item += n_warps) {
        const Long stop = stops[item];
        double total = 0.0;
        for (Long at = starts[item]; at < stop; at += 32) {
            Long index = 0;
            double value = 0.0;
            if (at + lane < stop) {
                index = (Long)indices[at + lane] * n_columns;
                value = (double)values[at + lane];
            }
            const int n_here = stop - at < 32 ? (int)(stop - at) : 32;
            for (int from = 0; from < n_here; from += 8) {
                double found[8];
#pragma unroll
                for (int e = 0; e < 8; e++) {
                    const Long line = __shfl_sync(0xffffffffu, index, from + e);
                    found[e] = inside && from + e < n_here ? table[line + column] : 0.0;
                }
#pragma unroll
                for (int e = 0; e < 8; e++)
                    total += __shfl_sync(0xffffffffu, value, from + e) * found[e];
            }
        }
        if (inside) {
            double *place = out + item * n_columns + column;
            *place = adds ? *place + total : total;
        }
    }
}
