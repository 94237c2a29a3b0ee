"""The command line: parse, call one function, render, exit."""

import click

from kubestow import __version__


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="kubestow")
def main() -> None:
    """Provably best scheduling rounds for Kubernetes, beside kube-scheduler's own."""


@main.command()
def version() -> None:
    """Print the version."""
    click.echo(__version__)


if __name__ == "__main__":
    main()
