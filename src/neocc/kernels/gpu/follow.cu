// Sets of clusters of which an item follows one in each cluster of the other side, the one that
// fits best; see `least_sets` of neocc.kernels.numpy_sets. Compiled without fused operations.

// Parts of the cost of one item: slope[j * k + q] * S[j] + curve[j * k + q] * N[j] in other cluster
// j; without N, its counts, tables are those of all items.
struct Item {
    const double *S, *N, *slope, *curve, *magnitude;
    double squared, anchor;
    int k, l;

    __device__ __forceinline__ double part(int q, int j) const
    {
        const double curved = curve[j * k + q];
        return S[j] * slope[j * k + q] + (N ? curved * N[j] : curved);
    }

    __device__ __forceinline__ bool empty(int q) const { return isinf(magnitude[q]); }

    __device__ __forceinline__ double rounded(double cost) const { return (cost + anchor) - anchor; }
};

__device__ __forceinline__ double anchor_of(double squared, double top, double minimum)
{
    return fmax((squared + top) * 64.0, fabs(minimum) * 4096.0);
}

// The cluster of a set that an item follows, in order of their numbers: of equal ones the first, and
// before all others one without prototype, or one that is `fresh`.
struct Set {
    int label;
    const int *extra;
    int n_extra;

    __device__ __forceinline__ int next(int after) const
    {
        int found = label > after ? label : -1;
        for (int x = 0; x < n_extra; x++)
            if (extra[x] > after && (found < 0 || extra[x] < found)) found = extra[x];
        return found;
    }

    __device__ int followed(const Item &item, int j, const unsigned char *fresh) const
    {
        double least = INFINITE;
        int chosen = 0;
        for (int q = next(-1); q >= 0; q = next(q)) {
            const bool leads = item.empty(q) || (fresh && fresh[q]);
            const double compared = leads ? -INFINITE : item.rounded(item.part(q, j));
            if (compared < least) least = compared, chosen = q;
        }
        return chosen;
    }
};

