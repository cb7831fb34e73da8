// The best sets of clusters of items, what their present sets cost, and the prices of one more
// membership; see `best_sets` and `hull_steps` of neocc.kernels.numpy_sets.
//
// Compiled without fused operations, so that costs have the bits of the reference.

// By so small a share present sets must cost less than those found.
#define ROUNDING 1e-12

__device__ __forceinline__ double rounded(double own, double fixed, double joint)
{
    const double anchor = (fabs(own) + fabs(fixed) + fabs(joint)) * 4096.0;
    return isinf(anchor) ? anchor : ((own + fixed + joint) + anchor) - anchor;
}

// Put a cluster where it belongs among the first few of a set.
__device__ __forceinline__ void insert(int *set, int number, int cluster)
{
    for (; number > 0 && set[number - 1] > cluster; number--) set[number] = set[number - 1];
    set[number] = cluster;
}

// Of one item: its distances, and the parts of the cost of sets of each size.
struct Item {
    const double *d, *own, *fixed, *joint, *pairs;
    double squared;
    int k;

    __device__ __forceinline__ double cost(int size, double distances, double in_pairs) const
    {
        const int s = size - 1;
        return rounded(own[s] * distances, fixed[s] * squared, joint[s] * in_pairs);
    }

    __device__ __forceinline__ double pair(int i, int j) const { return pairs ? pairs[i * k + j] : 0.0; }

    __device__ double best_pair(int *set) const
    {
        double least = INFINITE;
        set[0] = 0, set[1] = 1;
        for (int i = 0; i < k; i++)
            for (int j = i + 1; j < k; j++) {
                const double found = cost(2, d[i] + d[j], pair(i, j));
                if (found < least) least = found, set[0] = i, set[1] = j;
            }
        return least;
    }

    __device__ double best_triple(int *set) const
    {
        double least = INFINITE;
        set[0] = 0, set[1] = 1, set[2] = 2;
        for (int i = 0; i < k; i++)
            for (int j = i + 1; j < k; j++)
                for (int q = j + 1; q < k; q++) {
                    const double in_pairs = pair(i, j) + pair(i, q) + pair(j, q);
                    const double found = cost(3, d[i] + d[j] + d[q], in_pairs);
                    if (found < least) least = found, set[0] = i, set[1] = j, set[2] = q;
                }
        return least;
    }

    // The set before, of one cluster less, with the best further one; the first of equal ones.
    __device__ double grown(const int *before, int size, int *set) const
    {
        double distances = 0.0, in_pairs = 0.0, least = INFINITE;
        int chosen = -1;
        for (int b = 0; b < size - 1; b++) {
            distances += d[before[b]];
            for (int c = 0; c < size - 1; c++) in_pairs += pair(before[c], before[b]);
        }
        for (int q = 0; q < k; q++) {
            bool inside = false;
            double joined = 0.0;
            for (int b = 0; b < size - 1; b++) {
                inside |= before[b] == q;
                joined += pair(before[b], q);
            }
            if (inside) continue;
            const double found = cost(size, distances + d[q], joined + in_pairs / 2.0);
            if (found < least || chosen < 0) least = found, chosen = q;
        }
        for (int b = 0; b < size - 1; b++) set[b] = before[b];
        insert(set, size - 1, chosen);
        return least;
    }
};

// Slopes of the lower convex hull of a curve.
__device__ __forceinline__ void hull(const double *curve, int largest, double *steps)
{
    for (int s = 0; s < largest - 1; s++) steps[s] = -INFINITE;
    for (int before = 0; before < largest - 1; before++) {
        if (isinf(curve[before])) continue;
        double least = INFINITE;
        for (int after = largest - 1; after > before; after--) {
            least = fmin(least, (curve[after] - curve[before]) / (after - before));
            steps[after - 1] = fmax(steps[after - 1], least);
        }
    }
}

