"""Makes the files from which Python starts on a first visit: a memory snapshot and bytecode."""
