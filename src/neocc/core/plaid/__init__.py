"""The infinite plaid model and its sampler; see `model` for the exact distribution it leaves alone.

`state` holds a sample, `conditionals`, `births` and `splits` change it, `sampler` runs the chain,
`start` and `cleaning` look after its two ends, `trace` keeps what it passes through, and
`simulate` draws from the model itself.
"""
