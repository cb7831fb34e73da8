// Distances and nearest clusters of items, memberships as codes, and where entries lie.

// Which of `n_bins` clusters from `low` on each item is in, as a byte: the number of one, of a pair
// (from `n_bins` on), 253 for all, 254 for more, 255 for none; where items may be in several, also
// as bits.
extern "C" __global__ void byte_codes(
    Long n, const int *first, const Long *extra_ptr, const int *extra_clusters, int low, int n_bins,
    unsigned char *codes, unsigned *sets)
{
    const Long item = (Long)blockIdx.x * blockDim.x + threadIdx.x;
    if (item >= n) return;
    int found[2] = {NONE, NONE}, number = 0, bin = first[item] - low;
    unsigned bits = 0;
    if (bin >= 0 && bin < n_bins) {
        found[number++] = bin;
        bits = 1u << bin;
    }
    const Long from = extra_ptr ? extra_ptr[item] : 0, to = extra_ptr ? extra_ptr[item + 1] : 0;
    for (Long x = from; x < to; x++) {
        bin = extra_clusters[x] - low;
        if (bin < 0 || bin >= n_bins) continue;
        if (number < 2) found[number] = bin;
        number++;
        bits |= 1u << bin;
    }
    int code = found[0];
    if (number == 2) {
        const int one = found[0] < found[1] ? found[0] : found[1];
        const int two = found[0] < found[1] ? found[1] : found[0];
        code = n_bins + two * (two - 1) / 2 + one;
    }
    if (number > 2) code = number == n_bins ? ALL : MORE;
    codes[item] = code;
    if (sets) sets[item] = bits;
}

// How many items have each cluster; counted in shared memory, if they are to be `close`.
extern "C" __global__ void count_labels(
    Long n, const int *labels, int k, int close, Count *counts)
{
    extern __shared__ unsigned tally[];
    for (int i = threadIdx.x; close && i < k; i += blockDim.x) tally[i] = 0;
    __syncthreads();
    Long item = (Long)blockIdx.x * blockDim.x + threadIdx.x;
    for (; item < n; item += (Long)gridDim.x * blockDim.x) {
        if (labels[item] < 0) continue;
        if (close) atomicAdd(tally + labels[item], 1u);
        else atomicAdd(counts + labels[item], (Count)1);
    }
    __syncthreads();
    for (int i = threadIdx.x; close && i < k; i += blockDim.x)
        if (tally[i]) atomicAdd(counts + i, (Count)tally[i]);
}

// Distances of items to clusters, the nearest one, and for every block of items the sum of the
// distances at memberships; see `score` of neocc.kernels.numpy_. Absent tables are null. TILED
// copies the sums of a block of items, and the small tables, into shared memory.
extern "C" __global__ void __launch_bounds__(128, 8) score(
    Long n, int k, int l, const double *__restrict__ sums, const double *__restrict__ squares,
    const double *__restrict__ products, const double *__restrict__ slope,
    const double *__restrict__ offset, const double *__restrict__ scale,
    const double *__restrict__ shrink, const double *__restrict__ rate,
    const double *__restrict__ magnitude, const int *__restrict__ first,
    const Long *__restrict__ extra_ptr, const int *__restrict__ extra_clusters,
    const double *__restrict__ weights, double *__restrict__ d, int *__restrict__ labels,
    double *__restrict__ minima, double *__restrict__ partial)
{
    const Long begin = (Long)blockIdx.x * blockDim.x, item = begin + threadIdx.x;
#ifdef TILED
    extern __shared__ double tile[];
    const int pad = l | 1;
    double *slopes = tile + blockDim.x * pad, *offsets = slopes + l * k, *sizes = offsets + k;
    const Long n_here = n - begin < blockDim.x ? n - begin : blockDim.x;
    const int down = blockDim.x / l, across = blockDim.x % l;
    int line = threadIdx.x / l, place = threadIdx.x % l;
    for (int i = threadIdx.x; i < (int)n_here * l; i += blockDim.x) {
        tile[line * pad + place] = __ldcs(sums + begin * l + i);
        line += down;
        place += across;
        if (place >= l) {
            place -= l;
            line++;
        }
    }
    for (int i = threadIdx.x; slope && i < l * k; i += blockDim.x) slopes[i] = slope[i];
    for (int i = threadIdx.x; i < k; i += blockDim.x) {
        offsets[i] = offset[i];
        sizes[i] = magnitude[i];
    }
    __syncthreads();
    const double *S = tile + threadIdx.x * pad;
    const bool paired = k % 4 == 0;
#else
    const double *S = sums + item * l, *slopes = slope, *offsets = offset, *sizes = magnitude;
    const bool paired = false;
#endif
    double total = 0.0;
    if (item < n) {
        const double squared = squares[item];
        double shrunk = 0.0, least = __longlong_as_double(0x7ff0000000000000LL);
        int nearest = 0;
        const int own = first ? first[item] : -1;
        const double weight = weights ? weights[item] : 1.0;
        if (shrink)
            for (int j = 0; j < l; j++) shrunk += S[j] * S[j] * shrink[j];
        for (int begun = 0; begun < k; begun += 4) {
            double cross[4] = {0.0, 0.0, 0.0, 0.0}, kept[4];
            const int spare = k - begun < 4 ? k - begun : 4;
            unsigned chosen = own >= begun && own < begun + 4 ? 1u << (own - begun) : 0u;
            if (extra_ptr)
                for (Long x = extra_ptr[item]; x < extra_ptr[item + 1]; x++) {
                    const int other = extra_clusters[x] - begun;
                    if (other >= 0 && other < 4) chosen |= 1u << other;
                }
            if (slope && paired) {
#pragma unroll 4
                for (int j = 0; j < l; j++) {
                    const double s = S[j];
                    const double2 *line = reinterpret_cast<const double2 *>(slopes + j * k + begun);
                    const double2 low = line[0], high = line[1];
                    cross[0] += s * low.x;
                    cross[1] += s * low.y;
                    cross[2] += s * high.x;
                    cross[3] += s * high.y;
                }
            } else if (slope) {
                for (int j = 0; j < l; j++) {
                    const double s = S[j];
                    const double *line = slopes + j * k + begun;
#pragma unroll
                    for (int c = 0; c < 4; c++)
                        if (c < spare) cross[c] += s * line[c];
                }
            }
#pragma unroll
            for (int c = 0; c < 4; c++) {
                if (c >= spare) continue;
                const int q = begun + c;
                double exact = (rate ? squared * rate[q] : squared) + offsets[q];
                exact += cross[c];
                if (products) exact += products[item * k + q] * (scale ? scale[q] : 1.0);
                if (shrink) exact -= shrunk;
                if (chosen >> c & 1u) total += exact * weight;
                const double size = sizes[q];
                double rounded = size;
                if (!isinf(size)) {
                    const double anchor = fmax((squared + size) * 64.0, fabs(exact) * 4096.0);
                    rounded = __dsub_rn(__dadd_rn(exact, anchor), anchor);
                }
                kept[c] = rounded;
                if (rounded < least) {
                    least = rounded;
                    nearest = q;
                }
            }
            if (d && k % 4 == 0) {
                double2 *line = reinterpret_cast<double2 *>(d + item * k + begun);
                line[0] = make_double2(kept[0], kept[1]);
                line[1] = make_double2(kept[2], kept[3]);
            } else if (d) {
#pragma unroll
                for (int c = 0; c < 4; c++)
                    if (c < spare) d[item * k + begun + c] = kept[c];
            }
        }
        labels[item] = nearest;
        minima[item] = least;
    }
    add_block<128>(total, partial + blockIdx.x);
}

