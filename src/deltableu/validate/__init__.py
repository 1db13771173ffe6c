"""Does a metric agree with people: score tables and ratings in; correlations, tests, winners out."""
