"""Draws from the plaid model itself: the reference for every test of the sampler."""

from __future__ import annotations

import numpy as np
from scipy.special import ive

from neocc._typing import BoolArray, FloatArray
from neocc.rivals.plaid.model import Parameters, Prior, harmonic
from neocc.rivals.plaid.state import Field, Sample, State


def mean_K(shape: tuple[int, int], gamma1: float, gamma2: float) -> float:
    """Mean of K under the prior, equation (1) of the model, for given concentrations."""
    c = float(np.sqrt(gamma1 * harmonic(shape[0]) * gamma2 * harmonic(shape[1])))
    return c * float(ive(1, 2 * c) / ive(0, 2 * c))


def draw_buffet(n_items: int, gamma: float, rng: np.random.Generator) -> BoolArray:
    """Draw an Indian buffet process as the restaurant tells it; shape (n_dishes, n_items).

    Item n takes each dish that m earlier ones took with probability m / n, and Poisson(gamma / n)
    new ones.
    """
    dishes: list[BoolArray] = []
    for item in range(n_items):
        for dish in dishes:
            dish[item] = rng.random() * (item + 1) < dish.sum()
        dishes += [np.arange(n_items) == item for _ in range(rng.poisson(gamma / (item + 1)))]
    return np.array(dishes, dtype=bool).reshape(len(dishes), n_items)


def draw_dishes(n_items: int, n_dishes: int, rng: np.random.Generator) -> BoolArray:
    """Draw the dishes of an Indian buffet process, given their number; shape (n_dishes, n_items).

    Sizes s have probability 1 / (s H_N), members are any of that number.
    """
    every = np.arange(1, n_items + 1)
    sizes = rng.choice(every, size=n_dishes, p=1 / (every * harmonic(n_items)))
    ranks = rng.random((n_dishes, n_items)).argsort(axis=1).argsort(axis=1)
    members: BoolArray = ranks < sizes[:, None]
    return members


def draw_parameters_and_K(
    prior: Prior, shape: tuple[int, int], rng: np.random.Generator
) -> tuple[Parameters, int]:
    """Draw parameters and numbers of dishes until both buffets have the same number."""
    priors = {"gamma1": prior.gamma, "gamma2": prior.gamma}
    priors |= dict.fromkeys(("tau0", "tau_theta", "tau_phi"), prior.tau)
    while True:
        drawn = {name: rng.gamma(shape_) / rate for name, (shape_, rate) in priors.items()}
        for name in ("mu_theta", "mu_phi"):
            drawn[name] = rng.normal(0.0, prior.mu_precision**-0.5)
        parameters = Parameters(**{**drawn, **prior.given})
        means = parameters.gamma1 * harmonic(shape[0]), parameters.gamma2 * harmonic(shape[1])
        n_rows, n_columns = rng.poisson(means)
        if n_rows == n_columns <= prior.max_submatrices:
            return parameters, int(n_rows)


def draw_state(
    prior: Prior,
    shape: tuple[int, int],
    rng: np.random.Generator,
    observed: FloatArray | None = None,
) -> State:
    """Draw parameters, sub-matrices and data from the model."""
    parameters, K = draw_parameters_and_K(prior, shape, rng)
    sample = Sample(
        draw_dishes(shape[0], K, rng),
        draw_dishes(shape[1], K, rng),
        rng.normal(parameters.mu_theta, parameters.tau_theta**-0.5, size=K),
        float(rng.normal(parameters.mu_phi, parameters.tau_phi**-0.5)),
        parameters,
    )
    state = State(Field(np.zeros(shape), observed), sample)
    draw_data(state, rng)
    return state


def draw_data(state: State, rng: np.random.Generator) -> None:
    """Replace the data by a draw given the sample."""
    values = rng.normal(state.mean(), state.parameters.tau0**-0.5)
    if state.data.observed is not None:
        values *= state.data.observed
    state.data = Field(values, state.data.observed)
    state.refresh()


def draw_clear_state(
    shape: tuple[int, int],
    rng: np.random.Generator,
    *,
    K: tuple[int, int] = (3, 6),
    least_items: int = 5,
    largest_share: float = 0.6,
    least_effect: float = 2.0,
) -> State:
    """Draw from the model, given that the sub-matrices can be told from noise and background.

    Noise has variance 1, effects 9. Of the draws only those count that have a number of
    sub-matrices in the range `K` (each number as likely), at least `least_items` rows and columns
    and at most `largest_share` of them in each, and effects of at least `least_effect` in size.
    """
    parameters = Parameters(1.0, 1.0, 1.0, 0.0, 1 / 9, 0.0, 1.0)
    n = int(rng.integers(K[0], K[1] + 1))
    sides = []
    for n_items in shape:
        members = np.zeros((0, n_items), dtype=bool)
        while len(members) < n:
            drawn = draw_dishes(n_items, n, rng)
            sizes = drawn.sum(axis=1)
            clear = (sizes >= least_items) & (sizes <= largest_share * n_items)
            members = np.concatenate([members, drawn[clear]])[:n]
        sides.append(members)
    theta = np.zeros(0)
    while len(theta) < n:
        drawn_effects = rng.normal(0.0, parameters.tau_theta**-0.5, size=n)
        theta = np.append(theta, drawn_effects[np.abs(drawn_effects) >= least_effect])[:n]
    phi = float(rng.normal(parameters.mu_phi, parameters.tau_phi**-0.5))
    state = State(Field(np.zeros(shape), None), Sample(sides[0], sides[1], theta, phi, parameters))
    draw_data(state, rng)
    return state
