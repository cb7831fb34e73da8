"""``python -m neocc`` is the ``neocc`` command."""

from neocc.cli import main

if __name__ == "__main__":
    main()
