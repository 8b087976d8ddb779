"""The last touch to a site that MkDocs has written: old addresses, names that the theme leaves out, and the policy."""

from __future__ import annotations

import base64
import hashlib
import html
import re
from pathlib import Path

from mkdocs.exceptions import Abort

UNNAMED = '<div class="md-search" data-md-component="search" role="dialog">'  # of the theme
INLINE = re.compile(r"<script(?![^>]*\bsrc=)(?![^>]*application/(?:ld\+)?json)[^>]*>(.*?)</script>", re.S)


def redirect(site: Path, addresses: dict[str, str]) -> None:
    """A page at each old address that leads to the new one, without a script; refuses one that leads nowhere."""
    for old, new in addresses.items():
        if not (site / new.partition("#")[0]).is_file():
            raise Abort(f"mkdocs.yml: extra: redirects: {old} leads to {new}, which is not there")
        target = site / old / "index.html" if old.endswith("/") else site / old
        if target.exists():
            raise Abort(f"mkdocs.yml: extra: redirects: {old} is the address of a page")
        target.parent.mkdir(parents=True, exist_ok=True)
        there = html.escape("../" * old.count("/") + new)
        target.write_text(
            f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Moved</title><link rel="canonical" '
            f'href="{there}"><meta http-equiv="refresh" content="0; url={there}"></head><body><p>This page is now at '
            f'<a href="{there}">{html.escape(new)}</a>.</p></body></html>\n',
            encoding="utf-8",
        )


def protect(site: Path) -> None:
    """Gives every page a Content-Security-Policy: nothing from elsewhere, no inline script but the theme's own."""
    pages = {path: path.read_text(encoding="utf-8") for path in sorted(site.rglob("*.html"))}
    scripts = {script for text in pages.values() for script in INLINE.findall(text)}
    hashes = sorted(base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts)
    allowed = " ".join(["'self'", *(f"'sha256-{one}'" for one in hashes)])
    policy = (
        f"default-src 'none'; script-src {allowed}; style-src 'self'; img-src 'self' data:; font-src 'self'; "
        "connect-src 'self'; worker-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'"
    )
    meta = f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    for path, text in pages.items():
        text = text.replace(UNNAMED, UNNAMED.replace(">", ' aria-label="Search">'))
        path.write_text(re.sub(r"(<meta charset=[^>]*>)", lambda m: m[1] + meta, text, count=1), encoding="utf-8")
