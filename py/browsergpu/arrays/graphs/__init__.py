"""Captured graphs: GPU work that is recorded once and replayed."""
