"""The command that watches a cluster for Prometheus: `kubestow exporter`."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import click

from .group import INTERRUPTED, complain, leave, serving
from .help import Command
from .inputs import complete_instance, input_options, search_of, search_options, snapshots
from .live import live_options
from .voice import news, voice_options

if TYPE_CHECKING:
    from ..reports.metrics import Metrics
    from ..solver.options import SolveOptions

_LISTEN = "127.0.0.1:9899"

_SHORTEST, _LONGEST = 1.0, 8760 * 3600.0
"""Seconds between two rounds: a second to a year."""


def _parse_interval(ctx: click.Context, param: click.Parameter, value: str) -> float:
    from ..models.base import parse_duration

    try:
        seconds = parse_duration(value)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None
    if not _SHORTEST <= seconds <= _LONGEST:
        raise click.BadParameter(f"{value!r} is no time to wait: what is needed is 1s to 8760h")
    return seconds


def _parse_address(ctx: click.Context, param: click.Parameter, value: str) -> tuple[str, int]:
    host, colon, port = value.rpartition(":")
    if not colon or not port.isascii() or not port.isdigit() or int(port) > 65535:
        raise click.BadParameter(f"{value!r} is not an address such as {_LISTEN} or :9899")
    return host.strip("[]") or "0.0.0.0", int(port)


@click.command(
    cls=Command,
    epilog="""\b
Examples:
  kubestow exporter zone-spread-dead-end --once
  kubestow exporter --live --interval 5m --time-limit 120
  kubestow exporter --live --listen :9899
  kubestow exporter --live --once
""",
)
@click.argument("instance", required=False, metavar="[INSTANCE]", shell_complete=complete_instance)
@click.option("--once", is_flag=True, help="Solve one round and print its metrics, instead of serving them.")
@click.option(
    "--interval",
    metavar="DURATION",
    default="5m",
    show_default=True,
    callback=_parse_interval,
    help="From the beginning of a round to that of the next one, as 30s, 5m or 1h.",
)
@click.option(
    "--listen",
    metavar="ADDRESS",
    default=_LISTEN,
    show_default=True,
    callback=_parse_address,
    help="Where /metrics is served; :PORT is all addresses.",
)
@voice_options
@live_options
@search_options
@input_options
def exporter(
    instance: str | None, once: bool, interval: float, listen: tuple[str, int], **choices: Any
) -> None:
    """Watch what greedy scheduling costs a cluster, as Prometheus metrics.

    Every so often the cluster that kubectl reaches is read (--live, lists only), the round is solved with
    both schedulers within the time limit, and /metrics has the numbers. A round that cannot be read or solved
    is counted, and the numbers stay those of the last one that could. An INSTANCE is read anew each time.
    SIGTERM ends the server with exit code 0, Ctrl-C with 130; with --once the metrics are those of the best
    plan so far.
    """
    metrics = _metrics()
    arguments = () if instance is None else (instance,)
    search = search_of(choices)
    if instance is None and not choices["live"]:
        raise click.UsageError("what is needed is --live or an INSTANCE")
    if once:
        interrupted = _round(metrics, arguments, search, choices)
        click.echo(metrics.text(), nl=False)
        if interrupted:
            leave(INTERRUPTED, "interrupted; these are the numbers of the best plan so far")
        return

    if instance == "-":
        raise click.UsageError("standard input can be read once only: it goes with --once")

    from ..models.errors import KubestowError, is_interrupt

    host, port = listen
    try:
        port = metrics.serve(host, port)
    except OSError as error:
        raise KubestowError(f"--listen {host}:{port}: {error.strerror}") from None
    news(f"metrics at http://{f'[{host}]' if ':' in host else host}:{port}/metrics")
    with serving():
        while True:
            start = time.monotonic()
            try:
                if _round(metrics, arguments, search, choices):
                    raise KeyboardInterrupt
            except KubestowError as error:
                if is_interrupt(error):
                    raise KeyboardInterrupt from None
                metrics.failed()
                complain(f"error: {error}")
            rest(max(0.0, interval - (time.monotonic() - start)))


def rest(seconds: float) -> None:
    """Wait for the next round."""
    time.sleep(seconds)


def _metrics() -> Metrics:
    try:
        from ..reports.metrics import Metrics
    except ModuleNotFoundError as missing:
        from ..models.errors import KubestowError

        if missing.name != "prometheus_client":
            raise
        raise KubestowError("exporter needs the extra: pip install 'kubestow[exporter]'") from None
    return Metrics()


def _round(
    metrics: Metrics, arguments: tuple[str, ...], search: SolveOptions, choices: dict[str, Any]
) -> bool:
    """Read and solve one round; return whether an interrupt ended it early."""
    from ..solver.round_measures import measured

    metrics.begun()
    start = time.monotonic()
    [loaded] = snapshots(arguments, choices)
    measures = measured(loaded.snapshot, search)
    metrics.solved(measures, time.monotonic() - start, time.time())
    return measures.interrupted
