"""Tests of browsergpu.llm on the host, and with the weights of real models."""
