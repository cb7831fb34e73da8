// Thresholds and what is within them: counts of distances by bin, the distance of a rank, and the
// memberships that a threshold allows.

#define ALL_BUT_SIGN 0x7fffffffffffffffLL

__device__ __forceinline__ Long key_of(double value)
{
    const Long bits = __double_as_longlong(__dadd_rn(value, 0.0));
    return bits ^ ((bits >> 63) & ALL_BUT_SIGN);
}

// How many keys lie below a window and within it, and the smallest and largest of the latter.
extern "C" __global__ void key_range(
    Long n, const double *__restrict__ values, Long low, Long high, Long *found)
{
    __shared__ Long shared[4];
    if (threadIdx.x == 0) {
        shared[0] = shared[1] = 0;
        shared[2] = ALL_BUT_SIGN;
        shared[3] = ~ALL_BUT_SIGN;
    }
    __syncthreads();
    Long below = 0, within = 0, least = ALL_BUT_SIGN, largest = ~ALL_BUT_SIGN;
    Long i = (Long)blockIdx.x * blockDim.x + threadIdx.x;
    for (; i < n; i += (Long)gridDim.x * blockDim.x) {
        const Long key = key_of(values[i]);
        below += key < low;
        if (key < low || key > high) continue;
        within++;
        least = key < least ? key : least;
        largest = key > largest ? key : largest;
    }
    for (int step = 16; step; step /= 2) {
        below += __shfl_xor_sync(0xffffffffu, below, step);
        within += __shfl_xor_sync(0xffffffffu, within, step);
        const Long a = __shfl_xor_sync(0xffffffffu, least, step);
        const Long b = __shfl_xor_sync(0xffffffffu, largest, step);
        least = a < least ? a : least;
        largest = b > largest ? b : largest;
    }
    if ((threadIdx.x & 31) == 0) {
        atomicAdd((Count *)shared, (Count)below);
        atomicAdd((Count *)shared + 1, (Count)within);
        atomicMin(shared + 2, least);
        atomicMax(shared + 3, largest);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd((Count *)found, (Count)shared[0]);
        atomicAdd((Count *)found + 1, (Count)shared[1]);
        atomicMin(found + 2, shared[2]);
        atomicMax(found + 3, shared[3]);
    }
}

// How many keys of a window fall into each bin from `least` on; in shared memory if it is `close`.
extern "C" __global__ void histogram(
    Long n, const double *__restrict__ values, Long low, Long high, int shift, Long least,
    int n_bins, int close, Count *counts)
{
    extern __shared__ unsigned tally[];
    if (close) {
        for (int i = threadIdx.x; i < n_bins; i += blockDim.x) tally[i] = 0;
        __syncthreads();
    }
    Long i = (Long)blockIdx.x * blockDim.x + threadIdx.x;
    for (; i < n; i += (Long)gridDim.x * blockDim.x) {
        const Long key = key_of(values[i]);
        if (key < low || key > high) continue;
        const int bin = (int)((key >> shift) - least);
        if (close) atomicAdd(tally + bin, 1u);
        else atomicAdd(counts + bin, (Count)1);
    }
    if (!close) return;
    __syncthreads();
    for (int bin = threadIdx.x; bin < n_bins; bin += blockDim.x)
        if (tally[bin]) atomicAdd(counts + bin, (Count)tally[bin]);
}

// The keys of a window, in no order.
extern "C" __global__ void keys_within(
    Long n, const double *__restrict__ values, Long low, Long high, Count *number, Long *keys)
{
    Long i = (Long)blockIdx.x * blockDim.x + threadIdx.x;
    for (; i < n; i += (Long)gridDim.x * blockDim.x) {
        const Long key = key_of(values[i]);
        if (key >= low && key <= high) keys[atomicAdd(number, (Count)1)] = key;
    }
}

// The distances of a table, but those of first memberships if there are any, one after the other.
struct Walk {
    Long n, at, step, item, items;
    int k, q, rest;

    __device__ __forceinline__ Walk(Long n_values, int n_clusters)
    {
        n = n_values;
        k = n_clusters;
        at = (Long)blockIdx.x * blockDim.x + threadIdx.x;
        step = (Long)gridDim.x * blockDim.x;
        item = at / k;
        q = (int)(at - item * k);
        items = step / k;
        rest = (int)(step - items * k);
    }

    __device__ __forceinline__ void next()
    {
        at += step;
        item += items;
        q += rest;
        if (q >= k) {
            q -= k;
            item++;
        }
    }
};

// Values of a rank are selected without the host: `state` says how many keys lie below a window, how
// many within it, its ends, how many equal the value found (0 until then), and how many were copied.
struct State { Long below, within, least, largest, equal, copied; };

#define BIN_BITS 13

__device__ __forceinline__ int shift_of(const State *state)
{
    const Count range = (Count)state->largest - (Count)state->least;
    int shift = 0;
    while ((range >> shift) >> BIN_BITS) shift++;
    return shift;
}

