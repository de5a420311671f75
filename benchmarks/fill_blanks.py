"""Fill-in-the-blank against `transformers.pipeline("fill-mask")`: same answers, and how fast.

Both use the same network and the same tokenizer, in one process and one run. Equality is asserted, time never is.

    python benchmarks/fill_blanks.py [--model NAME] [--rounds 200] [--json]
"""

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from statistics import median
from threading import Lock

import torch
from measuring import Ratio, describe_machine, print_table, ratio_of, take_turns
from sentences import SENTENCES, mixed_texts
from transformers import FillMaskPipeline
from transformers.utils import logging

import explorer
from explorer.analysis.fill_blanks import fill_blanks, fill_blanks_batch
from explorer.analysis.results import BlankFills
from explorer.models.backend import LoadedModel
from explorer.models.registry import Registry

TOP_K = 5
TEXTS_AT_ONCE = 64
CALLERS = 32
CALLS_EACH = 4
PIPELINE_BATCHES = (1, 8, 16, 64)  # 1 is the pipeline's default
TOLERANCES = {
    torch.float32: 1e-5,
    torch.bfloat16: 3e-2,
}  # of probabilities; bfloat16 has 8 bits, and batches round apart

Answer = list[tuple[int, float]]  # token ids and probabilities, most probable first


@dataclass(frozen=True)
class Finding:
    """One comparison.

    Attributes:
        what: What was measured.
        ours: Median, in the unit of `unit`.
        pipeline: The same of the pipeline.
        unit: "ms" per text, or "texts/s".
        advantage: The pipeline's time over ours; above 1 = we are faster.
        rounds: How often each was timed.
    """

    what: str
    ours: float
    pipeline: float
    unit: str
    advantage: Ratio
    rounds: int


class Contest:
    """The two ways to the same answer, on one model."""

    def __init__(self, registry: Registry, name: str) -> None:
        self.registry, self.name = registry, name
        self.model: LoadedModel = registry.run(name, lambda model: model)
        self.pipeline = FillMaskPipeline(
            model=self.model.network, tokenizer=self.model.tokenizer, device=self.model.network.device, top_k=TOP_K
        )
        self.tolerance = TOLERANCES[self.model.network.dtype]
        self.pipeline_lock = Lock()  # a pipeline is not made for several threads

    def ours(self, text: str) -> BlankFills:
        """One text, the way a page or a notebook asks."""
        return self.registry.run(self.name, partial(fill_blanks, text=text, top_k=TOP_K))

    def ours_together(self, texts: Sequence[str]) -> tuple[BlankFills, ...]:
        """Many texts in one call."""
        return self.registry.run(self.name, partial(fill_blanks_batch, texts=texts, top_k=TOP_K))

    def theirs(self, text: str) -> list[dict]:
        """One text through the pipeline."""
        with self.pipeline_lock:
            return self.pipeline(text.replace("___", self.model.tokenizer.mask_token))

    def theirs_together(self, texts: Sequence[str], batch_size: int) -> list[list[dict]]:
        """Many texts through the pipeline."""
        masked = [text.replace("___", self.model.tokenizer.mask_token) for text in texts]
        return self.pipeline(masked, batch_size=batch_size)


def our_answer(result: BlankFills) -> Answer:
    """The choices of a single blank."""
    return [(choice.token_id, choice.probability) for choice in result.blanks[0].choices]


def their_answer(result: list[dict]) -> Answer:
    """The same of the pipeline."""
    return [(choice["token"], choice["score"]) for choice in result]


def largest_difference(ours: Sequence[Answer], theirs: Sequence[Answer], tolerance: float) -> float:
    """Largest difference of two probabilities at the same rank.

    Raises:
        AssertionError: It is above the tolerance, or the tokens are other ones than rounding can explain.
    """
    largest = 0.0
    for mine, other in zip(ours, theirs, strict=True):
        assert len(mine) == len(other) == TOP_K
        differences = [abs(p - q) for (_, p), (_, q) in zip(mine, other, strict=True)]
        largest = max(largest, *differences)
        assert largest <= tolerance, f"probabilities differ by {largest}: {mine} and {other}"
        threshold = other[-1][1] + tolerance  # tokens as probable as the last one may stand in for it
        for one, another in ((mine, other), (other, mine)):
            assert {token for token, p in one if p > threshold} <= {token for token, _ in another}
    return largest


def compare_answers(contest: Contest) -> float:
    """Largest difference over all sentences: one by one, all at once, and from many callers at once."""
    texts = [sentence for sentence, _ in SENTENCES] + mixed_texts(TEXTS_AT_ONCE)
    theirs = [their_answer(contest.theirs(text)) for text in texts]
    with ThreadPoolExecutor(CALLERS) as callers:
        ways = [map(contest.ours, texts), contest.ours_together(texts), callers.map(contest.ours, texts)]
        answers = [[our_answer(result) for result in way] for way in ways]
    return max(largest_difference(ours, theirs, contest.tolerance) for ours in answers)


