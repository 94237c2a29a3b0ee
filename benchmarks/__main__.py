"""`python -m benchmarks [NAME ...]`, from a checkout with the package installed."""

import argparse
import sys

from . import load_all, page
from .runner import rows_so_far, run


def main() -> None:
    specs = load_all()
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(specs)}; all by default")
    parser.add_argument("--quick", action="store_true", help="small cases only, to see that it runs")
    parser.add_argument("--write", action="store_true", help=f"put the tables into {page.PAGE.name}")
    parser.add_argument("--resume", action="store_true", help="keep what an earlier run has measured")
    parser.add_argument(
        "--kept", action="store_true", help="measure nothing, tell what is kept of earlier runs"
    )
    parser.add_argument("--list", action="store_true", help="only say what there is")
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in specs]
    if unknown:
        parser.error(f"no benchmark {unknown[0]!r}; there are {', '.join(specs)}")
    if options.quick and options.write:
        parser.error("--quick measures nothing worth writing down")
    for name in options.names or specs:
        spec = specs[name]
        print(f"{name}: {spec.title}", flush=True)
        if options.list:
            continue
        rows = rows_so_far(spec) if options.kept else []
        for row in () if options.kept else run(spec, quick=options.quick, resume=options.resume):
            rows.append(row)
            print(f"  case {len(rows)} done", file=sys.stderr, flush=True)
        print("\n".join(page.table(spec, rows)), flush=True)
        if options.write and rows:
            if spec.draw is not None:
                page.IMAGES.mkdir(exist_ok=True)
                spec.draw(rows, page.picture(spec))
            page.write(name, page.section(spec, rows))


if __name__ == "__main__":
    main()
