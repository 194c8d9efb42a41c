"""Work that is captured once and replayed."""
