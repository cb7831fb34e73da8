"""The infinite plaid model: what is drawn, and the exact distribution behind the sampler.

Letters: N1 rows, N2 columns, K sub-matrices; sub-matrix k is a set A_k of a_k rows, a set B_k of
b_k columns and an effect theta_k; phi is the background, tau0 the precision of the noise.

    x_ij ~ Normal( phi + sum_k theta_k [i in A_k] [j in B_k], 1 / tau0 )          (observed entries)
    theta_k ~ Normal(mu_theta, 1 / tau_theta),    phi ~ Normal(mu_phi, 1 / tau_phi)
    gamma1, gamma2 ~ Gamma(1.1, rate 0.3),        every tau ~ Gamma(1.1, rate 0.33)
    mu_theta, mu_phi ~ Normal(0, precision 0.001)

**Two buffets that share their dishes.** In an Indian buffet process of concentration gamma over N
items the number of dishes is Poisson(gamma H_N), H_N = 1 + 1/2 + ... + 1/N, and, given their
number, dishes are independent, each the set S with probability q_N(|S|) / H_N, where

    q_N(s) = (N - s)! (s - 1)! / N!        so that the size s has probability 1 / (s H_N).

Rows and columns each have such a process. "Sharing the index k" is possible only where both have
the same number K of dishes, and it pairs the dishes at random. The prior is therefore the product
of the two processes (and of the priors of gamma1 and gamma2), given that their numbers of dishes
agree. On the unordered collection of triples (A_k, B_k, theta_k) it has the density

    (1 / K!) exp(-gamma1 H_N1 - gamma2 H_N2)
        prod_k gamma1 gamma2 q_N1(a_k) q_N2(b_k) Normal(theta_k; mu_theta, 1 / tau_theta)     (1)

up to a constant. (Ordered lists of dishes carry 1 / K! for each process; a collection has K!
orders.) Consequences:

* K has the probabilities of two Poisson counts that agree, proportional to c^(2K) / (K!)^2 with
  c^2 = gamma1 H_N1 gamma2 H_N2, and the mean c I_1(2c) / I_0(2c), Bessel functions, near c - 1/4;
* given K the sets of rows are those of the first process and the sets of columns those of the
  second: items join by the odds m / (N - m), m > 0 other members, as in any Indian buffet process;
* gamma1 | K ~ Gamma(1.1 + K, rate 0.3 + H_N1), and gamma2 likewise: conjugate;
* a sub-matrix comes and goes by moves that weigh (1), see `births` and `splits`. Dropping it with
  its last row and testing births against nothing, as the published recipe has it, would not keep
  (1).

A largest number of sub-matrices restricts (1) to states that respect it, and changes nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.special import gammaln

from neocc._typing import FloatArray

Moments = tuple[FloatArray, FloatArray]
"""What the data say about the effects of some sub-matrices.

Numbers G_kl of observed entries that sub-matrices k and l share, and sums s_k over sub-matrix k of
the residual without any of them.
"""


@dataclass(frozen=True)
class Parameters:
    """The seven parameters above the sub-matrices."""

    gamma1: float
    gamma2: float
    tau0: float
    mu_theta: float
    tau_theta: float
    mu_phi: float
    tau_phi: float


@dataclass(frozen=True)
class Prior:
    """What the parameters are drawn from: (shape, rate) of Gammas, precision of normals at 0.

    `given` holds the values of parameters that are not drawn, and
    `max_submatrices` is the largest number of them.
    """

    gamma: tuple[float, float] = (1.1, 0.3)
    tau: tuple[float, float] = (1.1, 0.33)
    mu_precision: float = 0.001
    given: dict[str, float] = field(default_factory=dict)
    max_submatrices: float = np.inf


def harmonic(n: int) -> float:
    """H_n = 1 + 1/2 + ... + 1/n."""
    return float((1.0 / np.arange(1, n + 1)).sum())


def log_set_weights(n_items: int, sizes: FloatArray) -> FloatArray:
    """log q_N(s) for sets of some sizes."""
    weights: FloatArray = gammaln(n_items - sizes + 1) + gammaln(sizes) - gammaln(n_items + 1)
    return weights


def log_evidence(moments: Moments, parameters: Parameters) -> float:
    """Log of the likelihood ratio of having some sub-matrices, their effects integrated out.

    log integral prod_k Normal(theta_k) exp( -tau0/2 (theta' G theta - 2 theta' s) ) dtheta
    """
    tau, mu = parameters.tau_theta, parameters.mu_theta
    L, b = _conditional(moments, parameters)
    half = _solve(L, b)
    K = len(b)
    log_determinant = 2 * float(np.log(np.diagonal(L)).sum())
    quadratic = float(half @ half) - K * tau * mu**2
    return (K * float(np.log(tau)) - log_determinant + quadratic) / 2


def draw_effects(moments: Moments, parameters: Parameters, rng: np.random.Generator) -> FloatArray:
    """Draw the effects of some sub-matrices together, given everything else."""
    L, b = _conditional(moments, parameters)
    return normal_from_noise(L, b, rng.standard_normal(len(b)))


def cholesky(P: FloatArray) -> FloatArray:
    """Lower triangular L with L L' = P."""
    # Proposals take one sub-matrix at a time: a root is many times quicker than a call to LAPACK.
    L: Any = np.sqrt(P) if len(P) == 1 else np.linalg.cholesky(P)
    return np.asarray(L, dtype=np.float64)


def normal_from_noise(L: FloatArray, b: FloatArray, noise: FloatArray) -> FloatArray:
    """Turn standard normal noise into a draw of precision P = L L' and mean P^-1 b."""
    return _solve(L.T, _solve(L, b) + noise)


def _solve(L: FloatArray, b: FloatArray) -> FloatArray:
    x: Any = b / L[0] if len(L) == 1 else np.linalg.solve(L, b)
    return np.asarray(x, dtype=np.float64)


def _conditional(moments: Moments, parameters: Parameters) -> tuple[FloatArray, FloatArray]:
    """Cholesky factor of the precision of the effects, and precision times mean."""
    G, s = moments
    P = parameters.tau0 * G
    P.flat[:: len(P) + 1] += parameters.tau_theta
    return cholesky(P), parameters.tau0 * s + parameters.tau_theta * parameters.mu_theta
