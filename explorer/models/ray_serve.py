"""Models on a Ray Serve cluster: a local backend in each replica, reached through a handle.

Needs the extra "ray". Start the models once, then any number of pages beside them:

    python -m explorer.models.ray_serve --replicas 2 --gpus 1
    EXPLORER_RAY_APPLICATION=explorer python app.py

The first command joins the cluster that RAY_ADDRESS names, else it starts one on this machine. Whoever reaches Ray's
ports and knows its token (~/.ray/auth_token) can run any code here, and Ray listens on every network interface: keep
the ports behind a firewall, and do not set RAY_AUTH_MODE=disabled.
"""

import argparse
import asyncio
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, Literal
from uuid import uuid4

from explorer.models.ray_host import Asker, Mark, ModelHost  # isort: skip  # before ray: it sets what ray reads

import ray
from ray import serve
from ray.exceptions import RayActorError, RayError, TaskCancelledError
from ray.serve.exceptions import (
    BackPressureError,
    DeploymentUnavailableError,
    RayServeException,
    ReplicaUnavailableError,
)

from explorer.errors import ExplorerError, ModelUnavailable, NobodyWaits, TooBusy
from explorer.models.backend import LoadedModel, Result
from explorer.models.callers import current_caller
from explorer.models.card import ModelCard
from explorer.models.loading import load_model
from explorer.models.ray_questions import OpenQuestions, Question
from explorer.models.status import Budget, ModelStatus
from explorer.settings import Settings, settings

OBJECT_STORE_BYTES = 200 * 2**20  # by default Ray takes 30 % of the memory; only small results pass through it
PROGRESS = ("not loaded", "downloading", "loading", "ready")
REPLICA_LOST = (RayActorError, ReplicaUnavailableError)
LOST = (*REPLICA_LOST, DeploymentUnavailableError, TimeoutError)
LOOK_SECONDS = 1.0  # how long a replica may take to say how its models stand
UNLOAD_SECONDS = 10.0
MOST_BEGUN = 2  # replicas that one question may be lost with
PAUSES_SECONDS = (0.1, 0.3, 1.0)  # after a loss, as it may take a while until nothing is sent to that replica any more
NO_ANSWER = "The model server does not answer; try again in a minute."


