"""The loop of `explorer pretrain`: any objective, resumable, with a log that the page can plot."""

import json
import pickle
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from torch import nn

from explorer.errors import ModelRefused, UnsuitableCorpus
from explorer.models.memory import is_out_of_memory
from explorer.training.objective import Objective
from explorer.training.windows import WindowSampler
from explorer.training.workers import Workers
from explorer.training.writing import whole_file, writing_to

ALONE = Workers()
CHECKPOINT, LOG = "checkpoint.pt", "log.jsonl"


@dataclass(frozen=True)
class Plan:
    """How long and how hard to train.

    Attributes:
        minutes: Stop after this much training time; 0 = no limit.
        tokens: Stop after this many tokens; 0 = no limit. At least one of the two is set.
        batch_tokens: Tokens per step.
        lengths_tokens: Sequence lengths, special tokens included; one is drawn for each step.
        short_first: Until this share of the training is done, in [0, 1), all sequences are as short as the shortest:
            what a token's neighbours say is learnt from them first, and only then where long rows have use for it.
        learning_rate: Peak, for the body; it rises over the first 2 % and falls linearly to zero.
        seed: Of masks, windows and lengths.
        checkpoint_minutes: How often a checkpoint is written.
    """

    minutes: float = 0.0
    tokens: int = 0
    batch_tokens: int = 8192
    lengths_tokens: tuple[int, ...] = (64, 128)
    short_first: float = 0.0
    learning_rate: float = 6e-4
    seed: int = 0
    checkpoint_minutes: float = 5.0

    def draw_length(self, share_done: float, generator: torch.Generator) -> int:
        """Length of a step's sequences, in tokens.

        Source: short sequences first as in Devlin et al. 2019, appendix A.2, https://arxiv.org/abs/1810.04805
        """
        drawn = self.lengths_tokens[int(torch.randint(len(self.lengths_tokens), (), generator=generator))]
        return min(self.lengths_tokens) if share_done < self.short_first else drawn

    def share_done(self, seconds: float, tokens: int) -> float:
        """How much of the training is done, in [0, 1]."""
        by_time = seconds / (60 * self.minutes) if self.minutes else 0.0
        by_tokens = tokens / self.tokens if self.tokens else 0.0
        return min(1.0, max(by_time, by_tokens))


@dataclass(frozen=True)
class PretrainingStep:
    """One line of the log.

    Attributes:
        tokens: Seen so far.
        seconds: Of training so far, over all sessions.
        loss_nats: Cross-entropy per predicted token, exponential moving average over steps (0.95 of what it was).
        tokens_per_second: Since this session began.
        learning_rate: Of the body.
        seconds_left: Estimate.
    """

    tokens: int
    seconds: float
    loss_nats: float
    tokens_per_second: float
    learning_rate: float
    seconds_left: float


def learning_rate_factor(share_done: float, warm_up: float = 0.02) -> float:
    """Linear rise, then linear fall to zero, in [0, 1]."""
    return min(share_done / warm_up + 0.01, 1.0) * (1.0 - share_done)


