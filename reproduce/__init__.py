"""Published and first-look results, computed again from real data sets."""