extern "C" __global__ void selected_range(
    Long n, int k, const double *__restrict__ values, const int *__restrict__ first, Long *found)
{
    State *state = reinterpret_cast<State *>(found);
    Long least = ALL_BUT_SIGN, largest = ~ALL_BUT_SIGN;
    for (Walk walk(n, k); walk.at < n; walk.next()) {
        if (first && first[walk.item] == walk.q) continue;
        const Long key = key_of(values[walk.at]);
        least = key < least ? key : least;
        largest = key > largest ? key : largest;
    }
    for (int step = 16; step; step /= 2) {
        const Long a = __shfl_xor_sync(0xffffffffu, least, step);
        const Long b = __shfl_xor_sync(0xffffffffu, largest, step);
        least = a < least ? a : least;
        largest = b > largest ? b : largest;
    }
    if ((threadIdx.x & 31) == 0) {
        atomicMin(&state->least, least);
        atomicMax(&state->largest, largest);
    }
}

// How many keys of the window fall into each of its bins.
extern "C" __global__ void count_bins(
    Long n, int k, const double *__restrict__ values, const int *__restrict__ first,
    const double *__restrict__ few, const Long *found, Count *counts)
{
    extern __shared__ unsigned tally[];
    const State *state = reinterpret_cast<const State *>(found);
    if (state->equal) return;
    if (state->copied) {
        n = state->copied;
        k = 1;
        values = few;
        first = nullptr;
        if ((Long)blockIdx.x * blockDim.x >= n) return;
    }
    const Long low = state->least, high = state->largest;
    const int shift = shift_of(state), n_bins = (int)((high >> shift) - (low >> shift)) + 1;
    for (int i = threadIdx.x; i < n_bins; i += blockDim.x) tally[i] = 0;
    __syncthreads();
    for (Walk walk(n, k); walk.at < n; walk.next()) {
        if (first && first[walk.item] == walk.q) continue;
        const Long key = key_of(values[walk.at]);
        if (key < low || key > high) continue;
        atomicAdd(tally + (int)((key >> shift) - (low >> shift)), 1u);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < n_bins; i += blockDim.x)
        if (tally[i]) atomicAdd(counts + i, (Count)tally[i]);
}

// Narrow the window to the bin that holds a rank, and begin new counts; one block of 1024.
extern "C" __global__ void pick_bin(Long rank, Long *found, Count *counts)
{
    __shared__ Long totals[1024];
    State *state = reinterpret_cast<State *>(found);
    if (state->equal) return;
    const int t = threadIdx.x, each = ((1 << BIN_BITS) + 1024) / 1024, shift = shift_of(state);
    const Long low = state->least, high = state->largest, wanted = rank - state->below;
    const int n_bins = (int)((high >> shift) - (low >> shift)) + 1;
    const int begin = t * each < n_bins ? t * each : n_bins;
    const int end = begin + each < n_bins ? begin + each : n_bins;
    Long mine = 0;
    for (int i = begin; i < end; i++) mine += (Long)counts[i];
    totals[t] = mine;
    __syncthreads();
    for (int step = 1; step < 1024; step *= 2) {
        const Long more = t >= step ? totals[t - step] : 0;
        __syncthreads();
        totals[t] += more;
        __syncthreads();
    }
    Long before = totals[t] - mine;
    if (before < wanted && wanted <= totals[t]) {
        int i = begin;
        while (before + (Long)counts[i] < wanted) before += (Long)counts[i++];
        const Long from = ((low >> shift) + i) * (1LL << shift), to = from + ((1LL << shift) - 1);
        state->below += before;
        state->within = (Long)counts[i];
        state->least = from > low ? from : low;
        state->largest = to < high ? to : high;
        if (shift == 0) state->equal = state->within;
    }
    for (int i = begin; i < end; i++) counts[i] = 0;
}

// Copy the values of the window, in no order, if there is room.
extern "C" __global__ void copy_bin(
    Long n, int k, const double *__restrict__ values, const int *__restrict__ first, Long room,
    double *few, Long *found)
{
    State *state = reinterpret_cast<State *>(found);
    const Long low = state->least, high = state->largest;
    if (state->equal || !state->within || state->within > room) return;
    for (Walk walk(n, k); walk.at < n; walk.next()) {
        const Long key = key_of(values[walk.at]);
        if (key < low || key > high || (first && first[walk.item] == walk.q)) continue;
        few[atomicAdd((Count *)&state->copied, (Count)1)] = values[walk.at];
    }
}

// How many clusters of each item, but for its first one, are within a threshold; from `numbers[1]`.
extern "C" __global__ void count_near(
    Long n, int k, const double *__restrict__ d, const int *__restrict__ first, double threshold,
    Count *numbers)
{
    for (Walk walk(n * k, k); walk.at < n * k; walk.next())
        if (d[walk.at] <= threshold && first[walk.item] != walk.q)
            atomicAdd(numbers + walk.item + 1, (Count)1);
}

// Which they are, from the end of the item before on.
extern "C" __global__ void list_near(
    Long n, int k, const double *__restrict__ d, const int *__restrict__ first, double threshold,
    const Long *__restrict__ ends, Long *__restrict__ items, int *__restrict__ clusters)
{
    Long item = (Long)blockIdx.x * blockDim.x + threadIdx.x;
    for (; item < n; item += (Long)gridDim.x * blockDim.x) {
        Long at = ends[item];
        if (at == ends[item + 1]) continue;
        for (int q = 0; q < k; q++)
            if (d[item * k + q] <= threshold && first[item] != q) {
                items[at] = item;
                clusters[at++] = q;
            }
    }
}