class RayServeBackend:
    """Sends analyses to the replicas of a running application.

    A question that is lost with its replica is asked once more, unless some of its answer has been seen.

    Args:
        application: Name under which the models were deployed.
        wait_seconds: How long a question may wait until a replica takes it; None = as the settings say.

    Raises:
        ModelUnavailable: No cluster, or no such application, runs.
    """

    def __init__(self, application: str, *, wait_seconds: float | None = None) -> None:
        try:
            if not ray.is_initialized():
                ray.init(address="auto", log_to_driver=False)
            self._host = serve.get_app_handle(application)
        except (ConnectionError, RayServeException) as error:
            raise ModelUnavailable(
                f"No model server named {application!r} is running. The operator starts it with:"
                f" python -m explorer.models.ray_serve --application {application}"
            ) from error
        self._wait_seconds = settings().longest_wait_seconds if wait_seconds is None else wait_seconds
        self._questions = OpenQuestions()
        self._seen: list[tuple[dict[ModelCard, ModelStatus], Budget]] = []  # what the replicas said last

    def run(self, card: ModelCard, analysis: Callable[[LoadedModel], Result]) -> Result:
        """Apply the analysis to the model in one of the replicas, and return the result.

        Raises:
            ModelUnavailable: Two replicas were lost at it, or there are none.
            TooBusy: No replica took it in time.
            NobodyWaits: Whoever asked has left.
            ExplorerError: Whatever the replica raises, as LocalBackend does.
        """
        (answer,) = self._answers("run", card, analysis)
        return answer

    def stream(self, card: ModelCard, analysis: Callable[[LoadedModel], Iterator[Result]]) -> Iterator[Result]:
        """As run, for an analysis that yields results while it works; close the iterator to stop it.

        The replica works ahead of its reader, so the model may be let go before the last step is read.
        """
        return self._answers("stream", card, analysis)

    def load(self, card: ModelCard, is_waiting: Callable[[], bool] = lambda: True) -> None:
        """Bring a model into the memory of every replica; a download that nobody waits for ends."""
        asker = _asker()

        def leave() -> None:
            with suppress(*LOST):
                self._host.broadcast("leave", asker.question).results(timeout_s=LOOK_SECONDS, return_exceptions=True)

        with self._questions.asked(is_waiting, leave):
            self._ask_all("load", asker, card)

    def unload(self, card: ModelCard) -> None:
        """Let a model go in every replica; TooBusy if one of them uses it."""
        self._ask_all("unload", _asker(), card, within_seconds=UNLOAD_SECONDS)

    def status(self) -> dict[ModelCard, ModelStatus]:
        """How the models stand that are in any replica, or on their way; memory and users of all replicas together.

        Of replicas that do not answer within a second nothing is told; where none does, for they are full, what was
        seen last.
        """
        statuses: dict[ModelCard, list[ModelStatus]] = {}
        with suppress(ModelUnavailable):
            for here, _ in self._look():
                for card, status in here.items():
                    statuses.setdefault(card, []).append(status)
        return {card: _together(several) for card, several in statuses.items()}

    def budget(self) -> Budget:
        """What weights may take, and take, in all replicas together; of those that do not answer, as for status.

        Raises:
            ModelUnavailable: There are none.
        """
        budgets = [budget for _, budget in self._look()]
        return Budget(
            device=_device_names([budget.device for budget in budgets]),
            limit_bytes=sum(budget.limit_bytes for budget in budgets),
            used_bytes=sum(budget.used_bytes for budget in budgets),
            device_bytes=sum(budget.device_bytes for budget in budgets),
        )

    def _answers(self, method: Literal["run", "stream"], card: ModelCard, analysis: Callable) -> Iterator[Any]:
        """What a replica answers, in one step or in many; what another does if that one is lost before the first."""
        has_seen, begun = False, 0
        for pause_seconds in (*PAUSES_SECONDS, None):
            try:
                for step in self._steps(method, card, analysis):
                    if step is Mark.BEGUN:
                        begun += 1
                    else:
                        has_seen = True
                        yield step
                return
            except REPLICA_LOST as error:
                if has_seen and method == "run":  # all that is lost is that nothing follows
                    return
                if has_seen or begun == MOST_BEGUN or pause_seconds is None:
                    raise ModelUnavailable(NO_ANSWER) from error
            time.sleep(pause_seconds)

    def _steps(self, method: str, card: ModelCard, analysis: Callable) -> Iterator[Any]:
        steps = self._host.options(stream=True).answer.remote(_asker(), method, card, analysis)

        def cancel() -> None:
            with suppress(RayError, RayServeException):  # that no replica took it is told to whoever reads the steps
                steps.cancel()

        with self._questions.asked(current_caller().is_waiting, cancel, self._wait_seconds) as question:
            try:
                while (step := _checked(partial(next, steps, Mark.END), question)) is not Mark.END:
                    if step is Mark.BEGUN:
                        question.begin_by_seconds = None
                    yield step
            finally:
                cancel()

    def _look(self) -> list[tuple[dict[ModelCard, ModelStatus], Budget]]:
        try:
            self._seen = self._ask_all("look", within_seconds=LOOK_SECONDS)
        except ModelUnavailable as error:
            if not (self._seen and isinstance(error.__cause__, TimeoutError)):
                raise
        return self._seen

    def _ask_all(self, method: str, *arguments: Any, within_seconds: float | None = None) -> list[Any]:
        """What the replicas answer, each that does within that time.

        Raises:
            ModelUnavailable: None does.
            ExplorerError: What one of them says to the visitor.
        """
        asked = self._host.broadcast(method, *arguments)
        try:
            answers = asked.results(timeout_s=within_seconds, return_exceptions=True)
        except LOST as error:
            raise ModelUnavailable(NO_ANSWER) from error
        told = [answer for answer in answers if not isinstance(answer, LOST)]
        for answer in told:
            if isinstance(answer, Exception):
                raise answer
        if not told:
            raise ModelUnavailable(NO_ANSWER) from next(iter(answers), None)
        return told


