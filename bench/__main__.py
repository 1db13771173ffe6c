"""`make bench`: all benchmarks, one after the other."""

from bench import (
    agreement_speed,
    compare_speed,
    discriminative_speed,
    embedding_speed,
    file_speed,
    import_speed,
    keys_speed,
    logs_speed,
    mbr_speed,
    mine_growth,
    mine_large,
    mine_speed,
    permutation_speed,
    rate_speed,
    rater_speed,
    score_speed,
    ter_speed,
    tune_gain,
    tune_speed,
    units_speed,
    validate_speed,
    vectors_speed,
)

if __name__ == "__main__":
    for benchmark in (
        score_speed,
        file_speed,
        discriminative_speed,
        ter_speed,
        keys_speed,
        import_speed,
        compare_speed,
        permutation_speed,
        agreement_speed,
        validate_speed,
        units_speed,
        logs_speed,
        mine_speed,
        mine_growth,
        mine_large,
        embedding_speed,
        vectors_speed,
        rater_speed,
        rate_speed,
        mbr_speed,
        tune_speed,
        tune_gain,
    ):
        benchmark.main()
        print()
