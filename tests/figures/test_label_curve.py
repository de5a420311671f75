"""A score over ever more labelled examples, drawn and in words."""

from dataclasses import replace

from explorer.figures.label_curve import LabelCurve, label_chart, label_words
from explorer.training.tuning.results import Judged, right_ones


def _on(held_out, *curves):
    """The same curves of so many examples: a worse method is right on some of those that a better one is right on."""
    return [
        replace(
            curve,
            right=tuple(
                (count, tuple(place < share * held_out for place in range(held_out))) for count, share in curve.points
            ),
        )
        for curve in curves
    ]


def test_the_label_curve_says_how_many_labels_are_saved_only_where_they_are():
    frozen = LabelCurve("Everything", ((8, 0.6), (32, 0.8), (128, 0.9)))
    scratch = LabelCurve("From random weights", ((8, 0.5), (32, 0.55), (128, 0.6)))
    bag = LabelCurve("logistic regression on words", ((8, 0.5), (128, 0.7)), is_baseline=True)
    figure = label_chart([frozen, scratch, bag], "accuracy", {"most frequent class": 0.5})
    assert figure.layout.xaxis.type == "log" and list(figure.data[0].x) == [8, 32, 128]
    assert [trace.line.dash for trace in figure.data] == ["solid", "solid", "dash"]
    assert "is as good or better with 8: 16 times fewer labels" in label_words([frozen, scratch, bag], "accuracy")
    falling = replace(scratch, points=((8, 0.5), (32, 0.7), (128, 0.6)))
    assert "or better with 32" not in label_words([frozen, falling], "accuracy")
    assert "With 128 examples: From random weights 60.0 %, Everything 90.0 %" in label_words(
        [frozen, falling], "accuracy"
    )
    begun = replace(scratch, points=scratch.points[:2])  # the run on 128 is under way
    assert "32 examples, 55.0 %; Everything is as good or better with 8: 4 times" in label_words(
        [frozen, begun], "accuracy"
    )
    assert "drawn as the runs end" in label_words([frozen, replace(scratch, points=())], "accuracy")
    assert label_words([frozen, bag], "accuracy") == "", "there is one method, and its runs have ended"
    near = [replace(frozen, points=((128, 0.6), (189, 0.7))), replace(scratch, points=((128, 0.5), (189, 0.6)))]
    assert "with 189 examples, 60.0 %; Everything is as good or better with 128. One run" in label_words(
        near, "accuracy"
    )
    so_far = label_words([frozen, begun], "accuracy")
    assert "So far, of the sizes that all methods have been through: From random weights does best with 32" in so_far
    assert "So far" not in label_words([frozen, scratch], "accuracy")
    few, many = (label_words(_on(held_out, frozen, scratch), "accuracy") for held_out in (20, 2_000))
    assert "With 128 examples: From random weights 60.0 %, Everything 90.0 %. One run" in few, "8 are too close to tell"
    assert "times fewer" not in few and "16 times fewer labels" in many
    level = replace(frozen, points=falling.points[:2] + ((128, 0.62),))
    close = label_words(_on(45, level, falling), "accuracy")
    assert "With 128 examples: From random weights 60.0 %, Everything 62.0 %; too close for 45" in close
    assert "0 are right with the former alone, 1 with the latter alone (sign test, p = 1.00)" in close
    up_and_down = [
        replace(frozen, points=((8, 0.333), (32, 0.378), (128, 0.511), (141, 0.489))),
        replace(scratch, points=((8, 0.378), (32, 0.533), (128, 0.533), (141, 0.533))),
    ]
    last = "With 141 examples: Everything 48.9 %, From random weights 53.3 %; too close for 45 held-out examples"
    first, second = _on(45, *up_and_down)
    others = replace(second, right=tuple((count, right[::-1]) for count, right in second.right))
    assert last in label_words([first, others], "accuracy"), "all that there are, not the widest gap"
    begun = replace(first, points=first.points[:3]), replace(others, points=others.points[:2])
    assert "with 32 examples: Everything 37.8 %" in label_words(begun, "accuracy"), "the newest that both have"
    assert list(label_chart(near, "accuracy", {}).layout.xaxis.ticktext) == ["128", "189"]
    tight = [replace(frozen, points=((8, 0.5), (128, 0.6), (141, 0.7)))]
    assert list(label_chart(tight, "accuracy", {}).layout.xaxis.ticktext) == ["8", "", "141"]
    alike = [replace(frozen, points=((8, 0.1935), (97, 0.9))), replace(scratch, points=((8, 0.1), (97, 0.1944)))]
    assert "97 examples, 19.4 %; Everything is as good or better with 8:" in label_words(alike, "f1"), "as it is shown"
    alike = label_words([replace(scratch, name="A"), replace(scratch, name="B")], "accuracy")
    assert "times fewer" not in alike


def test_where_less_is_better_the_method_that_is_behind_has_more():
    full = LabelCurve("Everything", ((8, 40.0), (32, 50.0)))  # learns its own examples by heart
    lora = LabelCurve("LoRA", ((8, 60.0), (32, 45.0)))
    assert "32 examples: Everything 50.00, LoRA 45.00" in label_words([full, lora], "perplexity")
    ahead = replace(lora, points=((8, 39.0), (32, 38.0)))
    better = "Everything does best with 8 examples, 40.00; LoRA is as good or better with 8"
    assert better not in label_words([full, ahead], "perplexity"), "with as many"
    late = replace(full, points=((8, 70.0), (32, 50.0)))
    words = label_words([late, replace(lora, points=((8, 49.0), (32, 45.0)))], "perplexity")
    assert "Everything does best with 32 examples, 50.00; LoRA is as good or better with 8: 4 times" in words


def test_runs_are_compared_example_by_example_in_whatever_order_each_lists_them():
    judged = [Judged("b", "x", "x", 0.9, is_right=True), Judged("a", "x", "y", 0.5, is_right=False)]
    assert right_ones(judged) == right_ones(judged[::-1]) == (False, True)
    assert right_ones([*judged, Judged("c", "", "z", 0.1)]) == (), "of one nobody knows"
