"""What the site says about itself: the status page's tables, and for machines `data/claims.json` and `llms.txt`."""

from __future__ import annotations

import json
import math
import platform
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from html import escape
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import Files
from mkdocs.utils.meta import get_data

from evidence import record
from evidence.check import Claim, Findings
from evidence_site import html

VERIFIED = "data/verified.json"
PLACE = '<div id="status"></div>'  # of the status page, one folder down, where the tables go


def verified(when: datetime | None) -> str:
    """What continuous integration puts into the published site once all is verified; null in a build that is not."""
    if when is None:
        return json.dumps({"verified": None}) + "\n"
    told = {"verified": when.isoformat(timespec="seconds"), "platform": platform.platform(), **record.versions()}
    return json.dumps(told, indent=1) + "\n"


def _each(found: Findings) -> Iterator[tuple[str, Claim]]:
    """Every statement with its permanent address, relative to the site."""
    for page in found.pages:
        claims = found.of(page)
        for claim, name in zip(claims, html.addresses(claims), strict=True):
            url = page.removeprefix("docs/").removesuffix(".md") + ".html"
            yield (f"{url}#{name}" if claim.verdict.kind != "definition" else url), claim


def claims_json(found: Findings) -> str:
    """A list of objects, one a statement: `address`, `text`, `kind`, `evidence`, `measured`, `tolerance`, `used`, …"""
    listing: list[dict[str, Any]] = [{"address": address, **claim.to_json()} for address, claim in _each(found)]
    return json.dumps(listing, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def status(found: Findings, exempt: Counter[str]) -> str:
    """Counts by kind, exemptions by kind, and each number with the share of its tolerance that is used."""
    kinds = Counter(claim.verdict.kind for _, claim in _each(found))
    by_kind = _table("Statements by kind", ["kind", "statements"], [[kind, n] for kind, n in kinds.most_common()])
    left = [[kind, n] for kind, n in exempt.most_common() if n]
    by_exemption = _table("Numerals that are left unlinked, by the reason", ["reason", "numerals"], left)
    rows = []
    for address, claim in _each(found):
        used = claim.verdict.used
        if used is None or not math.isfinite(used):
            continue
        text = " ".join(claim.link.text.split()).strip("*_`")
        link = f'<a href="../{escape(address)}">{escape(text)}</a>'
        rows.append((used, [link, address.partition(".html")[0], claim.verdict.kind, f"{used:.0%}"]))
    rows.sort(key=lambda row: -row[0])
    told = "Numbers with a tolerance, by how much of it is used"
    each = _table(told, ["stated", "page", "kind", "used"], [row for _, row in rows], links=True)
    return by_kind + by_exemption + each


def _table(caption: str, head: list[str], rows: Sequence[list[Any]], links: bool = False) -> str:
    titles = "".join(f'<th scope="col">{name}</th>' for name in head)
    body = "".join(
        f"<tr{' class=end' if row is rows[-1] else ''}>"
        + "".join(f"<td>{cell if links else escape(str(cell))}</td>" for cell in row)
        + "</tr>"
        for row in rows
    )
    return (
        f'<div class="{html.kind_of_table(len(rows))}" '
        f'tabindex="0" role="region" aria-label="{caption}"><table><caption>{caption}</caption>'
        f"<thead><tr>{titles}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def llms(files: Files, config: MkDocsConfig) -> str:
    """The pages with their descriptions, as Markdown, after the proposal at llmstxt.org."""
    lines = [f"# {config.site_name}", "", f"> {config.site_description}", "", "## Pages", ""]
    for file in sorted(files.documentation_pages(), key=lambda file: file.src_uri):
        if file.src_uri.endswith(".md") and file.abs_src_path:
            _, meta = get_data(Path(file.abs_src_path).read_text(encoding="utf-8"))
            lines.append(f"- [{meta.get('title', file.name)}]({file.url}): {meta.get('description', '')}")
    lines += ["", "## Data", ""]
    lines += [f"- [{name}](data/{name})" for name in sorted(_data(files))]
    return "\n".join(lines) + "\n"


def _data(files: Files) -> list[str]:
    return [file.src_uri.removeprefix("data/") for file in files if file.src_uri.startswith("data/")]
