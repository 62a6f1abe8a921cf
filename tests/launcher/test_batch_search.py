import pytest

from launcher.batch_search import BatchSearch, search_micro_batch

OUT_OF_MEMORY = None


@pytest.mark.parametrize(
    ("samples_per_s", "start", "limit", "chosen", "tried"),
    [
        pytest.param({1: 10, 2: 19, 4: 30, 8: 30.5}, 1, 64, 4, [1, 2, 4, 8], id="stops where doubling gains 1.7 %"),
        pytest.param({2: 19, 4: 30, 8: OUT_OF_MEMORY}, 2, 64, 4, [2, 4, 8], id="stops where memory ends"),
        pytest.param({4: 100, 8: 102}, 4, 64, 4, [4, 8], id="2 % is not worth twice the memory"),
        pytest.param({1: 10, 2: 20, 4: 18}, 1, 64, 2, [1, 2, 4], id="slower is no gain"),
        pytest.param({1: 10, 2: 20, 4: 40}, 1, 4, 4, [1, 2, 4], id="the limit"),
        pytest.param({8: None, 4: None, 2: 12}, 8, 64, 2, [8, 4, 2], id="a start too large halves until it fits"),
        pytest.param({2: None, 1: None}, 2, 64, None, [2, 1], id="nothing fits"),
        pytest.param({1: None}, 1, 64, None, [1], id="not even one"),
    ],
)
def test_the_smallest_micro_batch_within_3_percent_of_the_best(samples_per_s, start, limit, chosen, tried):
    found = search_micro_batch(samples_per_s.__getitem__, start=start, limit=limit)
    assert found == BatchSearch(chosen=chosen, probes=tuple((size, samples_per_s[size]) for size in tried))


@pytest.mark.parametrize("start", [0, 65])
def test_a_start_outside_the_limits_is_our_mistake(start):
    with pytest.raises(ValueError, match="between 1 and limit"):
        search_micro_batch(lambda _: 1.0, start=start, limit=64)
