"""Is system A better than system B: rows and score tables in; p-values, intervals, ranks out."""
