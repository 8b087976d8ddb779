"""The engine: it ties a number in a sentence to the run that can refute it.

Reading order: project, snippet, links, statement, plain, record, compare, confine, child, keeper, run, refresh,
unchanged, tables, form, check, bare, resolve, ledger, elsewhere.
"""
