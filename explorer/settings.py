"""Every limit of the explorer, with its unit and the environment variable that sets it."""

import os
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path

GIB = 2**30


@dataclass(frozen=True)
class Settings:
    """What an operator may change. Field `x_y` is read from the environment variable `EXPLORER_X_Y`.

    Attributes:
        device: Where models run: "auto", "cpu", "cuda", "cuda:1", "mps".
        memory_budget_gib: Memory for model weights per device, in GiB; 0 = half of what the device has.
        largest_model_gib: Weights above this size are not downloaded or loaded, in GiB.
        idle_minutes: A model that nobody used for this long is unloaded; 0 = never.
        analyses_at_once: How many analyses may be at work on one device.
        analyses_of_one_visitor: How many of these may be one visitor's: of one open page, or of all who ask over HTTP
            from one address.
        longest_analysis_seconds: How long one question may compute before it is ended, in seconds; of what comes in
            steps, each step.
        longest_wait_seconds: How long an analysis waits for its turn before the visitor is told that it is busy.
        hub_models: Whether visitors may name any model of the Hugging Face Hub.
        hub_token: Whether the operator's Hub token (HF_TOKEN) is used, so that gated and private models can be had;
            every visitor can then use whatever that token may read.
        log_texts: Whether the log repeats the messages of faults, which may hold what visitors typed.
        named_room_gib: Disk for the models of the Hub that visitors named, in GiB, half of it at most for those of one
            visitor; when it is full, those that were used longest ago leave, and are fetched again when somebody asks.
        most_named: Most models that are not on offer, of the Hub or of local_models, that one visitor may use within an
            hour.
        local_models: Folder under which visitors may name model folders; empty = they may not.
        longest_text_characters: Longer input is refused before it is tokenized.
        most_blanks: Most blanks in one text.
        most_choices: Most choices per blank, and most completions.
        most_candidates: Most candidates of the visitor's own per blank.
        most_texts: Most texts in one batch call.
        most_uses: Most uses of words that one request embeds.
        most_vectors_mib: Memory for the vectors of one request, in MiB.
        most_kept_vectors_mib: Memory for the vectors of recent words, which all visitors share, in MiB; what has left
            is computed again when it is looked at.
        most_corpus_characters: Most characters of a corpus that one request over HTTP measures.
        most_static_words: Most words that are read from a file of static vectors; its first ones.
        largest_sentences_mib: Larger files of a visitor's own sentences are refused, in MiB, unpacked.
        largest_examples_mib: Larger files of labelled examples are refused, in MiB, unpacked.
        most_example_rows: Rows of such a file beyond so many are not read.
        most_examples: Of more labelled examples so many are drawn, once for learning and once for measuring.
        most_classes: Labelled sentences with more classes than this are refused.
        largest_corpus_gib: Of a larger corpus only so much is searched for a word, in GiB, unpacked.
        corpus_cache_gib: Disk for the vectors of uses found in corpora, in GiB; the longest unused leave first.
        most_new_tokens: Most tokens that one request has a model write.
        most_drafts_mib: Memory for what one model remembers of the texts it is writing, in MiB; who comes when it is
            full is told that it is busy.
        most_attention_mib: Memory for the attention weights of recent texts, which all visitors share, in MiB; what has
            left is computed again when it is looked at.
        largest_request_mib: Larger HTTP bodies are refused, in MiB.
        largest_upload_mib: Larger files that visitors upload are refused, in MiB; they go within an hour.
        uploads_room_gib: Disk for all files that visitors uploaded in the last hour, in GiB, half of it at most for
            those of one address; when it is full, more are refused.
        most_unread_mib: Memory for answers that were asked for over HTTP and not yet fetched, in MiB; when it is full,
            those that wait longest are dropped, and all of them after 5 minutes.
        origins: Addresses under which browsers know this page beside the one they ask for, e.g. that of a proxy that
            does not pass it on, as `https://explorer.example.edu`, separated by spaces; `*` = any page may ask.
        frames: Pages that may show this one in a frame, e.g. `https://moodle.example.edu`, separated by spaces; on a
            Hugging Face Space those of Hugging Face may anyway.
        most_waiting: How many clicks may wait in the page's queue; when it is full, the last of the visitor who has
            most there is refused for that of another.
        jobs_folder: Where jobs of fine-tuning and the models they make are kept; empty = beside the Hub's cache.
        most_jobs: Most jobs of fine-tuning that one visitor may keep, finished ones included.
        most_waiting_jobs: Most jobs of one visitor that may wait or run at a time.
        most_jobs_in_line: Most jobs of all visitors together that may wait or run at a time; who has none in line may
            add one until there are twice as many.
        most_runs: Most runs that one job is made of: the methods of a race times the sizes of a learning curve.
        longest_job_minutes: Longest time on the device before a job is stopped, in minutes; who resumes it waits in
            line again.
        jobs_room_gib: Disk for all jobs and their models, in GiB; when it is full, jobs that ended more than a day ago
            leave, the oldest first, and when that does not do, new ones are refused.
        jobs_kept_days: Jobs that ended longer ago than this leave, in days; 0 = never.
        ray_application: Name of a Ray Serve application to run models on; empty = this process.
    """

    device: str = "auto"
    memory_budget_gib: float = 0.0
    largest_model_gib: float = 6.0
    idle_minutes: float = 30.0
    analyses_at_once: int = 16
    analyses_of_one_visitor: int = 8
    longest_analysis_seconds: float = 600.0
    longest_wait_seconds: float = 120.0
    hub_models: bool = True
    hub_token: bool = False
    log_texts: bool = False
    named_room_gib: float = 12.0
    most_named: int = 8
    local_models: str = ""
    longest_text_characters: int = 20_000
    most_blanks: int = 10
    most_choices: int = 50
    most_candidates: int = 20
    most_texts: int = 256
    most_uses: int = 20_000
    most_vectors_mib: int = 1024
    most_kept_vectors_mib: int = 512
    most_corpus_characters: int = 1_000_000
    most_static_words: int = 200_000
    largest_sentences_mib: float = 4.0
    largest_examples_mib: float = 64.0
    most_example_rows: int = 500_000
    most_examples: int = 20_000
    most_classes: int = 200
    largest_corpus_gib: float = 16.0
    corpus_cache_gib: float = 4.0
    most_new_tokens: int = 500
    most_drafts_mib: int = 1024
    most_attention_mib: int = 512
    largest_request_mib: float = 8.0
    largest_upload_mib: float = 256.0
    uploads_room_gib: float = 4.0
    most_unread_mib: float = 128.0
    origins: str = ""
    frames: str = ""
    most_waiting: int = 256
    jobs_folder: str = ""
    most_jobs: int = 20
    most_waiting_jobs: int = 3
    most_jobs_in_line: int = 60
    most_runs: int = 16
    longest_job_minutes: float = 30.0
    jobs_room_gib: float = 20.0
    jobs_kept_days: float = 30.0
    ray_application: str = ""


@cache
def settings() -> Settings:
    """The settings of this process, read from the environment once.

    Raises:
        ValueError: A variable cannot be read as its type; the message names it.
    """
    given = {}
    for field in fields(Settings):
        variable = f"EXPLORER_{field.name.upper()}"
        if variable not in os.environ:
            continue
        text = os.environ[variable].strip()
        try:
            given[field.name] = text.lower() in {"1", "true", "yes"} if field.type is bool else field.type(text)
        except ValueError as error:
            raise ValueError(f"{variable}={text!r} is not a {field.type.__name__}") from error
    return Settings(**given)


ASSETS = Path(__file__).parent.parent / "assets"
