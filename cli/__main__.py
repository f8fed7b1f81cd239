"""python -m cli: what `nilometer` runs."""

from cli.main import main

main()
