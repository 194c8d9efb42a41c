"""SciPy's own tests of arrays by the Array API standard, run on arrays of the GPU."""
