"""Thin adapters between the engine and the site generator: what a page looks like, and when it is built."""