def compare_one(contest: Contest, rounds: int) -> Finding:
    """One sentence at a time, as somebody waits for it."""

    def sentence(turn: int) -> str:
        return SENTENCES[turn % len(SENTENCES)][0]

    seconds = take_turns(
        {"ours": lambda turn: contest.ours(sentence(turn)), "theirs": lambda turn: contest.theirs(sentence(turn))},
        rounds,
    )
    ours, theirs = (median(seconds[name]) * 1000 for name in ("ours", "theirs"))
    advantage = ratio_of(seconds["theirs"], seconds["ours"])
    return Finding("one sentence", ours, theirs, "ms", advantage, rounds)


def compare_many(contest: Contest, rounds: int) -> list[Finding]:
    """64 texts of mixed length in one call, against the pipeline at each of its batch sizes."""
    texts = mixed_texts(TEXTS_AT_ONCE)
    contestants: dict[str, Callable[[int], object]] = {"ours": lambda turn: contest.ours_together(texts)}
    for size in PIPELINE_BATCHES:
        contestants[str(size)] = lambda turn, size=size: contest.theirs_together(texts, size)
    seconds = take_turns(contestants, rounds)
    rate = {name: len(texts) / median(times) for name, times in seconds.items()}
    return [
        Finding(
            f"{len(texts)} texts, pipeline batch_size={size}",
            rate["ours"],
            rate[str(size)],
            "texts/s",
            ratio_of(seconds[str(size)], seconds["ours"]),
            rounds,
        )
        for size in PIPELINE_BATCHES
    ]


def compare_crowd(contest: Contest, rounds: int) -> Finding:
    """Many people at once, each asking for one sentence after another; the pipeline stands behind a lock."""
    texts = mixed_texts(CALLERS * CALLS_EACH)
    with ThreadPoolExecutor(CALLERS) as callers:
        seconds = take_turns(
            {
                "ours": lambda turn: list(callers.map(contest.ours, texts)),
                "theirs": lambda turn: list(callers.map(contest.theirs, texts)),
            },
            rounds,
        )
    ours, theirs = (len(texts) / median(seconds[name]) for name in ("ours", "theirs"))
    what = f"{CALLERS} callers at once, {len(texts)} texts"
    return Finding(what, ours, theirs, "texts/s", ratio_of(seconds["theirs"], seconds["ours"]), rounds)


def say(what: str) -> None:
    """Tell whoever waits what is being done."""
    print(f"{what} …", file=sys.stderr, flush=True)


def main() -> None:
    """Run every comparison and print it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="MiniLM (masked)", help="a model of the catalogue that fills blanks")
    parser.add_argument("--rounds", type=int, default=200, help="of one sentence; a twentieth of it for many texts")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    options = parser.parse_args()
    logging.set_verbosity_error()
    logging.disable_progress_bar()

    machine = describe_machine()
    contest = Contest(explorer.open_registry(), options.model)
    device = contest.model.network.device
    about = {
        "model": options.model,
        "device": torch.cuda.get_device_name(device) if device.type == "cuda" else device.type,
        "precision": str(contest.model.network.dtype).removeprefix("torch."),
        "threads": str(torch.get_num_threads()),
    }
    rounds = max(options.rounds // 20, 5)
    say("comparing answers")
    difference = compare_answers(contest)
    say("timing one sentence")
    findings = [compare_one(contest, options.rounds)]
    say("timing many texts in one call")
    findings += compare_many(contest, rounds)
    say("timing many callers")
    findings.append(compare_crowd(contest, rounds))

    n = len(SENTENCES) + TEXTS_AT_ONCE
    if options.json:
        report = {"machine": machine, **about, "top_k": TOP_K, "n_compared": n, "largest_difference": difference}
        json.dump(report | {"findings": [asdict(finding) for finding in findings]}, sys.stdout, indent=2)
        print()
        return
    print("\n".join(f"{key}: {value}" for key, value in (machine | about).items()))
    print(f"\nSame top {TOP_K}, probabilities within {difference:.1e} (bar {contest.tolerance:.0e}), over {n} texts")
    rows = [(f.what, f"{f.ours:.1f} {f.unit}", f"{f.pipeline:.1f} {f.unit}", f.advantage, f.rounds) for f in findings]
    head = ("what", "explorer", "pipeline", "times as fast [95 %]", "rounds")
    print_table("Medians, contestants taking turns:", head, rows)


if __name__ == "__main__":
    main()
