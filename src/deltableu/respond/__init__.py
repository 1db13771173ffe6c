"""Baseline responders to evaluate: messages in, responses out."""