def pretrain(
    objective: Objective,
    sampler: WindowSampler,
    plan: Plan,
    folder: Path,
    on_step: Callable[[PretrainingStep], None] = lambda step: None,
    workers: Workers = ALONE,
) -> PretrainingStep:
    """Train until the plan is done; continue from the folder's checkpoint if there is one.

    Whatever ends the training early, Ctrl-C too, a checkpoint is written before it goes on as the error it is. If
    even that fails, the error says so in a note, and the last checkpoint is still whole.

    Args:
        objective: What to learn; its network is trained in place.
        sampler: Where the rows come from.
        plan: How long and how hard.
        folder: Of the checkpoint and the log; made if need be.
        on_step: Called after every step.
        workers: Who trains along; each draws rows of its own, and the first writes the files.

    Returns:
        The last step.

    Raises:
        UnsuitableCorpus: No document is as long as a sequence; or there is nothing to do.
        ModelRefused: The folder's checkpoint is damaged, or of another network.
        UnwritableFolder: The disk is full, or the folder may not be written; the last checkpoint is whole.
    """
    if not (plan.minutes or plan.tokens):
        raise UnsuitableCorpus("Say how long to train: --minutes or --tokens.")
    device = objective.network.device
    groups = objective.parameter_groups(plan.learning_rate)
    peaks = [group["lr"] for group in groups]
    optimizer = torch.optim.AdamW(groups, betas=(0.9, 0.98), fused=True)
    random = torch.Generator().manual_seed(plan.seed)
    trained = list(objective.trained.parameters())
    tokens, seconds, running = 0, 0.0, None
    if (folder / CHECKPOINT).exists():
        tokens, seconds, running = _restore(folder / CHECKPOINT, objective.trained, device, optimizer, sampler, random)
    if workers.index:  # rows and masks of its own
        sampler.reseed([plan.seed, tokens, workers.index])
        random.manual_seed(plan.seed + tokens + workers.index)

    def save() -> None:
        if not workers.is_main:
            return
        with whole_file(folder / CHECKPOINT) as part:
            torch.save(
                {
                    "network": objective.trained.state_dict(),
                    "optimizer": optimizer.state_dict(),
                    "sampler": sampler.state(),
                    "random": random.get_state(),
                    "tokens": tokens,
                    "seconds": seconds,
                    "running": running,
                },
                part,
            )

    objective.trained.train()
    began, tokens_before, seconds_before, saved_at = time.monotonic() - seconds, tokens, seconds, seconds
    step = PretrainingStep(tokens, seconds, running or 0.0, 0.0, 0.0, 0.0)
    try:
        while (share := plan.share_done(seconds, tokens)) < 1.0:
            length = plan.draw_length(share, random)
            ids = sampler.draw(max(1, plan.batch_tokens // length), length)
            for group, peak in zip(optimizer.param_groups, peaks, strict=True):
                group["lr"] = peak * learning_rate_factor(share)
            optimizer.zero_grad(set_to_none=True)
            with torch.autocast(device.type, torch.bfloat16):
                loss, reported = objective.loss(ids, share, random)
            loss.backward()
            seconds = workers.share(trained, time.monotonic() - began)
            torch.nn.utils.clip_grad_norm_(trained, 1.0)
            optimizer.step()
            tokens += ids.numel() * workers.count
            running = reported if running is None else 0.95 * running + 0.05 * reported
            rate = (tokens - tokens_before) / max(seconds - seconds_before, 1e-9)
            left = seconds * (1 - share) / max(share, 1e-9)
            step = PretrainingStep(tokens, seconds, running, rate, optimizer.param_groups[0]["lr"], left)
            if workers.is_main:
                _append(folder / LOG, step)
            on_step(step)
            if seconds - saved_at > 60 * plan.checkpoint_minutes:
                save()
                saved_at = seconds
    except BaseException as error:
        try:
            save()
        except Exception as failure:
            error.add_note(f"No checkpoint could be written after it: {failure}")
        raise
    save()
    return step


def _restore(
    checkpoint: Path,
    network: nn.Module,
    device: torch.device,
    optimizer: torch.optim.Optimizer,
    sampler: WindowSampler,
    random: torch.Generator,
) -> tuple[int, float, float | None]:
    """Bring everything back to where a checkpoint was written; what is returned is tokens, seconds, running loss."""
    try:
        saved = torch.load(checkpoint, weights_only=True, map_location=device)
        network.load_state_dict(saved["network"])
        optimizer.load_state_dict(saved["optimizer"])
        sampler.restore(saved["sampler"])
        random.set_state(saved["random"].cpu())
        return saved["tokens"], saved["seconds"], saved["running"]
    except (OSError, EOFError, LookupError, TypeError, ValueError, RuntimeError, pickle.UnpicklingError) as error:
        if is_out_of_memory(error):
            raise
        raise ModelRefused(
            f"{checkpoint} cannot be continued: it is damaged, or of another model. Choose another folder, or delete "
            f"it to begin anew."
        ) from error


def _append(log: Path, step: PretrainingStep) -> None:
    with writing_to(log.parent):
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(step)) + "\n")
