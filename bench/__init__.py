"""Side-by-side timings against peers; each prints ratios, because times differ between machines."""
