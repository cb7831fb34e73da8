// What the other sources begin with.

typedef long long Long;
typedef unsigned long long Count;

#define INFINITE __longlong_as_double(0x7ff0000000000000LL)
// Codes of memberships in all clusters, in more than can be told, and in none.
#define ALL 253
#define MORE 254
#define NONE 255

// Add up the numbers of a block of threads, a power of two and at most so many, in a fixed order.
template <int most> __device__ __forceinline__ void add_block(double number, double *sum)
{
    __shared__ double totals[most];
    totals[threadIdx.x] = number;
    __syncthreads();
    for (int half = blockDim.x / 2; half; half /= 2) {
        if (threadIdx.x < half) totals[threadIdx.x] += totals[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) *sum = totals[0];
}

