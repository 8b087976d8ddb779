"""The engine: it ties a number in a sentence to the run that can refute it.

Reading order: project, snippet, links, statement, plain, record, compare, child, keeper, run, refresh, unchanged,
tables, check, bare, resolve.
"""
