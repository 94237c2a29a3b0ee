"""Pieces of work on a Dask cluster: one on this machine by default, or one that runs already.

Only this module imports Dask, which comes with the extra `dask` and has no types of its own to speak of.
"""

from __future__ import annotations

import logging
from asyncio import wait_for
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ...models.errors import InternalError, KubestowError
from .base import Lost

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from .base import Watch, Work

# Seconds to wait for an existing scheduler.
PATIENCE = 10.0


def require_dask(address: str | None) -> Any:
    """Return the module `distributed` after a check that the scheduler at an address, if any, takes work.

    Raises
    ------
    KubestowError
        Where Dask is not installed, the scheduler cannot be reached or has no workers.
    """
    try:
        distributed = import_module("distributed")
    except ImportError:
        raise KubestowError("--engine dask: Dask is not installed; pip install 'kubestow[dask]'") from None
    if address is None:
        return distributed
    try:
        identity = import_module("distributed.utils").LoopRunner().run_sync(_identity, distributed, address)
    except Exception as error:  # each scheme of addresses has errors of its own
        reason = str(error) or f"no answer in {PATIENCE:g} s"
        raise KubestowError(
            f"--dask: {address}: cannot be reached (as in tcp://host:8786): {reason}"
        ) from None
    if identity.get("type") != "Scheduler":
        raise KubestowError(f"--dask: {address}: is no Dask scheduler but a {identity.get('type')}")
    if not identity["workers"]:
        raise KubestowError(f"--dask: {address}: the scheduler has no workers")
    return distributed


async def _identity(distributed: Any, address: str) -> Mapping[str, Any]:
    """Ask a server what it is; a Dask client would wait for ever for one that does not answer."""
    arguments = distributed.Security().get_connection_args("client")
    server = distributed.rpc(address, timeout=PATIENCE, connection_args=arguments)
    try:
        answer: Mapping[str, Any] = await wait_for(server.identity(), PATIENCE)
        return answer
    finally:
        await server.close_rpc()


@contextmanager
def open_dask(address: str | None, slots: int) -> Iterator[DaskEngine]:
    """Connect to a Dask scheduler, or start a cluster of so many processes on this machine.

    Raises
    ------
    KubestowError
        As `require_dask`.
    """
    distributed = require_dask(address)
    if address is not None:
        with distributed.Client(address, timeout=PATIENCE, set_as_default=False) as client:
            yield DaskEngine(client, sum(client.nthreads().values()))
        return
    with (
        distributed.LocalCluster(
            n_workers=slots,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address=None,
            # the log of ending processes is of no use: after Ctrl-C some are killed while they work
            silence_logs=logging.CRITICAL,
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield DaskEngine(client, slots)


class DaskEngine:
    """See `Engine`; news of pieces in work are not passed on.

    Parameters
    ----------
    client : distributed.Client
    slots : int
        How many pieces run at once.
    """

    def __init__(self, client: Any, slots: int) -> None:
        self._client = client
        self.slots = max(slots, 1)

    def run(self, work: Work, shared: Any, pieces: Iterable[Any], watch: Watch) -> Iterator[tuple[int, Any]]:
        """See `Engine`."""
        [everywhere] = self._client.scatter([shared], broadcast=True, hash=False)
        waiting = enumerate(pieces)
        working: dict[str, tuple[int, Any]] = {}
        done = import_module("distributed").as_completed(loop=self._client.loop)
        try:
            while True:
                while len(working) < self.slots:
                    following = next(waiting, None)
                    if following is None:
                        break
                    number, piece = following
                    future = self._client.submit(_work, work, everywhere, piece, pure=False)
                    working[future.key] = number, future
                    done.add(future)
                if not working:
                    return
                future = next(done)
                number, _ = working.pop(future.key)
                yield number, _result(future)
        except KeyboardInterrupt:
            self._client.cancel([future for _, future in working.values()])


def _result(future: Any) -> Any:
    """Return what a piece came to; what its work raises is raised here.

    Ctrl-C in a terminal reaches the workers as well: a future that they give up is an interruption.
    """
    try:
        return future.result()
    except import_module("distributed.client").FutureCancelledError:
        raise KeyboardInterrupt from None
    except import_module("distributed").scheduler.KilledWorker as error:
        return Lost(InternalError(f"a worker of Dask was lost: {error}"))


def _work(work: Work, shared: Any, piece: Any) -> Any:
    return work(shared, piece, lambda news: None)