// The sum of some numbers, in an order that depends on how many they are; one block of 1024.
extern "C" __global__ void add_up(Long n, const double *numbers, double *sum)
{
    double total = 0.0;
    for (Long i = threadIdx.x; i < n; i += 1024) total += numbers[i];
    add_block<1024>(total, sum);
}

// Sums of the lines of a table over clusters, for every 512 items: lanes share the columns of the
// table, `l` of `stride` from `begun` on, and warps the items, each with sums of its own.
extern "C" __global__ void block_sums(
    Long n, int stride, int begun, int l, int k, const double *__restrict__ table,
    const int *__restrict__ first, const Long *__restrict__ extra_ptr,
    const int *__restrict__ extra_clusters, const double *__restrict__ scale,
    double *__restrict__ partial)
{
    extern __shared__ double tile[];
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, n_warps = blockDim.x >> 5;
    const int n_cells = l * k;
    double *mine = tile + warp * n_cells;
    for (int i = lane; i < n_cells; i += 32) mine[i] = 0.0;
    __syncwarp();
    const Long begin = (Long)blockIdx.x * 512, end = begin + 512 < n ? begin + 512 : n;
    for (Long item = begin + warp; item < end; item += n_warps) {
        const int own = first[item];
        const double times = scale ? scale[item] : 1.0;
        const Long from = extra_ptr ? extra_ptr[item] : 0, to = extra_ptr ? extra_ptr[item + 1] : 0;
        for (int j = lane; j < l; j += 32) {
            const double value = __dmul_rn(table[item * stride + begun + j], times);
            if (own >= 0) mine[j * k + own] += value;
            for (Long x = from; x < to; x++) mine[j * k + extra_clusters[x]] += value;
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < n_cells; i += blockDim.x) {
        double total = 0.0;
        for (int w = 0; w < n_warps; w++) total += tile[w * n_cells + i];
        partial[(Long)blockIdx.x * n_cells + i] = total;
    }
}

// The sum of some tables, one after the other.
extern "C" __global__ void add_tables(int n_tables, int n_cells, const double *tables, double *sum)
{
    const int cell = blockIdx.x * blockDim.x + threadIdx.x;
    if (cell >= n_cells) return;
    double total = 0.0;
    for (int i = 0; i < n_tables; i++) total += tables[(Long)i * n_cells + cell];
    sum[cell] = total;
}

// Where the entries of each item that belong to each band begin; those of the last one end.
extern "C" __global__ void band_starts(
    Long n_items, int n_bands, Long width, const Long *ptr, const int *indices, Long *starts)
{
    const Long at = (Long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= n_items * (n_bands + 1)) return;
    const Long item = at % n_items, wanted = at / n_items * width;
    Long low = ptr[item], high = ptr[item + 1];
    if (at / n_items < n_bands)
        while (low < high) {
            const Long middle = (low + high) / 2;
            if (indices[middle] < wanted) low = middle + 1;
            else high = middle;
        }
    starts[at] = at / n_items < n_bands ? low : ptr[item + 1];
}

// Column and row, within 65536 rows from `begin` on, of each of their entries, as one number.
extern "C" __global__ void entry_keys(
    Long n, Long begin, Long end, const Long *ptr, const int *indices, Count *keys)
{
    const Long at = (Long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= n) return;
    const Long entry = ptr[begin] + at;
    Long low = begin, high = end;
    while (low + 1 < high) {
        const Long middle = (low + high) / 2;
        if (ptr[middle] <= entry) low = middle;
        else high = middle;
    }
    keys[at] = ((Count)indices[entry] << 16) | (Count)(low - begin);
}
