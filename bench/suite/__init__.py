"""What bench/run.py is made of: the work, its reference values, the folder of pages, the report."""
