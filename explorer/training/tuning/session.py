"""One run of fine-tuning in memory: what is learnt from what, step by step."""

import hashlib
import math
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path

import torch
from torch import Tensor

from explorer.errors import UnsuitableCorpus, UnsuitableModel
from explorer.models.backend import LoadedModel
from explorer.training.tuning.batches import epoch_batches, judging_batches, row_lengths
from explorer.training.tuning.causal_classes import CausalClassification
from explorer.training.tuning.checkpoints import Checkpoint, copy_weights, put_weights
from explorer.training.tuning.checks import measuring_remarks
from explorer.training.tuning.copying import copy_model, fresh_network
from explorer.training.tuning.examples import ExampleSet
from explorer.training.tuning.gradients import learning
from explorer.training.tuning.judging import compute_fast, judge_rows
from explorer.training.tuning.methods import arrange, find_way, parameter_groups, trained_weights
from explorer.training.tuning.mixing import LayerMix
from explorer.training.tuning.movements import measure_movements
from explorer.training.tuning.narrowing import narrow_table
from explorer.training.tuning.recipe import Recipe
from explorer.training.tuning.results import AVERAGED_STEPS, BeforeAndAfter, Outcome
from explorer.training.tuning.sampling import split_examples
from explorer.training.tuning.saving import save_adapter, save_tuned
from explorer.training.tuning.suits import CAN_BEFORE, name_before
from explorer.training.tuning.task import Measured, Row
from explorer.training.tuning.tasks import find_kind

WARM_UP_SHARE = 0.1  # of the steps, as BERT's
LARGEST_GRADIENT = 1.0
MOST_MEASURED_BETWEEN = 500  # held-out examples; at the end all are measured


