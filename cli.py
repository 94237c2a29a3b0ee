"""The command line: parse, call one function, render, exit.

Exit codes: 0 done; 1 done, and what was asked for does not hold; 2 bad usage or bad input, in one line; 70 a
bug in kubestow; 130 interrupted; 141 the answer is not read to its end, as in `kubestow solve | head -1`.
Documents go to stdout, words to stderr. Everything heavy is imported inside the commands, so that help and
completion are instant.
"""

from __future__ import annotations

import sys

import click

from kubestow import __version__
from kubestow.commands.apply_plan import apply_plan
from kubestow.commands.check import check
from kubestow.commands.compare import compare
from kubestow.commands.drain import drain
from kubestow.commands.explain import explain
from kubestow.commands.exporter import exporter
from kubestow.commands.fit import fit
from kubestow.commands.generate import generate
from kubestow.commands.group import Cli
from kubestow.commands.instances import instances
from kubestow.commands.plugin import PLUGIN, completions
from kubestow.commands.provision import provision
from kubestow.commands.queue import hints, queue
from kubestow.commands.rebalance import rebalance
from kubestow.commands.regress import regress
from kubestow.commands.report import report
from kubestow.commands.simulate import simulate
from kubestow.commands.snapshot import take
from kubestow.commands.solve import solve
from kubestow.commands.study import study
from kubestow.commands.study_report import study_report
from kubestow.commands.suggest import suggest
from kubestow.commands.trace import trace
from kubestow.commands.what_if import what_if
from kubestow.instances.dump import DUMP_TO_FILE

WHOLE_DUMP = "\n  ".join(DUMP_TO_FILE)


@click.group(
    cls=Cli,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=f"""\b
Examples:
  kubestow instances
  kubestow compare zone-spread-dead-end
  kubestow explain zone-spread-dead-end web-5
  kubestow compare --live

\b
Without --live and snapshot, a cluster with all that a round depends on, its devices and pod groups where it
serves them:
  {WHOLE_DUMP}

\b
Completion of commands, options and bundled instances, for bash, zsh or fish:
  eval "$(_KUBESTOW_COMPLETE=bash_source kubestow)"

\b
Exit codes:
  0    done
  1    done, and what was asked for does not hold: a regression, an instance that could not be solved
  2    bad usage or bad input, in one line
  70   a bug in kubestow
  130  interrupted; the best plan so far is printed where there is one
  141  the answer is not read to its end, as in `kubestow solve | head -1`
""",
)
@click.version_option(__version__, prog_name="kubestow")
def main() -> None:
    """Provably best scheduling rounds for Kubernetes, beside kube-scheduler's own.

    A round places all waiting pods of a cluster at one moment. kube-scheduler takes them one by one (greedy);
    kubestow looks at all of them at once (optimal). It reads what kubectl reads and never changes a cluster.

    An INSTANCE is a file or folder of Kubernetes objects (YAML or JSON, gzip or not), `-` for standard input,
    or the name of a bundled instance; with `--format openb` it is the two CSV files of the openb trace.
    """


main.add_command(solve)
main.add_command(compare)
main.add_command(apply_plan)
main.add_command(check)
main.add_command(explain)
main.add_command(exporter)
main.add_command(fit)
main.add_command(generate)
main.add_command(hints)
main.add_command(instances)
main.add_command(provision)
main.add_command(queue)
main.add_command(rebalance)
main.add_command(regress)
main.add_command(report)
main.add_command(study)
main.add_command(study_report)
main.add_command(suggest)
main.add_command(simulate)
main.add_command(take)
main.add_command(trace)
main.add_command(what_if)
main.add_command(drain)


@main.command()
def version() -> None:
    """Print the versions of kubestow, its solver and Python."""
    from importlib.metadata import version as of
    from platform import python_version

    click.echo(f"kubestow {__version__} (ortools {of('ortools')}, Python {python_version()})")


def plugin() -> None:
    """Run as a plugin of kubectl: `kubectl-kubestow`."""
    main(prog_name=PLUGIN)


def complete_plugin() -> None:
    """Answer kubectl's completion: `kubectl_complete-kubestow`."""
    for line in completions(main, sys.argv[1:]):
        click.echo(line)


if __name__ == "__main__":
    main()
