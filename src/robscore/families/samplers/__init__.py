"""Samplers that families choose from."""