// Curves of items, sets, steps and the cost of present sets; and for every block of items what the
// objective has beside the distances of these. Without `own` lines of `d` go on with the distances
// to pairs of clusters. Absent tables are null.
extern "C" __global__ void set_curves(
    Long n, int k, int width, int largest, int n_exact, int tiled, const double *__restrict__ d,
    const double *__restrict__ squares, const double *__restrict__ own,
    const double *__restrict__ fixed, const double *__restrict__ joint,
    const double *__restrict__ pairs, const int *__restrict__ first,
    const Long *__restrict__ extra_ptr, const int *__restrict__ extra_clusters,
    const double *__restrict__ weights, double *__restrict__ curves, int *__restrict__ sets,
    double *__restrict__ steps, double *__restrict__ present, double *__restrict__ partial)
{
    extern __shared__ double tile[];
    const int pad = width | 1;
    const Long begin = (Long)blockIdx.x * blockDim.x, at = begin + threadIdx.x;
    const Long n_here = n - begin < blockDim.x ? n - begin : blockDim.x;
    const double *line = d + at * width;
    if (tiled) {
        for (Long i = threadIdx.x; i < n_here * width; i += blockDim.x)
            tile[(i / width) * pad + i % width] = d[begin * width + i];
        __syncthreads();
        line = tile + threadIdx.x * pad;
    }
    double beyond = 0.0;
    if (at < n) {
        const Item item = {line, own, fixed, joint, pairs, squares ? squares[at] : 0.0, k};
        double *curve = curves + at * largest;
        int *every = sets + at * largest * largest;
        for (int i = 0; i < largest * largest; i++) every[i] = -1;
        for (int s = 0; s < largest; s++) {
            int *set = every + s * largest;
            if (own && s == 1 && n_exact > 1) {
                curve[s] = item.best_pair(set);
            } else if (own && s == 2 && n_exact > 2) {
                curve[s] = item.best_triple(set);
            } else if (own && s > 0) {
                curve[s] = item.grown(set - largest, s + 1, set);
            } else {
                const int from = s ? k : 0, to = s ? width : k;
                int best = from;
                double least = INFINITE;
                for (int q = from; q < to; q++) {
                    const double found = own ? item.cost(1, line[q], 0.0) : line[q];
                    if (found < least) least = found, best = q;
                }
                curve[s] = least;
                set[0] = best;
                if (s) {
                    int one = 0, other = 1;
                    for (int q = k; q < best; q++)
                        if (++other == k) one++, other = one + 1;
                    set[0] = one, set[1] = other;
                }
            }
        }
        double now = 0.0;
        const double weight = weights ? weights[at] : 1.0;
        if (first) {
            const Long from = extra_ptr ? extra_ptr[at] : 0, to = extra_ptr ? extra_ptr[at + 1] : 0;
            const int label = first[at], number = (label >= 0) + (int)(to - from);
            double distances = 0.0, in_pairs = 0.0;
            for (Long x = from; x < to; x++) {
                const int one = extra_clusters[x];
                distances += line[one];
                if (own && label >= 0) in_pairs += item.pair(label, one);
                for (Long y = from; own && y < x; y++)
                    in_pairs += item.pair(extra_clusters[y], one);
            }
            if (label >= 0) distances = line[label] + distances;
            if (own && number) {
                now = item.cost(number, distances, in_pairs);
                if (number > 1)
                    beyond = joint[number - 1] * in_pairs + fixed[number - 1] * item.squared;
                if (number > 2 && number <= largest) {
                    // Larger sets than pairs are found greedily: present ones compete with them.
                    double *found = curve + number - 1;
                    if (now < *found - ROUNDING * fabs(*found)) {
                        int *set = every + (number - 1) * largest, size = 0;
                        *found = now;
                        if (label >= 0) set[size++] = label;
                        for (Long x = from; x < to; x++) insert(set, size++, extra_clusters[x]);
                    }
                }
            } else if (number == 1) {
                now = distances;
            } else if (number) {
                const int two = extra_clusters[from];
                const int low = label < two ? label : two, high = label < two ? two : label;
                now = line[k + low * (2 * k - low - 1) / 2 + high - low - 1];
            }
            present[at] = now * weight;
            beyond *= weight;
        }
        for (int s = 0; s < largest; s++) curve[s] *= weight;
        hull(curve, largest, steps + at * (largest - 1));
    }
    add_block<128>(beyond, partial + blockIdx.x);
}

// Slopes of the hulls of curves.
extern "C" __global__ void hull_steps(
    Long n, int largest, const double *__restrict__ curves, double *__restrict__ steps)
{
    const Long at = (Long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at < n) hull(curves + at * largest, largest, steps + at * (largest - 1));
}