// Best sets of items, their costs, what present sets cost, and for every block of 64 items what the
// objective has beside the distances of these.
extern "C" __global__ void least_sets(
    Long n, int k, int l, int largest, const double *__restrict__ sums,
    const double *__restrict__ counts, const double *__restrict__ slope,
    const double *__restrict__ curve, const double *__restrict__ magnitude, double top,
    const double *__restrict__ squares, const double *__restrict__ minima,
    const int *__restrict__ first, const Long *__restrict__ extra_ptr,
    const int *__restrict__ extra_clusters,
    const int *__restrict__ virtual_first, const Long *__restrict__ virtual_ptr,
    const int *__restrict__ virtual_clusters, const double *__restrict__ weights,
    double *__restrict__ curves, int *__restrict__ sets, double *__restrict__ present,
    double *__restrict__ partial)
{
    extern __shared__ double tile[];
    const Long at = (Long)blockIdx.x * blockDim.x + threadIdx.x;
    // Of each thread: its sums, the least parts, and those of the set so far.
    double *S = tile + threadIdx.x * (3 * l | 1), *floor = S + l, *least = floor + l;
    double beyond = 0.0;
    if (at < n) {
        for (int j = 0; j < l; j++) S[j] = sums[at * l + j];
        const double squared = squares[at], anchor = anchor_of(squared, top, minima[at]);
        const double *N = counts ? counts + at * l : 0;
        const Item item = {S, N, slope, curve, magnitude, squared, anchor, k, l};
        double base = 0.0;
        for (int j = 0; j < l; j++) {
            floor[j] = least[j] = INFINITE;
            for (int q = 0; q < k; q++)
                if (!item.empty(q)) floor[j] = fmin(floor[j], item.part(q, j));
            base += floor[j];
        }
        base = squared + base;
        double *line = curves + at * largest;
        int *every = sets + at * largest * largest;
        for (int i = 0; i < largest * largest; i++) every[i] = -1;
        for (int s = 0; s < largest; s++) {
            int *set = every + s * largest, one = -1, two = -1;
            const int *before = set - largest;
            double found = INFINITE;
            for (int i = 0; i < k; i++) {
                bool inside = false;
                for (int b = 0; s != 1 && b < s; b++) inside |= before[b] == i;
                if (inside) continue;
                if (one < 0) one = i, two = s == 1 ? 1 : -1;
                if (item.empty(i)) continue;
                for (int other = s == 1 ? i + 1 : k - 1; other < k; other++) {
                    if (s == 1 && item.empty(other)) continue;
                    double total = 0.0;
                    for (int j = 0; j < l; j++) {
                        const double beside = s == 1 ? item.part(other, j) - floor[j] : least[j];
                        total += fmin(beside, item.part(i, j) - floor[j]);
                    }
                    total = item.rounded(total + base);
                    if (total < found) found = total, one = i, two = s == 1 ? other : -1;
                }
            }
            int size = s == 1 ? 0 : s;
            for (int b = 0; b < size; b++) set[b] = before[b];
            for (int c = 0; c < 2; c++) {
                const int added = c ? two : one;
                if (added < 0) continue;
                int place = size++;
                for (; place > 0 && set[place - 1] > added; place--) set[place] = set[place - 1];
                set[place] = added;
            }
            for (int j = 0; j < l; j++) {
                if (s == 1) least[j] = INFINITE;
                for (int c = 0; c < 2; c++) {
                    const int added = c ? two : one;
                    if (added >= 0 && !item.empty(added))
                        least[j] = fmin(least[j], item.part(added, j) - floor[j]);
                }
            }
            line[s] = found;
        }
        const double weight = weights ? weights[at] : 1.0;
        if (first) {
            const Long from = extra_ptr ? extra_ptr[at] : 0, to = extra_ptr ? extra_ptr[at + 1] : 0;
            const Set set = {first[at], extra_clusters + from, (int)(to - from)};
            const int number = (set.label >= 0) + set.n_extra;
            double now = 0.0;
            for (int j = 0; number && j < l; j++) now += item.part(set.followed(item, j, 0), j);
            now = number ? item.rounded(squared + now) : 0.0;
            if (number > 2 && number <= largest) {
                double *best = line + number - 1;
                if (now < *best - 1e-12 * fabs(*best)) {
                    *best = now;
                    int *kept = every + (number - 1) * largest;
                    for (int q = set.next(-1), size = 0; q >= 0; q = set.next(q)) kept[size++] = q;
                }
            }
            present[at] = now * weight;
            if (number > 1 && virtual_first) {
                // What it followed so far, instead of all of them.
                const Long begin = virtual_ptr ? virtual_ptr[at] : 0;
                for (int j = 0; j < l; j++) {
                    int followed = virtual_first[at];
                    if (followed >= k) {
                        if (j) followed = virtual_clusters[begin + j - 1];
                        followed = (followed - k) / l;
                    }
                    beyond += item.part(followed, j);
                    for (int q = set.next(-1); q >= 0; q = set.next(q)) beyond -= item.part(q, j);
                }
                beyond = (beyond - (number - 1) * squared) * weight;
            }
        }
        for (int s = 0; s < largest; s++) line[s] *= weight;
    }
    add_block<64>(beyond, partial + blockIdx.x);
}

// What some items follow in each other cluster.
extern "C" __global__ void follow(
    Long n, int k, int l, const Long *__restrict__ items, const double *__restrict__ sums,
    const double *__restrict__ counts, const double *__restrict__ slope,
    const double *__restrict__ curve, const double *__restrict__ magnitude, double top,
    const double *__restrict__ squares, const double *__restrict__ minima,
    const int *__restrict__ first, const Long *__restrict__ extra_ptr,
    const int *__restrict__ extra_clusters,
    const unsigned char *__restrict__ fresh, int *__restrict__ followed)
{
    const Long at = (Long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= n * l) return;
    const Long p = items[at / l];
    const double anchor = anchor_of(squares[p], top, minima[p]);
    const double *N = counts ? counts + p * l : 0;
    const Item item = {sums + p * l, N, slope, curve, magnitude, squares[p], anchor, k, l};
    const Long from = extra_ptr[p];
    const Set set = {first[p], extra_clusters + from, (int)(extra_ptr[p + 1] - from)};
    followed[at] = set.followed(item, (int)(at % l), fresh);
}