def _asker() -> Asker:
    caller = current_caller()
    return Asker(uuid4().hex, caller.name, caller.longest_seconds)


def _checked(ask: Callable[[], Any], question: Question) -> Any:
    """What the replica answered; its errors, and the cluster's own, as the visitor should read them."""
    try:
        answer = ask()
    except BackPressureError as error:
        raise TooBusy("Too many analyses are waiting for the model server; try again in a minute.") from error
    except TaskCancelledError as error:
        raise question.error or NobodyWaits("This question was stopped.") from error
    except DeploymentUnavailableError as error:
        raise ModelUnavailable(NO_ANSWER) from error
    if isinstance(answer, ExplorerError):
        raise answer
    return answer


def _together(statuses: Sequence[ModelStatus]) -> ModelStatus:
    """One status of a model that is in several replicas: that of the one furthest on."""
    return replace(
        max(statuses, key=lambda status: PROGRESS.index(status.state)),
        device=_device_names([status.device for status in statuses]),
        weights_bytes=sum(status.weights_bytes for status in statuses),
        users=sum(status.users for status in statuses),
        idle_seconds=min(status.idle_seconds for status in statuses),
    )


def _device_names(names: Sequence[str]) -> str:
    """E.g. "cuda", or "cuda ×2" where two replicas have one each."""
    return ", ".join(name if (n := names.count(name)) == 1 else f"{name} ×{n}" for name in dict.fromkeys(names))


def deploy(
    application: str,
    *,
    replicas: int = 1,
    cpus: float = 1,
    gpus: float = 0,
    load: Callable[..., LoadedModel] = load_model,
    limits: Settings | None = None,
) -> None:
    """Start the models on the cluster of this process, or add them to it; return when they answer.

    Args:
        application: Name to reach them under.
        replicas: How many processes hold models, each with all that fits its budget.
        cpus: Cores that Ray sets aside for each.
        gpus: GPUs for each; a fraction shares one.
        load: Turns a card into a loaded model.
        limits: Device, budget and limits of each replica; None = those of its environment.
    """
    serve.start(proxy_location="Disabled")  # the handle is enough; an open port would need guarding
    host = ModelHost.options(num_replicas=replicas, ray_actor_options={"num_cpus": cpus, "num_gpus": gpus})
    serve.run(host.bind(load, limits), name=application, route_prefix=None)


def main() -> None:
    """Serve models until interrupted."""
    parser = argparse.ArgumentParser(description="Serve models to explorer pages.")
    parser.add_argument("--application", default=settings().ray_application or "explorer", help="name to reach them by")
    parser.add_argument("--replicas", type=int, default=1, help="processes that hold models")
    parser.add_argument("--cpus", type=float, default=1, help="cores for each")
    parser.add_argument("--gpus", type=float, default=0, help="GPUs for each; a fraction shares one")
    given = parser.parse_args()
    if "RAY_ADDRESS" in os.environ:
        ray.init()
    else:
        ray.init(include_dashboard=False, object_store_memory=OBJECT_STORE_BYTES)
    deploy(given.application, replicas=given.replicas, cpus=given.cpus, gpus=given.gpus)
    print(
        f"Models are served. Start pages with: EXPLORER_RAY_APPLICATION={given.application} python app.py", flush=True
    )
    try:
        asyncio.run(asyncio.Event().wait())
    except KeyboardInterrupt:
        serve.shutdown()


if __name__ == "__main__":
    # As __main__ the classes would be others than those that pages know.
    from explorer.models.ray_serve import main as serve_models

    serve_models()
