"""Experiments of many training runs: expands a grid, trains what is missing, compares and tabulates the results.

    snippets/training/train_described.py        trains one cell: `python train_described.py depth=12 lr=0.001 seed=0`
    snippets/training/described.grid.json       which cells there are
    snippets/training/results/described/*.json  what came of each, one file a cell
    snippets/training/described.csv             one row a cell, made of those files
    snippets/training/described_curves.csv      their loss curves

Reading order: grid, results, worker, pool, train, compare, again, table, command. The rest of the engine does
not know of it, but for its commands.
"""
