"""Texts and weights in; rows that add up to any corpus out."""
