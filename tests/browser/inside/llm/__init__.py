"""Tests of browsergpu.llm."""
