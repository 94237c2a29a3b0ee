"""What the documentation site has beyond the pages of docs/.

MkDocs calls these functions by their names (mkdocs.yml, `hooks`). `reference/commands.md` is the help of
each command as the command line prints it, `reference/schemas/` the JSON Schema of each document that has
one; a few pages come from the root. Formulas in fences named `math` become MathML: browsers draw it by
themselves, so nothing is fetched when a page is read.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from latex2mathml.converter import convert
from mkdocs.structure.files import File

from kubestow.cli import main
from kubestow.models.schemas import DOCUMENTS, schema

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).parent.parent
# Pages that the repository keeps at its root, where its hosts look for them.
AT_THE_ROOT = ("CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Draw fences named `math` as formulas.

    Diagrams stay text: the theme would fetch what draws them.
    """
    fences = config.mdx_configs.setdefault("pymdownx.superfences", {}).setdefault("custom_fences", [])
    fences.append({"name": "math", "class": "math", "format": formula})
    return config


def formula(source: str, *_: object, **__: object) -> str:
    """Return lines of LaTeX as MathML, a formula each."""
    return "".join(f"<p>{convert(line, display='block')}</p>" for line in source.splitlines() if line.strip())


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages, the schemas, and the pages of the root."""
    for name in AT_THE_ROOT:
        files.append(File.generated(config, name, abs_src_path=str(ROOT / name)))
    files.append(File.generated(config, "reference/commands.md", content=commands_page()))
    files.append(File.generated(config, "reference/schemas.md", content=schemas_page()))
    for name in DOCUMENTS:
        content = json.dumps(schema(name), indent=2) + "\n"
        files.append(File.generated(config, f"reference/schemas/{name}.json", content=content))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Let links between docs/ and the root meet, where the site has both in one folder."""
    if page.file.src_uri in AT_THE_ROOT:
        return markdown.replace("](docs/", "](").replace(
            "](LICENSE)", "](https://www.apache.org/licenses/LICENSE-2.0)"
        )
    up = "../" * (page.file.src_uri.count("/") + 1)
    for name in AT_THE_ROOT:
        markdown = markdown.replace(f"]({up}{name}", f"]({up.removeprefix('../')}{name}")
    return markdown


def commands_page() -> str:
    """Return the help of every command, as the command line prints it."""
    lines = ["# Commands", ""]
    root = click.Context(main, info_name="kubestow", terminal_width=110, max_content_width=110)
    lines += ["```text", main.get_help(root), "```", ""]
    for name, command in sorted(main.commands.items()):
        context = click.Context(command, info_name=name, parent=root)
        lines += [f"## {name}", "", "```text", command.get_help(context), "```", ""]
        for each, part in sorted(getattr(command, "commands", {}).items()):
            of_part = click.Context(part, info_name=each, parent=context)
            lines += [f"### {name} {each}", "", "```text", part.get_help(of_part), "```", ""]
    return "\n".join(lines)


def schemas_page() -> str:
    """Return the list of schemas: which command prints which document."""
    lines = [
        "# Schemas of documents",
        "",
        "What commands print with `-o json` or `-o yaml`, as JSON Schema (draft 2020-12), made from the "
        "models of these documents. They may gain fields; none is taken away.",
        "",
        "| document | printed by | schema |",
        "|---|---|---|",
    ]
    lines += [
        f"| {document.title} | `{document.command}` | [{name}.json](schemas/{name}.json) |"
        for name, document in DOCUMENTS.items()
    ]
    return "\n".join([*lines, ""])
