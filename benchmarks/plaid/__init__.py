"""The plaid sampler measured against its model."""