class Session:
    """A task, its rows and its optimiser.

    Args:
        model: Stays as it is.
        examples: Of the recipe's task; a part is set aside if none is held out.
        recipe: How.

    Raises:
        ExplorerError: The examples or the model do not suit the recipe.
    """

    @learning()
    def __init__(self, model: LoadedModel, examples: ExampleSet, recipe: Recipe) -> None:
        kind = find_kind(recipe.task)
        if wrong := [one for one in (*examples.train, *examples.held_out) if not isinstance(one, kind.examples)]:
            raise UnsuitableCorpus(
                f"The examples are of another task ({type(wrong[0]).__name__}): choose the task they were made for."
            )
        self.model, self.recipe, self.way = model, recipe, find_way(recipe)
        self.examples = split_examples(examples, recipe.held_out_share, seed=recipe.seed)
        labels = kind.find_labels(self.examples.train, self.examples.held_out)
        self.start = copy_model(model, from_nothing=recipe.method == "scratch", seed=recipe.seed)
        self.device = model.network.device
        with self._chance(-1):
            self.task = kind.build(self.start, recipe, labels)
            self.adapter = arrange(self.task, recipe, model.card.name)
        self.task.head.to(self.device)
        self.rows = self.task.rows(self.examples.train)
        self.held_out = self.task.rows(self.examples.held_out)
        self._narrowed = narrow_table(self.task, self.rows + self.held_out)
        self.weights = trained_weights(self.task)
        if not self.weights:
            raise UnsuitableModel(f"Nothing of {model.card.name} would move: choose another way to fine-tune it.")
        self._head_started = copy_weights(dict(self.task.head.named_parameters()))
        self._groups = parameter_groups(self.task, recipe)
        self._peaks = [group["lr"] for group in self._groups]
        self._optimizer = torch.optim.AdamW(self._groups, fused=self.device.type in ("cpu", "cuda"))
        self._order: tuple[int, list[list[int]]] = (-1, [])
        self._kept: list[Tensor] | None = None
        self._held_out_kept: list[Tensor] | None = None
        self.moved_parameters = self._count_moved(self.weights.values())
        self._before, self._able = self._sample(), {}
        if recipe.task in CAN_BEFORE and recipe.method != "scratch":
            found = self.measure(all_of_them=True)[1].scores
            self._able = {name_before(recipe.method): next(iter(found.values()))} if found else {}
        epochs = max(recipe.epochs, self.way.least_epochs)
        self.steps_per_epoch = math.ceil(len(self.rows) / recipe.batch_size)
        self.steps = max(self.way.least_steps, math.ceil(epochs * self.steps_per_epoch))
        self.step, self.seconds, self.is_fitted = 0, 0.0, False
        self.losses: deque[float] = deque(maxlen=AVERAGED_STEPS)
        self.can_go_on, self.is_over = True, False
        self.best_loss, self._best_weights, self.best_step, self.without_better = None, {}, 0, 0

    @property
    def auxiliary_weight(self) -> float:
        """λ of the loss of next words that the training loss holds."""
        return self.task.auxiliary_weight if isinstance(self.task, CausalClassification) else 0.0

    @property
    def fingerprint(self) -> str:
        """Of everything that decides what a step does."""
        known = repr((self.model.card.name, asdict(self.recipe), self.examples.train, self.examples.held_out))
        return hashlib.sha256(known.encode("utf-8", "backslashreplace")).hexdigest()

    def read_features(self) -> Iterator[tuple[int, int]]:
        """Compute what the frozen network says, once; yields batches done, of how many."""
        everything = self.rows + self.held_out
        batches = list(judging_batches(row_lengths(everything)))
        kept: list[Tensor | None] = [None] * len(everything)
        for done, batch in enumerate(batches, start=1):
            began = time.monotonic()
            for index, vector in zip(batch, self._features([everything[index] for index in batch]), strict=True):
                kept[index] = vector
            self.seconds += time.monotonic() - began
            yield done, len(batches)
        self._kept, self._held_out_kept = kept[: len(self.rows)], kept[len(self.rows) :]

    @learning()
    def fit(self) -> bool:
        """Fit the head on kept features at once, where the task can."""
        began = time.monotonic()
        self.is_fitted = self.task.fit_head(self.rows, self._kept, self.recipe.seed)
        self.seconds += time.monotonic() - began
        return self.is_fitted

    @learning()
    def take_step(self) -> int:
        """Learn from one batch; returns how many examples it had."""
        began = time.monotonic()
        epoch, number = divmod(self.step, self.steps_per_epoch)
        if self._order[0] != epoch:
            self._order = (
                epoch,
                epoch_batches(row_lengths(self.rows), self.recipe.batch_size, seed=self.recipe.seed, epoch=epoch),
            )
        batch = self._order[1][number]
        share = self.step / self.steps
        for group, peak in zip(self._optimizer.param_groups, self._peaks, strict=True):
            group["lr"] = peak * min((self.step + 1) / (WARM_UP_SHARE * self.steps), 1.0, (1.0 - share) / 0.9)
        self.task.network.train(self.way.moves_network)
        self.task.head.train()
        self._optimizer.zero_grad(set_to_none=True)
        kept = None if self._kept is None else [self._kept[index] for index in batch]
        with self._chance(self.step), compute_fast(self.device, self.task.network.config.model_type):
            loss = self.task.loss([self.rows[index] for index in batch], kept, share)
        if not math.isfinite(reported := loss.item()):
            self.can_go_on = False
            raise UnsuitableModel(
                f"The loss is no longer a number after {self.step} steps: the learning rate "
                f"{max(self._peaks):g} is too high for it. Choose a tenth of it, and start again."
            )
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.weights.values(), LARGEST_GRADIENT)
        self._optimizer.step()
        self.step += 1
        self.moved_parameters = self._count_moved(w for w in self.weights.values() if w.grad is not None)
        self.losses.append(reported)
        self.seconds += time.monotonic() - began
        return len(batch)

    @learning()
    def measure(self, *, all_of_them: bool) -> tuple[float, Measured]:
        """Held-out loss, and scores."""
        examples, chosen = self.examples.held_out, range(len(self.held_out))
        if not all_of_them and len(chosen) > MOST_MEASURED_BETWEEN:
            stride = len(chosen) / MOST_MEASURED_BETWEEN  # a fixed part, spread over all of them
            chosen = [int(number * stride) for number in range(MOST_MEASURED_BETWEEN)]
        rows = [self.held_out[index] for index in chosen]
        kept = None if self._held_out_kept is None else [self._held_out_kept[index] for index in chosen]
        verdicts = judge_rows(self.task, rows, kept)
        loss = sum(verdict.loss for verdict in verdicts) / len(verdicts)
        return loss, self.task.measure([examples[index] for index in chosen], verdicts)

    def note_loss(self, loss: float) -> bool:
        """Remember the best weights, if the recipe wants to stop early; whether it is time to."""
        if not self.recipe.patience:
            return False
        if self.best_loss is None or loss < self.best_loss:
            self.best_loss, self._best_weights = loss, copy_weights(self.weights)
            self.best_step, self.without_better = self.step, 0
        else:
            self.without_better += 1
        return self.without_better >= self.recipe.patience

    @property
    def kept_epoch(self) -> float | None:
        """Whose weights were put back when the run was over; None = the last ones stay."""
        is_back = self.is_over and 0 < self.best_step < self.step
        return self.best_step / self.steps_per_epoch if is_back else None

    def finish(self) -> None:
        """Go back to the weights with the lowest held-out loss, if they were kept; no step follows."""
        self.is_over = True
        if self._best_weights:
            put_weights(self.weights, self._best_weights)

    def checkpoint(self) -> Checkpoint:
        """Where the run stands."""
        return Checkpoint(
            fingerprint=self.fingerprint,
            step=self.step,
            seconds=self.seconds,
            losses=list(self.losses),
            weights=copy_weights(self.weights),
            optimizer=self._optimizer.state_dict(),
            best_loss=self.best_loss,
            best_weights=self._best_weights,
            without_better=self.without_better,
            is_over=self.is_over,
            best_step=self.best_step,
        )

    @learning()
    def restore(self, saved: Checkpoint) -> None:
        """Go on from there."""
        put_weights(self.weights, saved.weights)
        self._optimizer.load_state_dict(saved.optimizer)
        self.step, self.seconds = saved.step, saved.seconds
        self.losses.extend(saved.losses)
        self.best_loss, self._best_weights, self.best_step = saved.best_loss, saved.best_weights, saved.best_step
        self.without_better, self.is_over = saved.without_better, saved.is_over

    @learning()
    def conclude(self, measured: Measured, folder: Path | None) -> Outcome:
        """What the run gave, saved in folder/model; merges an adapter, so nothing is trained after it."""
        if self._narrowed is not None:
            self._narrowed.put_back()
        if self.adapter is not None:
            if folder is not None:
                save_adapter(self.adapter, self.model.card, folder)
            self.adapter.merge_and_unload()
        scratch = self.recipe.method == "scratch"
        started = fresh_network(self.model.network, self.recipe.seed) if scratch else self.model.network
        mixes = [module for module in self.task.head.modules() if isinstance(module, LayerMix)]
        after = self._sample()
        outcome = Outcome(
            scores=measured.scores,
            baselines=self._able | self.task.baselines(self.examples.train, self.examples.held_out),
            labels=self.task.labels,
            confusion=measured.confusion,
            judged=measured.judged,
            movements=measure_movements(started, self.task.network, self._head_started, self.task.head),
            mix=mixes[0].shares() if mixes else (),
            before_and_after=tuple(
                BeforeAndAfter(asked, before, now)
                for (asked, before), (_, now) in zip(self._before, after, strict=True)
            ),
            trained_parameters=self.moved_parameters,
            seconds=self.seconds,
            epochs=self.step / self.steps_per_epoch,
            notes=self._notes(),
        )
        if folder is None:
            return outcome
        saved = save_tuned(
            self.task, self.model.tokenizer, self.model.card, self.recipe, self.examples, outcome, folder
        )
        return replace(outcome, folder=str(saved))

    @learning()
    def _features(self, rows: Sequence[Row]) -> list[Tensor]:
        self.task.network.eval()
        with torch.no_grad(), compute_fast(self.device, self.task.network.config.model_type):
            return [vector.clone() for vector in self.task.features(rows)]

    def _sample(self) -> list[tuple[str, str]]:
        self.task.network.eval()
        self.task.head.eval()
        with torch.no_grad():
            return self.task.samples(self.examples.held_out)

    def _count_moved(self, weights: Iterable[Tensor]) -> int:
        """With the rows of the table that no text uses: they could move, and do not."""
        unused = 0 if self._narrowed is None else self._narrowed.unused_parameters
        return sum(weight.numel() for weight in weights) + unused

    def _notes(self) -> tuple[str, ...]:
        notes = [*self.examples.notes, *self.task.remarks(self.examples.train, self.examples.held_out)]
        everything = self.rows + self.held_out
        if cut := sum(row.was_cut for row in everything):
            most = min(self.recipe.length_tokens, self.start.limit_tokens)
            notes.append(f"{cut:,} of {len(everything):,} texts are longer than {most} tokens and were cut.")
        notes += measuring_remarks(self.examples)
        if not self.is_fitted and self.step < self.steps:
            notes.append(f"Stopped early, after {self.step:,} of {self.steps:,} steps.")
        if self.kept_epoch is not None:
            notes.append(f"Kept are the weights of epoch {self.kept_epoch:.3g}, where the held-out loss was lowest "
                         f"({self.best_loss:.2f}); the scores are theirs.")  # fmt: skip
        return tuple(notes)

    @contextmanager
    def _chance(self, step: int) -> Iterator[None]:
        """Dropout and new weights that follow from the seed and the step, wherever the run was interrupted."""
        devices = [self.device] if self.device.type == "cuda" else []
        with torch.random.fork_rng(devices=devices):
            torch.manual_seed(self.recipe.seed * 1_000_003 + step + 1)
            yield
