"""`make bench`: all benchmarks, one after the other."""

from bench import compare_speed, discriminative_speed, score_speed

if __name__ == "__main__":
    score_speed.main()
    print()
    discriminative_speed.main()
    print()
    compare_speed.main()
