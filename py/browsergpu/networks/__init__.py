"""Networks and how they are trained: modules, layers, optimisers, data and the files of these."""
