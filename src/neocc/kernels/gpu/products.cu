// Products of items with thin tables; compiled with VALUE and INDEX as `sums.cu` is.

// Lines of a table that a thread has asked for.
#define LINES 5

// Products of items with a table, of the entries in one band: a warp per item. A lane has two
// columns of the table; as many entries as there are lanes for are multiplied at a time, and their
// sums added at the end, in a fixed order. Lines of the table for one band stay in the cache of the
// card, so entries pass by it.
extern "C" __global__ void multiply(
    Long n_items, const Long *__restrict__ starts, const Long *__restrict__ stops,
    const INDEX *__restrict__ indices, const VALUE *__restrict__ values,
    const double2 *__restrict__ table, int n_pairs, int n_columns, int adds,
    double *__restrict__ out)
{
    const int lane = threadIdx.x & 31, first = blockIdx.y * 32;
    const int width = n_pairs - first < 32 ? n_pairs - first : 32;
    const int n_groups = 32 / width, group = lane / width, column = first + lane % width;
    const int n_chunk = 32 / n_groups * n_groups;
    const Long n_warps = (Long)gridDim.x * (blockDim.x >> 5);
    Long item = (Long)blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5);
    for (; item < n_items; item += n_warps) {
        const Long stop = stops[item];
        double one = 0.0, two = 0.0;
        for (Long at = starts[item]; at < stop; at += n_chunk) {
            const int n_here = stop - at < n_chunk ? (int)(stop - at) : n_chunk;
            int index = 0;
            VALUE value = 0;
            if (lane < n_here) {
                index = __ldcs(indices + at + lane);
                value = __ldcs(values + at + lane);
            }
            for (int from = group; from - group < n_here; from += LINES * n_groups) {
                double2 found[LINES];
#pragma unroll
                for (int e = 0; e < LINES; e++) {
                    const int entry = from + e * n_groups;
                    const Long line = __shfl_sync(0xffffffffu, index, entry & 31);
                    found[e] = make_double2(0.0, 0.0);
                    if (group < n_groups && entry < n_here) found[e] = table[line * n_pairs + column];
                }
#pragma unroll
                for (int e = 0; e < LINES; e++) {
                    const int entry = from + e * n_groups;
                    const double times = (double)__shfl_sync(0xffffffffu, value, entry & 31);
                    one += times * found[e].x;
                    two += times * found[e].y;
                }
            }
        }
        double total_one = one, total_two = two;
        for (int g = 1; g < n_groups; g++) {
            total_one += __shfl_sync(0xffffffffu, one, (lane + g * width) & 31);
            total_two += __shfl_sync(0xffffffffu, two, (lane + g * width) & 31);
        }
        if (group == 0) {
            double *place = out + item * n_columns + 2 * column;
            place[0] = adds ? place[0] + total_one : total_one;
            if (2 * column + 1 < n_columns) place[1] = adds ? place[1] + total_two : total_two;
        }
    }
}
