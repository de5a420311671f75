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
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import Any

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # read when ray is imported

import ray  # noqa: E402
from ray import serve  # noqa: E402
from ray.exceptions import RayActorError  # noqa: E402
from ray.serve.exceptions import (  # noqa: E402
    BackPressureError,
    DeploymentUnavailableError,
    RayServeException,
    ReplicaUnavailableError,
)

from explorer.errors import ExplorerError, ModelUnavailable, TooBusy  # noqa: E402
from explorer.models.backend import LoadedModel, Result  # noqa: E402
from explorer.models.card import ModelCard  # noqa: E402
from explorer.models.catalogue import CATALOGUE  # noqa: E402
from explorer.models.loading import load_model  # noqa: E402
from explorer.models.local import LocalBackend  # noqa: E402
from explorer.models.status import Budget, ModelStatus  # noqa: E402
from explorer.settings import Settings, settings  # noqa: E402

END = "there are no more steps"
MOST_AT_ONCE = 128  # requests a replica accepts; most of them wait there for their turn on the device
OBJECT_STORE_BYTES = 200 * 2**20  # by default Ray takes 30 % of the memory; only small results pass through it
PROGRESS = ("not loaded", "downloading", "loading", "ready")
LOST = (RayActorError, DeploymentUnavailableError, ReplicaUnavailableError)


@serve.deployment(max_ongoing_requests=MOST_AT_ONCE, max_queued_requests=settings().most_waiting)
class ModelHost:
    """A replica: what it is sent, it does on its own local backend, under its own budget.

    An error for the visitor is returned and not raised: raised, it would come back wrapped, and fill the cluster's log.

    Args:
        load: Turns a card into a loaded model.
        limits: Device, budget and limits; None = those of the replica's environment.
    """

    def __init__(self, load: Callable[..., LoadedModel] = load_model, limits: Settings | None = None) -> None:
        self._backend = LocalBackend(load, settings=limits, cards=CATALOGUE)
        self._threads = ThreadPoolExecutor(MOST_AT_ONCE)  # the event loop stays free for streams and health checks

    async def ask(self, method: str, *arguments: Any) -> Any:
        """Call a method of the local backend, and return what it returns, or its error for the visitor."""
        return await asyncio.wrap_future(self._begin(getattr(self._backend, method), *arguments))

    async def stream(
        self, card: ModelCard, analysis: Callable[[LoadedModel], Iterator[Result]]
    ) -> AsyncIterator[Result | ExplorerError]:
        """As LocalBackend.stream; the model is let go when the reader leaves."""
        steps = self._backend.stream(card, analysis)
        step = None
        try:
            while True:
                step = self._begin(next, steps, END)
                answer = await asyncio.wrap_future(step)
                if isinstance(answer, str) and answer == END:
                    return
                yield answer
                if isinstance(answer, ExplorerError):
                    return
        finally:  # a reader may leave while a step is computed; a generator can be closed only after that
            if step is not None:
                step.add_done_callback(lambda _: self._threads.submit(steps.close))

    def _begin(self, function: Callable[..., Any], *arguments: Any) -> Future:
        def answer() -> Any:
            try:
                return function(*arguments)
            except ExplorerError as error:
                return error

        return self._threads.submit(answer)


class RayServeBackend:
    """Sends analyses to the replicas of a running application.

    Args:
        application: Name under which the models were deployed.

    Raises:
        ModelUnavailable: No cluster, or no such application, runs.
    """

    def __init__(self, application: str) -> None:
        try:
            if not ray.is_initialized():
                ray.init(address="auto", log_to_driver=False)
            self._host = serve.get_app_handle(application)
        except (ConnectionError, RayServeException) as error:
            raise ModelUnavailable(
                f"No model server named {application!r} is running. The operator starts it with:"
                f" python -m explorer.models.ray_serve --application {application}"
            ) from error

    def run(self, card: ModelCard, analysis: Callable[[LoadedModel], Result]) -> Result:
        """Apply the analysis to the model in one of the replicas, and return the result."""
        return _checked(lambda: self._host.ask.remote("run", card, analysis).result())

    def stream(self, card: ModelCard, analysis: Callable[[LoadedModel], Iterator[Result]]) -> Iterator[Result]:
        """As run, for an analysis that yields results while it works; close the iterator to stop it.

        The replica works ahead of its reader, so the model may be let go before the last step is read.
        """
        steps = _checked(lambda: self._host.options(stream=True).stream.remote(card, analysis))
        try:
            while (step := _checked(lambda: next(steps, END))) is not END:
                yield step
        finally:
            steps.cancel()

    def load(self, card: ModelCard, is_waiting: Callable[[], bool] = lambda: True) -> None:
        """Bring a model into the memory of every replica; one that has begun is not ended early."""
        self._ask_all("load", card)

    def unload(self, card: ModelCard) -> None:
        """Let a model go in every replica; TooBusy if one of them uses it."""
        self._ask_all("unload", card)

    def status(self) -> dict[ModelCard, ModelStatus]:
        """How the models stand that are in any replica, or on their way; memory and users of all replicas together."""
        statuses: dict[ModelCard, list[ModelStatus]] = {}
        for answer in self._ask_all("status"):
            for card, status in answer.items():
                statuses.setdefault(card, []).append(status)
        return {card: _together(several) for card, several in statuses.items()}

    def budget(self) -> Budget:
        """What weights may take, and take, in all replicas together."""
        budgets = self._ask_all("budget")
        return Budget(
            device=_device_names([budget.device for budget in budgets]),
            limit_bytes=sum(budget.limit_bytes for budget in budgets),
            used_bytes=sum(budget.used_bytes for budget in budgets),
            device_bytes=sum(budget.device_bytes for budget in budgets),
        )

    def _ask_all(self, method: str, *arguments: Any) -> list[Any]:
        answers = _checked(lambda: self._host.broadcast("ask", method, *arguments).results())
        return [_checked(lambda answer=answer: answer) for answer in answers]


def _checked(ask: Callable[[], Any]) -> Any:
    """What the replica answered; its errors, and the cluster's own, as the visitor should read them."""
    try:
        answer = ask()
    except BackPressureError as error:
        raise TooBusy("Too many analyses are waiting for the model server; try again in a minute.") from error
    except LOST as error:
        raise ModelUnavailable("The model server does not answer; try again in a minute.") from error
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
