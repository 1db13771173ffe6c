"""`make bench`: all benchmarks, one after the other."""

from bench import score_speed

if __name__ == "__main__":
    score_speed.main()
