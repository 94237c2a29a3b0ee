"""A plan as a shell script for kubectl. It only looks, unless it is run with APPLY=1.

POSIX sh; every text of the plan stands between quotes that `shlex` puts, so no name can be a command.
"""

from __future__ import annotations

import json
from shlex import quote
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .request import Request, Until

_PROLOGUE: Final = r"""#!/bin/sh
# A scheduling round, step by step, as kubestow planned it. It uses kubectl and sends nothing by itself.
#
#   sh plan.sh            checks that the pods are those of the plan, and tells what would be done
#   APPLY=1 sh plan.sh    does it; the first unexpected answer ends it
#
#   KUBECTL        the command, such as 'kubectl --context test'
#   WAIT_SECONDS   how long a wait may last (600)
#   POLL_SECONDS   how long to sleep between two looks (1)
set -eu
KUBECTL=${KUBECTL:-kubectl}
APPLY=${APPLY:-0}
WAIT_SECONDS=${WAIT_SECONDS:-600}
POLL_SECONDS=${POLL_SECONDS:-1}
refused=0

fail() {
  printf 'plan: %s\n' "$1" >&2
  exit 1
}

# Whether a step is to be done; says what it is.
doing() {
  if [ "$APPLY" = 1 ]; then
    printf '%s\n' "$1"
  else
    printf 'would %s\n' "$1"
    return 1
  fi
}

# look NAMESPACE OBJECT JSONPATH: print fields of an object, nothing where there is no such object
look() {
  if [ -n "$1" ]; then
    $KUBECTL get "$2" --namespace "$1" --ignore-not-found --output "jsonpath=$3"
  else
    $KUBECTL get "$2" --ignore-not-found --output "jsonpath=$3"
  fi
}

# check WORDS NAMESPACE OBJECT JSONPATH EXPECTED
check() {
  printf '%s\n' "$1"
  found=$(look "$2" "$3" "$4") || fail "$1: kubectl failed"
  [ "$found" = "$5" ] || fail "$1: it is not so any more ($found instead of $5)"
}

# create WORDS PATH BODY
create() {
  doing "$1" || return 0
  printf '%s' "$3" | $KUBECTL create --raw "$2" -f - >/dev/null || fail "$1: refused"
}

# evict WORDS PATH BODY MAY_REFUSE: the eviction API may answer 429 where the plan says so
evict() {
  refused=0
  doing "$1" || return 0
  if answer=$(printf '%s' "$3" | $KUBECTL create --raw "$2" -f - 2>&1); then
    return 0
  fi
  case $4$answer in
    1*'(TooManyRequests)'*) refused=1 ;;
    *) fail "$1: $answer" ;;
  esac
}

# delete WORDS PATH BODY
delete() {
  doing "$1" || return 0
  printf '%s' "$3" | $KUBECTL delete --raw "$2" -f - >/dev/null || fail "$1: refused"
}

# patch WORDS NAMESPACE OBJECT SUBRESOURCE TYPE BODY
patch() {
  doing "$1" || return 0
  set -- "$1" "$2" "$3" --patch "$6" --type "$5" ${4:+--subresource "$4"}
  words=$1 namespace=$2 object=$3
  shift 3
  if [ -n "$namespace" ]; then
    set -- "$@" --namespace "$namespace"
  fi
  $KUBECTL patch "$object" "$@" >/dev/null || fail "$words: refused"
}

# if_refused FUNCTION WORDS ...: only where the last eviction was refused
if_refused() {
  if [ "$APPLY" != 1 ]; then
    printf 'if that is refused, '
  elif [ "$refused" != 1 ]; then
    return 0
  fi
  "$@"
}

# await WORDS NAMESPACE OBJECT JSONPATH UNTIL TEXT: until the fields are (is) or are not (not) a text
await() {
  doing "$1" || return 0
  end=$(($(date +%s) + WAIT_SECONDS))
  while :; do
    found=$(look "$2" "$3" "$4") || fail "$1: kubectl failed"
    case $5 in
      is) [ "$found" != "$6" ] || return 0 ;;
      not) [ "$found" = "$6" ] || return 0 ;;
    esac
    [ "$(date +%s)" -lt "$end" ] || fail "$1: not within $WAIT_SECONDS seconds"
    sleep "$POLL_SECONDS"
  done
}
"""

_TYPES: Final = {
    "application/strategic-merge-patch+json": "strategic",
    "application/json-patch+json": "json",
}

_UNTIL: Final[dict[Until, tuple[str, str]]] = {
    "gone": ("{.metadata.uid}", "not"),
    "deallocated": ("{.status.allocation}", "is"),
    "bound": (r"{.metadata.annotations.pv\.kubernetes\.io/bind-completed}", "is"),
}


def script_of(name: str, requests: Sequence[Request]) -> str:
    """Return the script that makes requests.

    Parameters
    ----------
    name : str
        What the plan is of.
    requests : sequence of Request
    """
    lines = [_PROLOGUE, f"printf '%s\\n' {quote(f'plan of {name}')}"]
    lines += [_line(request) for request in requests]
    lines.append(_epilogue(requests))
    return "\n".join(lines) + "\n"


def _epilogue(requests: Sequence[Request]) -> str:
    steps = len({request.step for request in requests} - {None})
    done = "1 step is done" if steps == 1 else f"{steps} steps are done"
    return (
        f"if [ \"$APPLY\" = 1 ]; then printf '%s\\n' {quote(done)}; "
        "else printf '%s\\n' 'nothing was changed; APPLY=1 does it'; fi"
    )


def _line(request: Request) -> str:
    words = [_function(request), request.about, *_arguments(request)]
    if request.if_refused:
        words.insert(0, "if_refused")
    return " ".join(map(quote, words))


def _function(request: Request) -> str:
    if request.wait is not None:
        return "await"
    if request.verb == "get":
        return "check"
    return "evict" if request.action == "evict" else request.verb


def _arguments(request: Request) -> list[str]:
    place = request.place
    at = [place.namespace, place.argument]
    if request.wait is not None:
        path, how = _UNTIL[request.wait.until]
        text = {"gone": request.wait.uid, "deallocated": "", "bound": "yes"}[request.wait.until]
        return [*at, path, how, text]
    if request.verb == "get":
        assert request.expect is not None
        fields = [
            (f"{{.{part}.{name}}}", value or "")
            for part, values in request.expect.items()
            for name, value in values.items()
        ]
        return [*at, " ".join(path for path, _ in fields), " ".join(value for _, value in fields)]
    body = json.dumps(request.body, ensure_ascii=False, separators=(",", ":"))
    if request.verb == "patch":
        return [*at, request.subresource, _TYPES[str(request.content_type)], body]
    more = [str(int(request.may_refuse))] if request.action == "evict" else []
    return [request.path, body, *more]
